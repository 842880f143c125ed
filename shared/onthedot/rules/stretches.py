"""A zone's time as stretches between two changes of its clocks; within one, local time is UTC and a constant.

    UTC      ------------|start===================end|------------
    local       before   |          offset           |  following

    clocks go forward at `start` (offset > before): the readings from start + before to start + offset do not exist
    clocks go back at `start` (offset < before): those from start + offset to start + before come a second time
    the same at `end`, with `following`

Changes are found by asking `zoneinfo` once for each day, and then by halving: no zone changes its clocks and changes
them back within a day. A year is asked for once. A stretch that is long is cut more than a year away from the instant
asked for; a cut changes no offset.
"""

from bisect import bisect_right
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import pairwise
from zoneinfo import ZoneInfo

from onthedot.rules.calendar import DAY, FIRST_YEAR, LAST_YEAR, first_of

YEARS_KEPT = 8192


@dataclass(frozen=True, slots=True)
class Change:
    """A change of the clocks. Units: seconds."""

    at: int
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of constant offset, its end excluded. Units: seconds; offsets are what local time is ahead of UTC."""

    start: int
    end: int
    offset: int
    before: int
    following: int

    @property
    def gap(self) -> int:
        """How far the clocks jumped forward at the start."""
        return max(0, self.offset - self.before)

    def is_second(self, local: int) -> bool:
        """Tell whether this reading came before the clocks went back too."""
        return local < self.start + self.before


@dataclass(frozen=True, slots=True)
class Years:
    """The stretches of three years."""

    starts: tuple[int, ...]
    stretches: tuple[Stretch, ...]


def stretch_at(zone: ZoneInfo, instant: int) -> Stretch:
    """Return the stretch that an instant is in. Units: seconds of UTC."""
    years = _around(zone, datetime.fromtimestamp(instant, UTC).year)
    return years.stretches[bisect_right(years.starts, instant) - 1]


def changes_between(zone: ZoneInfo, first_year: int, last_year: int) -> list[Change]:
    """Return the changes of these years. Order: by time."""
    return [change for year in range(first_year, last_year + 1) for change in _changes_in(zone, year)]


@lru_cache(YEARS_KEPT)
def _around(zone: ZoneInfo, year: int) -> Years:
    low, high = max(year - 1, FIRST_YEAR - 1), min(year + 1, LAST_YEAR + 1)
    found = changes_between(zone, low, high)
    first, last = _new_year(low), _new_year(high + 1)
    offset = _offset(zone, first)
    edges = [Change(first, offset, offset), *found]
    ends = [*((change.at, change.after) for change in found), (last, _offset(zone, last - 1))]
    stretches = tuple(
        Stretch(edge.at, end, edge.after, edge.before, following)
        for edge, (end, following) in zip(edges, ends, strict=True)
        if edge.at < end
    )
    return Years(tuple(stretch.start for stretch in stretches), stretches)


@lru_cache(YEARS_KEPT)
def _changes_in(zone: ZoneInfo, year: int) -> tuple[Change, ...]:
    """Return the changes after this New Year, up to the next and with it."""
    first, last = _new_year(year), _new_year(year + 1)
    offsets = [_offset(zone, second) for second in range(first, last + 1, DAY)]
    return tuple(
        Change(_first_with(zone, first + day * DAY, after), before, after)
        for day, (before, after) in enumerate(pairwise(offsets))
        if before != after
    )


def _first_with(zone: ZoneInfo, low: int, offset: int) -> int:
    """Return the first instant with this offset within a day of `low`; clocks change at whole seconds."""
    high = low + DAY
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _offset(zone, middle) == offset else (middle, high)
    return high


def _offset(zone: ZoneInfo, instant: int) -> int:
    offset = datetime.fromtimestamp(instant, zone).utcoffset()
    assert offset is not None, "a zone of the database has an offset at every instant"
    return offset.days * DAY + offset.seconds


def _new_year(year: int) -> int:
    return first_of(12 * year) * DAY
