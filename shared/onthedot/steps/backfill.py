"""Backfill: jobs for slots of the past that have none, at a rate, oldest first."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from onthedot.rules.errors import Unavailable
from onthedot.rules.events import Event
from onthedot.rules.instants import MILLISECOND, to_text
from onthedot.rules.missed import Planned
from onthedot.rules.planning import MOST_JOBS
from onthedot.rules.slots import Slot, slots_within
from onthedot.steps.bulk import MOST, Bulk
from onthedot.steps.finding import jobs_between
from onthedot.steps.plan import drafts_of
from onthedot.steps.ports import World
from onthedot.steps.put import hand_over
from onthedot.steps.readable import Impossible, Readable, readable
from onthedot.steps.settle import TRIES, deadline


@dataclass(frozen=True, slots=True)
class Window:
    """Slots from one instant on, before another, and how far apart their jobs shall start."""

    start: datetime
    end: datetime
    step: timedelta | None


@dataclass(frozen=True, slots=True)
class _Gaps:
    """Slots without a job, whether there are more, and when the last job starts that fills one before them."""

    slots: list[Slot]
    more: bool
    filled_until: datetime | None


def fillable(world: World, name: str, window: Window) -> Bulk | Impossible | None:
    """Count the slots that a backfill would give a job; `None` when there is no such schedule."""
    found = _running(world, name)
    if not isinstance(found, Readable):
        return found
    gaps = _gaps(world, found, window, MOST)
    return Bulk(len(gaps.slots), gaps.more)


def backfill(world: World, name: str, window: Window) -> Bulk | Impossible | None:
    """Give the slots of a window that have none a job each, at most so many; `None` when there is no such schedule.

    Each job is written on condition that its place is free, with the schedule as it was read: a slot has one job. A
    call that goes on where another has stopped keeps the pace.
    """
    give_up_at, filled = deadline(world), 0
    for _ in range(TRIES):
        found = _running(world, name)
        if not isinstance(found, Readable):
            return found
        gaps = _gaps(world, found, window, MOST - filled)
        runs = _paced(gaps, window.step or found.definition.missed.step, world.clock.now())
        written = _write(world, found, runs[:MOST_JOBS])
        filled += written
        done = written == len(runs)
        if done or filled == MOST or world.clock.now() > give_up_at:
            return Bulk(filled, gaps.more or not done)
    raise Unavailable(f"{name} changes faster than it can be filled; try again")


def _running(world: World, name: str) -> Readable | Impossible | None:
    """Return a schedule whose jobs may run: in a pause, a slot would only get a job to be skipped."""
    found = readable(world, name)
    if isinstance(found, Readable) and found.schedule.is_paused(world.clock.now()):
        return Impossible(found.schedule)
    return found


def _gaps(world: World, found: Readable, window: Window, most: int) -> _Gaps:
    """Return the first slots that have passed, are planned, and have no job. Order: by slot."""
    schedule, slots, filled_until = found.schedule, list[Slot](), None
    end = min(window.end, world.clock.now() + MILLISECOND, schedule.planned_until + MILLISECOND)
    jobs = jobs_between(world, schedule.key, window.start - MILLISECOND, end)
    taken = next(jobs, None)
    for slot in slots_within(found.definition.timetable, window.start, end):
        text = to_text(slot.instant)
        while taken is not None and taken.slot < text:
            taken = next(jobs, None)
        if taken is None or taken.slot != text:
            if len(slots) == most:
                return _Gaps(slots, True, filled_until)
            slots.append(slot)
        elif taken.untouched:
            filled_until = max(filled_until or taken.run_at, taken.run_at)
    return _Gaps(slots, False, filled_until)


def _paced(gaps: _Gaps, step: timedelta, now: datetime) -> list[Planned]:
    """Return when each slot's job may start."""
    start = max(now, gaps.filled_until + step) if gaps.filled_until else now
    return [Planned(slot, start + number * step) for number, slot in enumerate(gaps.slots)]


def _write(world: World, found: Readable, runs: Sequence[Planned]) -> int:
    """Write jobs, and hand them over; return how many, none when the schedule has changed or a place is taken."""
    if not runs:
        return 0
    schedule = found.schedule
    after = replace(schedule, stamp=world.clock.token())
    jobs = drafts_of(world, after, found.definition, runs)
    if world.schedules.write(schedule, after, [], jobs) is not None:
        return 0
    world.journal.schedule(Event.SLOTS_PLANNED, schedule.name, len(jobs))
    hand_over(world, jobs)
    return len(jobs)
