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

from onthedot.rules.calendar import LAST_YEAR
from onthedot.rules.cron import Cron, read_cron
from onthedot.rules.errors import Fault, Kind
from onthedot.rules.every import Every, read_every
from onthedot.rules.inputs import HORIZON_YEARS, Malformed, Place, Refused, Time, horizon, resolve
from onthedot.rules.instants import MILLISECOND
from onthedot.rules.rrule import LEAST_YEAR, Rrule, read_rrule
from onthedot.rules.said import Said
from onthedot.rules.slots import EPOCH, Timetable
from onthedot.rules.zones import OnGap, SlotsOnGap, SlotsOnRepeat, find, offset_at

EXPRESSIONS = ("cron", "every", "rrule")
USUAL_ZONE = "UTC"
LONGEST_SPREAD = 31 * 86_400_000
MOST_EXCLUDED = 1_000
EARLIEST = datetime(LEAST_YEAR, 1, 1)  # noqa: DTZ001 - it is local
"""Stands for a start that is wrong: what never matches from here on matches from no other start."""
DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")


def timetable_of(
    name: str, fields: Mapping[str, Any], born_at: datetime | None, faults: list[Fault], said_at: datetime | None = None
) -> Timetable | None:
    """Return what decides the slots; `None`, and faults, when something is wrong with it.

    A rhythm without an anchor, and a rule without `starts_at`, begin at `born_at`; `None` when that is wrong itself.
    How far ahead a time may lie is judged when it is said, and never again.
    """
    said, before = Said(fields, faults), len(faults)
    zone = said.zone()
    starts_at, ends_at, anchor = (_instant(said, each, zone, said_at) for each in ("starts_at", "ends_at", "anchor"))
    if starts_at and ends_at and ends_at <= starts_at:
        said.blame("ends_at", "is not after starts_at")
    start = _start(said, zone, starts_at, born_at)
    expression = _expression(said, zone, start, anchor or born_at or EPOCH)
    exclude, spread = _dates(said), said.span("spread", 0, LONGEST_SPREAD)
    if len(faults) > before or expression is None or born_at is None or said.is_wrong("zone"):
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


def meant(time: Time, zone: ZoneInfo | None) -> datetime:
    """Return the instant of a time beside a timetable in this zone; UTC is no claim about the zone, and always taken.

    Raises: Malformed when it has no offset and there is no zone; Refused when its offset is not the zone's.
    """
    return resolve(time, Place(None if time.offset == timedelta(0) else zone, OnGap.AFTER))


def usual_zone() -> ZoneInfo:
    """Return the zone of a timetable that names none."""
    zone = find(USUAL_ZONE)
    assert zone is not None, "every version of the database has it"
    return zone


def _instant(said: Said, name: str, zone: ZoneInfo | None, said_at: datetime | None) -> datetime | None:
    """Return the instant of a time; a local one whose zone is wrong has that fault alone."""
    time: Time | None = said.fields.get(name)
    if time is None or (time.offset is None and said.is_wrong("zone")):
        return None
    return said.judged(name, lambda: _within_reach(meant(time, zone), said_at))


def _within_reach(instant: datetime, said_at: datetime | None) -> datetime:
    if said_at is not None and instant > horizon(said_at):
        raise Refused(f"is more than {HORIZON_YEARS} years ahead")
    if not LEAST_YEAR <= instant.year <= LAST_YEAR:
        raise Refused(f"is not within the years {LEAST_YEAR} to {LAST_YEAR}")
    return instant


def _start(said: Said, zone: ZoneInfo | None, starts_at: datetime | None, born_at: datetime | None) -> datetime | None:
    """Return the local time of the start: the very one that was written, even if the clocks jump over it that day."""
    if said.is_wrong("zone") or said.is_wrong("starts_at"):
        return None
    written: Time | None = said.fields.get("starts_at")
    if written is not None and written.offset is None:
        return written.local
    instant = starts_at or born_at
    return (instant + offset_at(instant, zone or usual_zone())).replace(tzinfo=None) if instant else None


def _expression(
    said: Said, zone: ZoneInfo | None, start: datetime | None, anchor: datetime
) -> Cron | Every | Rrule | None:
    """Return the expression; each that is given is read, so that all faults are known."""
    given = [name for name in EXPRESSIONS if said.has(name)]
    if not given:
        said.blame("cron", "is missing; give cron, every or rrule", Kind.MALFORMED)
    if said.has("anchor") and "every" not in given:
        said.blame("anchor", "can be given together with every only")
    readers: dict[str, Callable[[], Cron | Every | Rrule]] = {
        "cron": lambda: read_cron(said.fields["cron"]),
        "every": lambda: read_every(said.fields["every"], (anchor - EPOCH) // MILLISECOND),
        "rrule": lambda: read_rrule(said.fields["rrule"], start or EARLIEST, zone or usual_zone()),
    }
    found = [said.judged(name, readers[name]) for name in given if name in said.fields]
    for name in given[1:]:
        said.blame(name, f"cannot be given together with {given[0]}")
    return found[0] if found else None


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
