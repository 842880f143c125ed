"""Makes timetables from what people write."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

from onthedot.rules.cron import read_cron
from onthedot.rules.instants import shown
from onthedot.rules.rrule import read_rrule
from onthedot.rules.slots import Slot, Timetable, slots_within
from onthedot.rules.zones import SlotsOnGap, SlotsOnRepeat, find

RULES = {
    "vixie": (SlotsOnGap.AFTER, SlotsOnRepeat.FIRST),
    "shift": (SlotsOnGap.SHIFT, SlotsOnRepeat.FIRST),
    "skip_once": (SlotsOnGap.SKIP, SlotsOnRepeat.FIRST),
    "every_match": (SlotsOnGap.SKIP, SlotsOnRepeat.BOTH),
}


def instant(text: str) -> datetime:
    """Return an instant written as `2027-03-28T01:00:00Z`, or as a date for its midnight."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def cron(text: str, zone: str = "UTC", rule: str = "vixie", **facts: Any) -> Timetable:
    """Return the timetable of a cron expression."""
    found = find(zone)
    assert found, zone
    return Timetable(read_cron(text), found, *RULES[rule], **facts)


def rrule(text: str, starts_at: str, zone: str = "UTC", rule: str = "vixie", **facts: Any) -> Timetable:
    """Return the timetable of a recurrence rule from a local time on."""
    found = find(zone)
    assert found, zone
    return Timetable(read_rrule(text, datetime.fromisoformat(starts_at), found), found, *RULES[rule], **facts)


def window(timetable: Timetable, start: str, end: str) -> list[Slot]:
    """Return the slots from one instant on, before another."""
    return list(slots_within(timetable, instant(start), instant(end)))


def texts(timetable: Timetable, start: str, end: str) -> list[str]:
    """Return the instants of a window as the API shows them."""
    return [shown(slot.instant) for slot in window(timetable, start, end)]


def locals_of(timetable: Timetable, start: str, end: str) -> list[str]:
    """Return the local times of a window, with `*` for those that came before."""
    return [f"{slot.local:%m-%d %H:%M}{'*' * slot.fold}" for slot in window(timetable, start, end)]


def days(*texts: str) -> frozenset[date]:
    """Return dates."""
    return frozenset(date.fromisoformat(text) for text in texts)


MINUTE = timedelta(minutes=1)
