"""What is read page by page: an answer holds a megabyte at most, and says where the next one begins."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from onthedot.adapters.aws import call
from onthedot.steps.ports import Clock


def items_of(clock: Clock, page: Callable[[Any], Any]) -> Iterator[list[Any]]:
    """Return the items of all pages, each read by `page` from where the one before has ended."""
    start: Any = {}
    while start is not None:
        answer = call(clock, partial(page, start))
        yield answer["Items"]
        last = answer.get("LastEvaluatedKey")
        start = {"ExclusiveStartKey": last} if last else None


def first_of(pages: Iterator[list[Any]], limit: int) -> list[Any]:
    """Return the first items, at most so many; no page is read for more."""
    found: list[Any] = []
    for items in pages:
        found += items
        if len(found) >= limit:
            break
    return found[:limit]
