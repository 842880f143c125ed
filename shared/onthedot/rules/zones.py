"""Time zones from the pinned tzdata package only, and what a local time means in one.

The host's files, `TZ` and `PYTHONTZPATH` play no part: the same request means the same instant on every machine.

    clocks go forward: 02:00 -> 03:00            clocks go back: 03:00 -> 02:00
    02:30 does not exist                         02:30 comes twice
      after: 03:00, the first instant after        first: the earlier one
      shift: 03:30, later by the gap's length      last:  the later one
"""

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from zoneinfo import ZoneInfo

from onthedot.rules.instants import cut

SECOND = timedelta(seconds=1)


class OnGap(StrEnum):
    """What is meant by a local time that does not exist."""

    REFUSE = "refuse"  # nothing: it is a mistake
    AFTER = "after"  # the first instant after the gap
    SHIFT = "shift"  # later by the length of the gap


class OnRepeat(StrEnum):
    """What is meant by a local time that comes twice."""

    FIRST = "first"  # the earlier one
    LAST = "last"  # the later one


class SlotsOnGap(StrEnum):
    """What becomes of a schedule's slot whose local time does not exist."""

    AFTER = "after"  # it is at the first instant after the gap; a jump of more than three hours is not made up
    SHIFT = "shift"  # it is later by the length of the gap
    SKIP = "skip"  # there is none


class SlotsOnRepeat(StrEnum):
    """What becomes of a schedule's slot whose local time comes twice."""

    FIRST = "first"  # it is at the earlier one
    LAST = "last"  # it is at the later one
    BOTH = "both"  # there are two


@cache
def names() -> frozenset[str]:
    """Return the names of all zones, case-sensitive."""
    return frozenset(files("tzdata").joinpath("zones").read_text("utf-8").split())


def find(name: str) -> ZoneInfo | None:
    """Return the zone with exactly this name."""
    return _load(name) if name in names() else None


def instant_of(local: datetime, zone: ZoneInfo, on_gap: OnGap, on_repeat: OnRepeat) -> datetime | None:
    """Return the instant of a naive local time; `None` when it does not exist and a gap is refused.

    Raises: OverflowError when the instant is before the year 1 or after 9999.
    """
    before, after = _offset(local, zone, fold=0), _offset(local, zone, fold=1)
    if before < after:
        return _in_gap(local, zone, before, after, on_gap)
    return _utc(local, before if on_repeat is OnRepeat.FIRST else after)


def offset_at(instant: datetime, zone: ZoneInfo) -> timedelta:
    """Return how far local time is ahead of UTC."""
    offset = instant.astimezone(zone).utcoffset()
    assert offset is not None, "a zone of the database has an offset at every instant"
    return offset


@cache
def database_version() -> str:
    """Return the version of the time zone database: what a local time means may differ in another."""
    return version("tzdata")


@cache
def _load(name: str) -> ZoneInfo:
    with files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


def _in_gap(local: datetime, zone: ZoneInfo, before: timedelta, after: timedelta, on_gap: OnGap) -> datetime | None:
    match on_gap:
        case OnGap.REFUSE:
            return None
        case OnGap.SHIFT:
            return _utc(local, before)
        case OnGap.AFTER:
            return _change_between(_utc(local, after), _utc(local, before), zone)


def _change_between(low: datetime, high: datetime, zone: ZoneInfo) -> datetime:
    """Return the first instant with the offset of `high`; clocks change at whole seconds."""
    low, high = low.replace(microsecond=0), high.replace(microsecond=0)
    new = offset_at(high, zone)
    while high - low > SECOND:
        middle = low + (high - low) // SECOND // 2 * SECOND
        low, high = (low, middle) if offset_at(middle, zone) == new else (middle, high)
    return high


def _offset(local: datetime, zone: ZoneInfo, fold: int) -> timedelta:
    offset = local.replace(tzinfo=zone, fold=fold).utcoffset()
    assert offset is not None, "a zone of the database has an offset at every local time"
    return offset


def _utc(local: datetime, offset: timedelta) -> datetime:
    return cut((local - offset).replace(tzinfo=UTC))
