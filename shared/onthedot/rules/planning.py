"""Planning: which jobs a schedule's slots become, when each may start, and what is skipped instead.

    planned_until            now               until
        |--- passed: judged ---|---- to come ----|
             by the policy         at their time

What comes out is planned in chunks, oldest first, each written together with how far it went. So whoever is stopped
half way has lost nothing, and goes on where the last chunk ended.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from onthedot.rules.definitions import Definition, Overlap
from onthedot.rules.instants import MILLISECOND, from_text, to_text
from onthedot.rules.jobs import Job, State
from onthedot.rules.missed import Planned, Skipped, judge, pace_end, planned
from onthedot.rules.schedules import Coming, Schedule, coming, mark_of, with_next
from onthedot.rules.slots import Slot, next_slots

PLAN_AHEAD = timedelta(minutes=10)
"""How far ahead slots become jobs: more than any hand-over needs, and near enough for SQS to hold them."""
ASKS_WITHIN = timedelta(seconds=20)
"""By then a start has asked its schedule: the margin, and what clocks may differ by."""
MOST_JOBS = 97
"""A transaction takes 100 writes: the schedule, two ranges of skipped slots, and these."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """What is written at once; `until` is how far the schedule is planned then.

    `next` is what the schedule must be looked at again for: its next slot, or the last one, to see that it has ended.
    """

    runs: list[Planned]
    skipped: list[Skipped]
    until: datetime
    next: Coming | None
    paced_until: datetime | None
    missed: int


def chunks(schedule: Schedule, definition: Definition, now: datetime, until: datetime) -> Iterator[Chunk]:
    """Return what the slots after `planned_until` become, up to `until`. Order: by slot."""
    until = max(until, schedule.planned_until)
    rule, missed, to_come = definition.missed, 0, list[Planned]()
    found = planned(definition.timetable, schedule.planned_until, until)

    def passed() -> Iterator[Planned]:
        nonlocal missed
        for each in found:
            if each.run_at > now:
                to_come.append(each)
                return
            missed += not rule.is_late(each, now)
            yield each

    judged = judge(rule, passed(), now, schedule.paced_until)
    runs = [*judged.runs, *to_come, *found]
    following = next_slots(definition.timetable, until, 1)
    whole = Chunk(
        runs=runs,
        skipped=judged.skipped,
        until=until,
        next=coming(following[0]) if following else _end(schedule, runs, now),
        paced_until=pace_end(rule, judged.runs) or _later(schedule.paced_until, now),
        missed=missed,
    )
    return _cut(whole, len(judged.runs))


def advanced(schedule: Schedule, chunk: Chunk, stamp: str) -> Schedule:
    """Return the schedule once a chunk of it is planned; with no further slot it has ended."""
    until = max(schedule.planned_until, chunk.until)
    planned = replace(schedule, planned_until=until, paced_until=chunk.paced_until, stamp=stamp)
    if chunk.next is None and schedule.paused is not None:
        return replace(planned, next_at=schedule.paused.until, next_local=None)
    return with_next(planned, chunk.next)


def shortened(chunk: Chunk, blocked: str) -> Chunk:
    """Return the part of a chunk that comes before a slot whose place is not free yet."""
    before = [run for run in chunk.runs if to_text(run.slot.instant) < blocked]
    first = chunk.runs[len(before)].slot
    return replace(chunk, runs=before, until=first.instant - MILLISECOND, next=coming(first))


def job_of(schedule: Schedule, definition: Definition, run: Planned, now: datetime) -> Job:
    """Return the job of a slot, as it is before it has a wake."""
    start_within = definition.start_within
    return Job(
        schedule=schedule.key,
        slot=to_text(run.slot.instant),
        state=State.SCHEDULED,
        handler=definition.handler,
        run_at=run.run_at,
        wake=None,
        payload=schedule.payload,
        created_at=now,
        generation=schedule.generation,
        version=schedule.version,
        local_slot=run.slot.local_text,
        fold=run.slot.fold or None,
        meant=run.slot.meant.isoformat() if run.slot.meant else None,
        overlap=None if definition.overlap is Overlap.ALLOW else definition.overlap.value,
        group=definition.group,
        timeout=definition.timeout,
        retry=definition.retry,
        start_within=start_within,
        start_before=run.run_at + start_within if start_within else None,
    )


def manual_job(schedule: Schedule, definition: Definition, job_id: str, now: datetime) -> Job:
    """Return the job that somebody asks for by hand: it has no slot, and takes none."""
    at = Planned(Slot(now, timedelta(0)), now)
    return replace(job_of(schedule, definition, at, now), slot=f"manual#{job_id}", local_slot=None)


class Place(StrEnum):
    """What is to be done where the place of a slot was not free."""

    TAKEN = "taken"  # the slot has its job: left out
    BLOCKED = "blocked"  # a job that will not be this slot's is running there: the slot waits for its end
    FREE = "free"  # it has become free: tried again
    BESIDE = "beside"  # it has the job of another local time, by another time zone database: the slot's is put beside


def place_of(there: Job | None, schedule: Schedule, wanted: Job, now: datetime) -> Place:
    """Return what became of the place of a slot; `there` is the job in it.

    A job of an older version that has just started has perhaps not asked its schedule yet, which wants it no more. One
    that runs for longer has: the slot is its.
    """
    if there is None:
        return Place.FREE
    if there.generation != schedule.generation:
        return Place.BLOCKED if there.state is State.RUNNING else Place.FREE
    if there.version == schedule.version:
        return Place.TAKEN if same_time(there, wanted) else Place.BESIDE
    if there.slot <= to_text(schedule.since):
        return Place.TAKEN
    if there.state is State.RUNNING:
        asks = there.started_at is None or now - there.started_at <= ASKS_WITHIN
        return Place.BLOCKED if asks else Place.TAKEN
    return Place.FREE if there.untouched else Place.TAKEN


def beside(slot: str) -> str:
    """Return the next place after that of a slot: no slot of local time is there, for those are at whole seconds."""
    return to_text(from_text(slot) + MILLISECOND)


def same_time(one: Job, other: Job) -> bool:
    """Tell whether two jobs of a timetable stand for one local time, in whichever pass."""
    return mark_of(one).rstrip("*") == mark_of(other).rstrip("*")


def _cut(whole: Chunk, caught_up: int) -> Iterator[Chunk]:
    """Return a plan in pieces that a transaction takes; what is skipped comes first, with the oldest that run."""
    runs = whole.runs
    for end in range(MOST_JOBS, len(runs), MOST_JOBS):
        paced_until = runs[end].run_at if end < caught_up else whole.paced_until
        first = end == MOST_JOBS
        yield Chunk(
            runs=runs[end - MOST_JOBS : end],
            skipped=whole.skipped if first else [],
            until=runs[end - 1].slot.instant,
            next=coming(runs[end].slot),
            paced_until=paced_until,
            missed=whole.missed if first else 0,
        )
    start = max(0, len(runs) - 1) // MOST_JOBS * MOST_JOBS
    last = replace(whole, runs=runs[start:])
    yield replace(last, skipped=[], missed=0) if start else last


def _end(schedule: Schedule, runs: Sequence[Planned], now: datetime) -> Coming | None:
    """Return the last slot while it is still to come: until then the schedule has not ended."""
    if runs:
        return coming(runs[-1].slot) if runs[-1].slot.instant > now else None
    at = _later(schedule.next_at, now)
    return Coming(at, schedule.next_local or "") if at else None


def _later(instant: datetime | None, now: datetime) -> datetime | None:
    return instant if instant and instant > now else None
