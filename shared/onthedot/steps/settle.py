"""Settle: what must be true of a schedule before anybody changes it, and what follows when they have.

    settle: no slot <= now is unplanned     write, on condition that the row is as settled     withdraw, plan at once

So no due slot falls between two versions. Whoever dies after the write has done it: a job that should not run any more
finds that out when it starts, and the dispatcher plans what is new.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from onthedot.rules.errors import Unavailable
from onthedot.rules.instants import MILLISECOND, from_text
from onthedot.rules.jobs import Job
from onthedot.rules.planning import PLAN_AHEAD
from onthedot.rules.schedules import Coming, Schedule, ScheduleState, begins_at, mark_of, with_next
from onthedot.rules.timing import WRITE
from onthedot.steps.finding import untouched_jobs
from onthedot.steps.plan import plan
from onthedot.steps.ports import World
from onthedot.steps.put import hand_over

TRIES = 20
"""How often a change is decided anew when the schedule changed under it."""


@dataclass(frozen=True, slots=True)
class Settled:
    """A schedule whose slots up to `at` are all planned: a change that is written over it may begin there."""

    schedule: Schedule
    at: datetime


def settle(world: World, schedule: Schedule, give_up_at: datetime) -> Settled | None:
    """Plan what is due of a schedule that is about to change; `None` when another has changed it meanwhile.

    Raises: Unavailable when there was no time for all; what was planned stays so.
    """
    at = begins_at(schedule, world.clock.now(), world.timing)
    if schedule.state is ScheduleState.BROKEN:
        return Settled(schedule, at)
    progress = plan(world, schedule, at, lambda: world.clock.now() < give_up_at)
    hand_over(world, progress.jobs)
    if progress.done:
        return Settled(progress.schedule, at)
    if world.clock.now() >= give_up_at:
        raise Unavailable(f"the slots that {schedule.name} missed are being planned; try again")
    world.clock.pause()
    return None


def plan_at_once(world: World, schedule: Schedule, give_up_at: datetime) -> Schedule:
    """Plan a schedule that has just changed; what fails here, the dispatcher does."""
    try:
        until = world.clock.now() + PLAN_AHEAD
        progress = plan(world, schedule, until, lambda: world.clock.now() < give_up_at)
    except Unavailable:
        return schedule
    hand_over(world, progress.jobs)
    return progress.schedule


def withdraw(world: World, schedule: Schedule, after: datetime, is_void: Callable[[Job], bool]) -> None:
    """Delete the untouched jobs of later slots that a change has made void; what fails here, the start decides."""
    try:
        void = [job for job in untouched_jobs(world, schedule.key, after) if is_void(job)]
        world.side_by_side(world.jobs.remove, void)
    except Unavailable:
        return


def plan_again(world: World, job: Job) -> None:
    """Have the slot of a job that was superseded planned anew, if the planner passed it because the job ran."""
    slot = from_text(job.slot)
    for _ in range(TRIES):
        schedule = world.schedules.get(job.schedule.removeprefix("schedule#"))
        if schedule is None or schedule.planned_until < slot or schedule.generation != job.generation:
            return
        back = Coming(slot, mark_of(job))
        after = replace(schedule, planned_until=slot - MILLISECOND, stamp=world.clock.token())
        if world.schedules.write(schedule, with_next(after, back), []) is None:
            return


def deadline(world: World) -> datetime:
    """Return when a change that begins now gives up."""
    return world.clock.now() + WRITE
