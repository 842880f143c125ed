"""Pause and resume: whether a schedule's jobs may run. A pause is a wish, no fault: what passes in it is not missed.

What is planned ahead is taken back in the very write of the pause: later, a resume might have counted on it. A job that
is already on its way finds the pause when it starts. A pause with an end is over at that very time; the dispatcher only
writes that down.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

from onthedot.rules.errors import Unavailable
from onthedot.rules.events import Event
from onthedot.rules.jobs import Job, State
from onthedot.rules.missed import Planned, Skipped
from onthedot.rules.planning import MOST_JOBS, PLAN_AHEAD, chunks
from onthedot.rules.reading import read_schedule
from onthedot.rules.schedules import OnResume, Pause, Schedule, ScheduleState, paused, resumed
from onthedot.steps.finding import newest_slots, untouched_jobs
from onthedot.steps.plan import end_pause
from onthedot.steps.ports import World
from onthedot.steps.readable import Impossible, Readable, readable
from onthedot.steps.retime import retime
from onthedot.steps.settle import TRIES, deadline, plan_at_once, settle

ITSELF = "onthedot"
"""Who has paused a schedule, when nobody has."""
LOOKED_PAST = 1_000
"""How many jobs are looked through for those that ran: a slot of each minute, each of which runs for hours."""


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What a resume would bring: which slots would run in the next minutes, when, and which would be skipped."""

    runs: list[Planned]
    skipped: list[Skipped]


def pause(world: World, name: str, wish: Pause) -> Schedule | Impossible | None:
    """Pause a schedule from now on; `None` when there is none. A second pause replaces the first, but for its start."""
    give_up_at = deadline(world)
    for _ in range(TRIES):
        before = world.schedules.get(name)
        if before is None or before.state is ScheduleState.BROKEN:
            return before and Impossible(before)
        after = _pause(world, before, wish, give_up_at)
        if after is not None:
            return after
    raise Unavailable(f"{name} changes faster than its pause can be decided; try again")


def pause_the_failing(world: World, job: Job) -> None:
    """Pause the schedule of a job that has died, when as many as its `pause_after` says have died in a row.

    What fails here is done at the next death.
    """
    try:
        for _ in range(TRIES):
            before = world.schedules.get(job.schedule.removeprefix("schedule#")) if job.of_schedule else None
            most = _died_in_a_row(world, before) if before else None
            if before is None or most is None:
                return
            wish = Pause(world.clock.now(), None, f"{most} dead in a row (pause_after)", ITSELF, OnResume.SKIP)
            if _pause(world, before, wish, deadline(world)) is not None:
                return
    except Unavailable:
        return


def _pause(world: World, before: Schedule, wish: Pause, give_up_at: datetime) -> Schedule | None:
    """Pause a schedule as it was read; `None` when another has changed it meanwhile."""
    settled = settle(world, before, give_up_at)
    if settled is None:
        return None
    since = settled.schedule.paused.since if settled.schedule.paused else settled.at
    after = paused(settled.schedule, replace(wish, since=since), world.clock.token())
    ahead = list(islice(untouched_jobs(world, after.key, since), MOST_JOBS))
    if world.schedules.write(settled.schedule, after, [], withdrawn=ahead) is not None:
        return None
    world.journal.schedule(Event.SCHEDULE_PAUSED, after.name, reason=wish.reason)
    return after


def _died_in_a_row(world: World, schedule: Schedule) -> int | None:
    """Return the `pause_after` of a schedule whose newest jobs have died, that many of them; else `None`."""
    if schedule.is_paused(world.clock.now()) or schedule.state is ScheduleState.ENDED:
        return None
    definition = read_schedule(schedule)
    most = None if isinstance(definition, str) else definition.pause_after
    if most is None:
        return None
    newest = list(islice(_ran(world, schedule), most))
    return most if len(newest) == most and all(job.state is State.DEAD for job in newest) else None


def _ran(world: World, schedule: Schedule) -> Iterator[Job]:
    """Return the jobs that ran since the schedule was made, edited or resumed, for who did that has seen the others.

    Order: the newest slot first. What has no outcome yet, or was skipped or cancelled, is looked past.
    """
    over = schedule.paused.last_until if schedule.paused and schedule.paused.until else None
    since = max(filter(None, (schedule.since, schedule.resumed_at, over)))
    for job in newest_slots(world, schedule.key, LOOKED_PAST):
        if job.generation != schedule.generation or job.state not in {State.SUCCEEDED, State.DEAD}:
            continue
        if job.since <= since:
            return
        yield job


def resume(world: World, name: str) -> Schedule | Impossible | None:
    """End the pause of a schedule; `None` when there is none. One that is not paused stays as it is."""
    give_up_at = deadline(world)
    for _ in range(TRIES):
        found = readable(world, name)
        if not isinstance(found, Readable):
            return found
        if found.schedule.paused is None:
            return found.schedule
        timed = retime(world, found.schedule, found.definition)
        after = end_pause(world, timed, found.definition, world.clock.now()) if timed else None
        if after is not None:
            return plan_at_once(world, after, give_up_at)
    raise Unavailable(f"{name} changes faster than its pause can be ended; try again")


def foreseen(world: World, name: str) -> Foreseen | Impossible | None:
    """Return what would run if a schedule were resumed now, and change nothing; `None` when there is none."""
    found = readable(world, name)
    if not isinstance(found, Readable):
        return found
    schedule, now = found.schedule, world.clock.now()
    if schedule.paused is None:
        return Foreseen([], [])
    after = resumed(schedule, schedule.paused.ended_at(now), schedule.stamp)
    planned = list(chunks(after, found.definition, now, now + PLAN_AHEAD))
    return Foreseen(
        [run for chunk in planned for run in chunk.runs], [part for chunk in planned for part in chunk.skipped]
    )
