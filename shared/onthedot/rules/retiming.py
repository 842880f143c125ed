"""Retiming: what another time zone database makes of a schedule whose slots were computed by the old one.

    old database:   started 08:00 | planned 09:00   next 10:00        by local time, a schedule goes on where it was:
    new database:                 | planned 09:00   next 10:00        what has started stays, what has not moves
                    ^ each local time runs once, whatever instant it is now

Fixed times go on from the first local time that has not started, so none runs twice and none is left out; one that has
passed by the new rules is late or missed, and the schedule's policy decides. Wildcards and rhythms go by instants: they
go on from now.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from onthedot.rules.cron import Cron
from onthedot.rules.every import Every
from onthedot.rules.instants import MILLISECOND, from_text
from onthedot.rules.jobs import Job
from onthedot.rules.missed import EVER
from onthedot.rules.schedules import Schedule, coming, local_mark, with_next
from onthedot.rules.slots import Slot, Timetable, next_slots, slots

LOOK_BACK = timedelta(hours=49)
"""More than twice what any zone has moved its clocks by: how far from where it was a local time may lie now."""


@dataclass(frozen=True, slots=True)
class Retimed:
    """A schedule by the new database, and the jobs that are taken back to be planned anew: none when nothing moves."""

    schedule: Schedule
    withdrawn: list[Job]
    moved: bool


def retimed(schedule: Schedule, timetable: Timetable, ahead: Sequence[Job], now: datetime, database: str) -> Retimed:
    """Return what the new database makes of a schedule; `ahead` are its jobs of later slots that nobody has touched."""
    same = replace(schedule, tzdata=database)
    if isinstance(timetable.expression, Every) or schedule.next_at is None or schedule.next_local is None:
        return Retimed(same, [], moved=False)
    first = _first(schedule, timetable, ahead, now)
    expected = [slot.instant for slot in _from(timetable, first, len(ahead) + 1)] if first else []
    if expected == [*(from_text(job.slot) for job in ahead), schedule.next_at]:
        return Retimed(same, [], moved=False)
    until = first.instant - MILLISECOND if first else now
    moved = with_next(replace(same, planned_until=max(until, schedule.since)), coming(first) if first else None)
    return Retimed(moved, list(ahead), moved=True)


def _first(schedule: Schedule, timetable: Timetable, ahead: Sequence[Job], now: datetime) -> Slot | None:
    """Return the slot from which the schedule goes on."""
    if isinstance(timetable.expression, Cron) and timetable.expression.wildcard:
        after = now if ahead else max(now, schedule.planned_until)
        return next(iter(next_slots(timetable, after, 1)), None)
    marks = [local_mark(job.local_slot or "", job.fold or 0) for job in ahead]
    position = min([*marks, schedule.next_local or ""])
    at = min([*(from_text(job.slot) for job in ahead), schedule.next_at or now])
    found = slots(timetable, at - LOOK_BACK, EVER)
    return next((slot for slot in found if coming(slot).local >= position), None)


def _from(timetable: Timetable, first: Slot, count: int) -> list[Slot]:
    return next_slots(timetable, first.instant - MILLISECOND, count)
