"""Backfill: jobs for slots of the past that have none, at a rate, oldest first."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice

from onthedot.rules.agenda import wake_at
from onthedot.rules.errors import Unavailable
from onthedot.rules.events import Event
from onthedot.rules.instants import MILLISECOND, to_text
from onthedot.rules.missed import Planned
from onthedot.rules.planning import MOST_JOBS, job_of
from onthedot.rules.slots import Slot, slots_within
from onthedot.steps.finding import jobs_between
from onthedot.steps.ports import World
from onthedot.steps.put import hand_over
from onthedot.steps.readable import Impossible, Readable, readable
from onthedot.steps.settle import TRIES, deadline

MOST = 500
"""Slots of one call."""


@dataclass(frozen=True, slots=True)
class Window:
    """Slots from one instant on, before another, and how far apart their jobs shall start."""

    start: datetime
    end: datetime
    step: timedelta | None


@dataclass(frozen=True, slots=True)
class Filled:
    """How many slots got a job, or would, and whether there are more."""

    count: int
    more: bool


def fillable(world: World, name: str, window: Window) -> Filled | Impossible | None:
    """Count the slots that a backfill would give a job; `None` when there is no such schedule."""
    found = readable(world, name)
    if not isinstance(found, Readable):
        return found
    count = len(list(islice(_empty(world, found, window), MOST + 1)))
    return Filled(min(count, MOST), count > MOST)


def backfill(world: World, name: str, window: Window) -> Filled | Impossible | None:
    """Give the slots of a window that have none a job each, at most so many; `None` when there is no such schedule.

    Each job is written on condition that its place is free, with the schedule as it was read: a slot has one job.
    """
    give_up_at, filled, start_at = deadline(world), 0, world.clock.now()
    for _ in range(TRIES):
        found = readable(world, name)
        if not isinstance(found, Readable):
            return found
        room = MOST - filled
        slots = list(islice(_empty(world, found, window), room + 1))
        step, more = window.step or found.definition.missed.step, len(slots) > room
        runs = [Planned(slot, start_at + (filled + number) * step) for number, slot in enumerate(slots[:room])]
        written = _write(world, found, runs[:MOST_JOBS])
        filled += written
        done = written == len(runs)
        if done or filled == MOST or world.clock.now() > give_up_at:
            return Filled(filled, more or not done)
    raise Unavailable(f"{name} changes faster than it can be filled; try again")


def _empty(world: World, found: Readable, window: Window) -> Iterator[Slot]:
    """Return the slots that have passed, are planned, and have no job. Order: by slot."""
    schedule, definition = found.schedule, found.definition
    end = min(window.end, world.clock.now() + MILLISECOND, schedule.planned_until + MILLISECOND)
    jobs = jobs_between(world, schedule.key, window.start - MILLISECOND, end)
    taken = next(jobs, None)
    for slot in slots_within(definition.timetable, window.start, end):
        text = to_text(slot.instant)
        while taken is not None and taken.slot < text:
            taken = next(jobs, None)
        if taken is None or taken.slot != text:
            yield slot


def _write(world: World, found: Readable, runs: Sequence[Planned]) -> int:
    """Write jobs, and hand them over; return how many, none when the schedule has changed or a place is taken."""
    if not runs:
        return 0
    schedule, now = found.schedule, world.clock.now()
    after = replace(schedule, stamp=world.clock.token())
    drafts = [job_of(after, found.definition, run, now) for run in runs]
    jobs = [replace(job, owner=after.stamp, wake=wake_at(job.run_at, now, world.timing)) for job in drafts]
    if world.schedules.write(schedule, after, [], jobs) is not None:
        return 0
    world.journal.schedule(Event.SLOTS_PLANNED, schedule.name, len(jobs))
    hand_over(world, jobs)
    return len(jobs)
