"""Retiming: what another time zone database makes of a schedule whose slots were computed by the old one.

    old database:   started 08:00 | planned 09:00   next 10:00        by local time, a schedule goes on where it was:
    new database:                 | planned 09:00   next 10:00        what has started stays, what has not moves
                    ^ each local time runs once, whatever instant it is now

Fixed times go on from the first local time that has not started, so none is left out; one that has passed by the new
rules is late or missed, and the schedule's policy decides. A later one that has its job all the same, since somebody
cancelled it or gave it another time, gets a stand-in where the new rules have it, so that none runs twice. Wildcards
and rhythms go by instants: each has at most one job. What was planned to follow a pause is planned anew.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from onthedot.rules.instants import MILLISECOND, from_text, to_text
from onthedot.rules.jobs import Job, State
from onthedot.rules.missed import EVER
from onthedot.rules.planning import MOST_JOBS, beside, same_time
from onthedot.rules.schedules import Coming, Schedule, coming, mark_of, with_next
from onthedot.rules.slots import Slot, Timetable, next_slots, slots
from onthedot.rules.transitions import ended
from onthedot.rules.zones import SlotsOnRepeat

LOOK_BACK = timedelta(hours=49)
"""More than twice what any zone has moved its clocks by: how far from where it was a local time may lie now."""


@dataclass(frozen=True, slots=True)
class Retimed:
    """A schedule by the new database, the jobs that are taken back to be planned anew, and the stand-ins for others.

    `moved` is what was to come next by the old database and is now at another time; `None` when nothing moves.
    """

    schedule: Schedule
    withdrawn: Sequence[Job] = ()
    stand_ins: Sequence[Job] = ()
    moved: Coming | None = None


def retimed(schedule: Schedule, timetable: Timetable, ahead: Sequence[Job], now: datetime, database: str) -> Retimed:
    """Return what the new database makes of a schedule; `ahead` are its jobs of slots to come. Order: by slot."""
    same = replace(schedule, tzdata=database)
    mine = [job for job in ahead if is_of(schedule, job)]
    untouched = [job for job in mine if job.untouched]
    if schedule.paused is not None:
        until = min(schedule.planned_until, schedule.paused.since)
        return Retimed(replace(same, planned_until=until), untouched)
    if schedule.next_at is None or schedule.next_local is None:
        return Retimed(same)
    following = Coming(schedule.next_at, schedule.next_local)
    known = _in_order([*(Coming(from_text(job.slot), mark_of(job)) for job in mine), following])
    if _are_same(timetable, known):
        return Retimed(same)
    moved = min([following, *(Coming(from_text(job.slot), mark_of(job)) for job in untouched)], key=lambda one: one.at)
    if timetable.by_local_time:
        first = _first(timetable, moved.at, [following.local, *map(mark_of, untouched)])
        until = max(first.instant - MILLISECOND, schedule.since) if first else now
    else:
        until = min(schedule.planned_until, now)
        first = next(iter(next_slots(timetable, until, 1)), None)
    return Retimed(
        with_next(replace(same, planned_until=until), coming(first) if first else None), untouched, (), moved
    )


def with_stand_ins(
    result: Retimed, timetable: Timetable, jobs: Sequence[Job], now: datetime, keep: timedelta
) -> Retimed:
    """Return the same with a stand-in where the new rules have a local time again that has its job.

    `jobs` are those of the slots from `LOOK_BACK` before where the schedule goes on.
    """
    gone, schedule = {job.slot for job in result.withdrawn}, result.schedule
    there = {job.slot: job for job in jobs if job.slot not in gone}
    kept = {_time(mark_of(job), timetable): job for job in there.values() if is_of(schedule, job)}
    if not kept:
        return result
    stand_ins = list[Job]()
    for slot in slots(timetable, schedule.planned_until, from_text(max(there)) + LOOK_BACK):
        job = kept.get(_time(coming(slot).local, timetable))
        if job is not None:
            stand_in = _stand_in(job, slot, there, now, keep)
            stand_ins += [stand_in] if stand_in else []
    return replace(result, stand_ins=stand_ins[: MOST_JOBS - len(gone)])


def is_of(schedule: Schedule, job: Job) -> bool:
    """Tell whether a job has the place of one of the schedule's slots."""
    later = job.slot > to_text(schedule.since) and not job.untouched
    return job.generation == schedule.generation and (job.version == schedule.version or later)


def _are_same(timetable: Timetable, known: Sequence[Coming]) -> bool:
    """Tell whether the new database has exactly the slots that come by the old one."""
    found = [coming(slot) for slot in next_slots(timetable, known[0].at - MILLISECOND, len(known))]
    if timetable.by_local_time:
        return found == list(known)
    return [one.at for one in found] == [one.at for one in known]


def _first(timetable: Timetable, at: datetime, marks: Sequence[str]) -> Slot | None:
    """Return the slot from which the schedule goes on: no local time that is left comes before it."""
    position = min(_time(mark, timetable) for mark in marks)
    found = slots(timetable, at - LOOK_BACK, EVER)
    return next((slot for slot in found if _time(coming(slot).local, timetable) >= position), None)


def _time(mark: str, timetable: Timetable) -> str:
    """Return the local time of a mark, and its pass only where each pass counts."""
    return mark if timetable.repeat is SlotsOnRepeat.BOTH else mark.rstrip("*")


def _stand_in(job: Job, slot: Slot, there: dict[str, Job], now: datetime, keep: timedelta) -> Job | None:
    """Return what keeps the new place of a job's local time; `None` when the planner finds that taken as it is."""
    place = to_text(slot.instant)
    draft = replace(
        job, slot=place, run_at=slot.instant, local_slot=slot.local_text, fold=slot.fold or None, attempt=0, pinned=None
    )
    draft = replace(draft, meant=slot.meant.isoformat() if slot.meant else None, start_before=None, started_at=None)
    if place in there and not same_time(there[place], draft):
        draft = replace(draft, slot=beside(place))
    if draft.slot in there:
        return None
    return ended(draft, State.SKIPPED, now, keep, reason=f"its job is {job.id}, by another time zone database")


def _in_order(found: Sequence[Coming]) -> list[Coming]:
    return sorted(dict.fromkeys(found), key=lambda one: one.at)
