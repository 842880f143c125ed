"""Every zone of the pinned database, links once, and what its slots must be by the slowest and plainest way."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, time, timedelta
from functools import cache
from importlib.resources import files
from zoneinfo import ZoneInfo

from onthedot.rules import zones
from onthedot.rules.slots import EPOCH, SECOND
from onthedot.rules.stretches import changes_between
from onthedot.rules.zones import SlotsOnGap, SlotsOnRepeat

FIRST_YEAR, LAST_YEAR = 2020, 2040
MINUTE = timedelta(minutes=1)


@cache
def every_zone() -> list[ZoneInfo]:
    """Return the zones that differ. Order: by name."""
    differing: dict[bytes, str] = {}
    for name in sorted(zones.names()):
        differing.setdefault(files("tzdata").joinpath("zoneinfo", *name.split("/")).read_bytes(), name)
    return [zone for zone in map(zones.find, differing.values()) if zone]


def changes(zone: ZoneInfo) -> Iterator[datetime]:
    """Return when the zone's clocks change in the years that are tried."""
    for change in changes_between(zone, FIRST_YEAR, LAST_YEAR):
        yield EPOCH + change.at * SECOND


def by_minutes(
    zone: ZoneInfo, times: Iterable[time], rules: tuple[SlotsOnGap, SlotsOnRepeat], start: datetime, end: datetime
) -> list[datetime]:
    """Return the slots of a daily timetable by looking at the local clock once a minute, as a person would."""
    wanted, found = set(times), set[datetime]()
    before = (start - MINUTE).astimezone(zone)
    for minute in range((end - start) // MINUTE):
        instant = start + minute * MINUTE
        local = instant.astimezone(zone)
        if local.time() in wanted and _counts(local, rules[1]):
            found.add(instant)
        found |= set(_made_up(instant, before, local, wanted, rules[0]))
        before = local
    return sorted(instant for instant in found if start <= instant < end)


def _counts(local: datetime, on_repeat: SlotsOnRepeat) -> bool:
    if on_repeat is SlotsOnRepeat.FIRST:
        return local.fold == 0
    comes_again = local.fold == 0 and local.replace(fold=1).utcoffset() != local.utcoffset()
    return on_repeat is SlotsOnRepeat.BOTH or not comes_again


def _made_up(
    instant: datetime, before: datetime, local: datetime, wanted: set[time], on_gap: SlotsOnGap
) -> Iterator[datetime]:
    """Return what stands for the times that the clocks jump over at this instant; `before` is a minute ago."""
    jump = local - before - MINUTE  # in one zone, local times are subtracted as the clocks show them
    for minute in range(max(0, jump // MINUTE)):
        if (before + (minute + 1) * MINUTE).time() in wanted and on_gap is not SlotsOnGap.SKIP:
            if on_gap is SlotsOnGap.SHIFT:
                yield instant + minute * MINUTE
            elif jump <= timedelta(hours=3):
                yield instant


def utc(year: int) -> datetime:
    """Return a New Year."""
    return datetime(year, 1, 1, tzinfo=UTC)
