"""From what people wrote to a timetable: one expression, its zone, and when it starts and ends.

Whatever is wrong is a fault of its field, and hides no other fault. What depends on a field that is wrong itself is not
judged: a local time in an unknown zone, or the dates of a rule from a start that nobody can read.
"""

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from onthedot.rules.cron import Cron, read_cron
from onthedot.rules.errors import Fault, Kind
from onthedot.rules.every import Every, read_every
from onthedot.rules.inputs import HORIZON_YEARS, Malformed, Place, Refused, Time, horizon, resolve
from onthedot.rules.instants import MILLISECOND
from onthedot.rules.rrule import Rrule, read_rrule
from onthedot.rules.said import Said
from onthedot.rules.slots import EPOCH, Timetable
from onthedot.rules.zones import OnGap, SlotsOnGap, SlotsOnRepeat, find, offset_at

EXPRESSIONS = ("cron", "every", "rrule")
USUAL_ZONE = "UTC"
LONGEST_SPREAD = 31 * 86_400_000
MOST_EXCLUDED = 1_000
DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")


def timetable_of(
    name: str, fields: Mapping[str, Any], born_at: datetime, faults: list[Fault], path: str = ""
) -> Timetable | None:
    """Return what decides the slots; `None`, and faults, when something is wrong with it.

    A rhythm without an anchor, and a rule without `starts_at`, begin at `born_at`.
    """
    said, before = Said(fields, faults, path), len(faults)
    zone = said.zone()
    place = Place(zone, OnGap.AFTER)
    starts_at, ends_at, anchor = (_instant(said, each, place, born_at) for each in ("starts_at", "ends_at", "anchor"))
    if starts_at and ends_at and ends_at <= starts_at:
        said.blame("ends_at", "is not after starts_at")
    start = _start(said, zone, starts_at, born_at)
    expression = _expression(said, zone, start, anchor or born_at)
    exclude, spread = _dates(said), said.span("spread", 0, LONGEST_SPREAD)
    if len(faults) > before or expression is None or said.is_wrong("zone"):
        return None
    return Timetable(
        expression,
        zone or usual_zone(),
        SlotsOnGap(fields.get("on_gap", SlotsOnGap.AFTER)),
        SlotsOnRepeat(fields.get("on_repeat", SlotsOnRepeat.FIRST)),
        starts_at,
        ends_at,
        exclude,
        spread or timedelta(0),
        name,
    )


def usual_zone() -> ZoneInfo:
    """Return the zone of a timetable that names none."""
    zone = find(USUAL_ZONE)
    assert zone is not None, "every version of the database has it"
    return zone


def _instant(said: Said, name: str, place: Place, born_at: datetime) -> datetime | None:
    """Return the instant of a time; a local one whose zone is wrong has that fault alone."""
    time: Time | None = said.fields.get(name)
    if time is None or (time.offset is None and said.is_wrong("zone")):
        return None
    return said.judged(name, lambda: _within_horizon(resolve(time, place), born_at))


def _within_horizon(instant: datetime, born_at: datetime) -> datetime:
    if instant > horizon(born_at):
        raise Refused(f"is more than {HORIZON_YEARS} years ahead")
    return instant


def _start(said: Said, zone: ZoneInfo | None, starts_at: datetime | None, born_at: datetime) -> datetime:
    """Return the local time of the start: the very one that was written, even if the clocks jump over it that day."""
    if starts_at is not None and zone is not None:
        return said.fields["starts_at"].local  # type: ignore[no-any-return]
    instant = starts_at or born_at
    return (instant + offset_at(instant, zone or usual_zone())).replace(tzinfo=None)


def _expression(said: Said, zone: ZoneInfo | None, start: datetime, anchor: datetime) -> Cron | Every | Rrule | None:
    """Return the expression; each that is given is read, so that all faults are known."""
    given = [name for name in EXPRESSIONS if said.has(name)]
    if not given:
        said.blame("cron", "is missing; give cron, every or rrule", Kind.MALFORMED)
    if said.has("anchor") and "every" not in given:
        said.blame("anchor", "can be given together with every only")
    readers: dict[str, Callable[[], Cron | Every | Rrule | None]] = {
        "cron": lambda: read_cron(said.fields["cron"]),
        "every": lambda: read_every(said.fields["every"], (anchor - EPOCH) // MILLISECOND),
        "rrule": lambda: _rrule(said, zone or usual_zone(), start),
    }
    found = [said.judged(name, readers[name]) for name in given if name in said.fields]
    for name in given[1:]:
        said.blame(name, f"cannot be given together with {given[0]}")
    return found[0] if found else None


def _rrule(said: Said, zone: ZoneInfo, start: datetime) -> Rrule | None:
    """Return the recurrence rule; without a good start or zone, only its form can be judged."""
    try:
        return read_rrule(said.fields["rrule"], start, zone)
    except Refused:
        if said.is_wrong("zone") or said.is_wrong("starts_at"):
            return None
        raise


def _dates(said: Said) -> frozenset[date]:
    texts = said.fields.get("exclude", [])
    if len(texts) > MOST_EXCLUDED:
        said.blame("exclude", f"has {len(texts)} dates; it may have {MOST_EXCLUDED}")
        return frozenset()
    found = [said.judged(f"exclude.{number}", partial(_date, text)) for number, text in enumerate(texts)]
    return frozenset(each for each in found if each)


def _date(value: object) -> date:
    if not isinstance(value, str) or not DATE.fullmatch(value):
        raise Malformed("must be a local date such as 2027-12-25")
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise Malformed("is no date that the calendar has") from None
