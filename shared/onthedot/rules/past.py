"""The attempts of a job before its present one, all of which failed: what explains a job that is dead."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from onthedot.rules.instants import from_text, to_text

ROOM = 2_000
"""Characters of all errors together: every write of a job costs a unit for each KB of its item."""


@dataclass(frozen=True, slots=True)
class Past:
    """An attempt that failed; nobody knows when it ended if its worker died."""

    number: int
    started_at: datetime
    finished_at: datetime | None
    error: str


def remembered(past: Sequence[Past], last: Past) -> tuple[Past, ...]:
    """Return the attempts with one more; the more there are, the less of each error is kept."""
    share = ROOM // (len(past) + 1)
    return tuple(replace(each, error=each.error[:share]) for each in (*past, last))


def facts_of(past: Iterable[Past]) -> list[list[Any]]:
    """Return the stored form: `[number, started_at, finished_at, error]` for each."""
    return [[each.number, to_text(each.started_at), _text(each.finished_at), each.error] for each in past]


def past_of(facts: Iterable[Sequence[Any]]) -> tuple[Past, ...]:
    """Return the attempts that `facts_of` wrote."""
    return tuple(Past(number, from_text(begun), _instant(end), error) for number, begun, end, error in facts)


def _text(instant: datetime | None) -> str | None:
    return None if instant is None else to_text(instant)


def _instant(text: str | None) -> datetime | None:
    return None if text is None else from_text(text)
