"""Pause and resume: whether a schedule's jobs may run. A pause is a wish, no fault: what passes in it is not missed.

What is planned ahead is taken back in the very write of the pause: later, a resume might have counted on it. A job that
is already on its way finds the pause when it starts. A pause with an end is over at that very time; the dispatcher only
writes that down.
"""

from dataclasses import dataclass, replace
from itertools import islice

from onthedot.rules.errors import Unavailable
from onthedot.rules.events import Event
from onthedot.rules.planning import MOST_JOBS
from onthedot.rules.schedules import Pause, Schedule, ScheduleState, paused
from onthedot.steps.plan import definition_of, end_pause
from onthedot.steps.ports import World
from onthedot.steps.settle import TRIES, deadline, plan_at_once, settle, untouched_jobs


@dataclass(frozen=True, slots=True)
class Impossible:
    """Nothing was changed: the schedule is broken, and must be mended first."""

    schedule: Schedule


def pause(world: World, name: str, wish: Pause) -> Schedule | Impossible | None:
    """Pause a schedule from now on; `None` when there is none. A second pause replaces the first, but for its start."""
    give_up_at = deadline(world)
    for _ in range(TRIES):
        before = world.schedules.get(name)
        if before is None or before.state is ScheduleState.BROKEN:
            return before and Impossible(before)
        settled = settle(world, before, give_up_at)
        if settled is None:
            continue
        since = settled.schedule.paused.since if settled.schedule.paused else settled.at
        after = paused(settled.schedule, replace(wish, since=since), world.clock.token())
        ahead = list(islice(untouched_jobs(world, after, since), MOST_JOBS))
        if world.schedules.write(settled.schedule, after, [], withdrawn=ahead) is None:
            world.journal.schedule(Event.SCHEDULE_PAUSED, name, reason=wish.reason)
            return after
    raise Unavailable(f"{name} changes faster than its pause can be decided; try again")


def resume(world: World, name: str) -> Schedule | Impossible | None:
    """End the pause of a schedule; `None` when there is none. One that is not paused stays as it is."""
    give_up_at = deadline(world)
    for _ in range(TRIES):
        before = world.schedules.get(name)
        if before is None or before.state is ScheduleState.BROKEN:
            return before and Impossible(before)
        if before.paused is None:
            return before
        definition = definition_of(world, before)
        if definition is None:
            continue
        after = end_pause(world, before, definition, world.clock.now())
        if after is not None:
            return plan_at_once(world, after, give_up_at)
    raise Unavailable(f"{name} changes faster than its pause can be ended; try again")
