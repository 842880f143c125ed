"""Pages: each begins where the one before has ended, and none is read for nothing."""

from collections.abc import Callable
from typing import Any

from tests.unit.http.memory import Clock

from onthedot.adapters.pages import first_of, items_of

PAGES: list[Any] = [
    {"Items": [1, 2], "LastEvaluatedKey": {"k": {"S": "2"}}},
    {"Items": [], "LastEvaluatedKey": {"k": {"S": "5"}}},
    {"Items": [6, 7]},
]


def reader(asked: list[Any]) -> Callable[[Any], Any]:
    def page(start: Any) -> Any:
        asked.append(start)
        return PAGES[len(asked) - 1]

    return page


def test_every_page_is_read_also_after_an_empty_one() -> None:
    asked: list[Any] = []
    assert list(items_of(Clock(), reader(asked))) == [[1, 2], [], [6, 7]]
    assert asked == [{}, {"ExclusiveStartKey": {"k": {"S": "2"}}}, {"ExclusiveStartKey": {"k": {"S": "5"}}}]


def test_no_page_is_read_for_more_than_was_asked_for() -> None:
    """A full answer whose page says that it goes on would else cost another call for each look at a shard."""
    asked: list[Any] = []
    assert first_of(items_of(Clock(), reader(asked)), 2) == [1, 2]
    assert len(asked) == 1
    asked.clear()
    assert first_of(items_of(Clock(), reader(asked)), 3) == [1, 2, 6]
