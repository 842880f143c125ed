"""Pause and resume: whether a schedule's jobs may run. A pause is a wish, no fault: what passes in it is not missed.

What is planned ahead is taken back in the very write of the pause: later, a resume might have counted on it. A job that
is already on its way finds the pause when it starts. A pause with an end is over at that very time; the dispatcher only
writes that down.
"""

from dataclasses import dataclass, replace
from itertools import islice

from onthedot.rules.errors import Unavailable
from onthedot.rules.events import Event
from onthedot.rules.jobs import Job, State
from onthedot.rules.missed import Planned, Skipped
from onthedot.rules.planning import MOST_JOBS, PLAN_AHEAD, chunks
from onthedot.rules.schedules import OnResume, Pause, Schedule, ScheduleState, paused, resumed
from onthedot.steps.finding import FIRST_SLOT, PAST_SLOTS, untouched_jobs
from onthedot.steps.plan import end_pause
from onthedot.steps.ports import World
from onthedot.steps.readable import Impossible, Readable, readable
from onthedot.steps.settle import TRIES, deadline, plan_at_once, settle

ITSELF = "onthedot"
"""Who has paused a schedule, when nobody has."""
LOOKED_PAST = 100
"""How many jobs that have no outcome yet, or were skipped, are looked past for those that ran."""


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
        settled = settle(world, before, give_up_at)
        if settled is None:
            continue
        since = settled.schedule.paused.since if settled.schedule.paused else settled.at
        after = paused(settled.schedule, replace(wish, since=since), world.clock.token())
        ahead = list(islice(untouched_jobs(world, after.key, since), MOST_JOBS))
        if world.schedules.write(settled.schedule, after, [], withdrawn=ahead) is None:
            world.journal.schedule(Event.SCHEDULE_PAUSED, name, reason=wish.reason)
            return after
    raise Unavailable(f"{name} changes faster than its pause can be decided; try again")


def pause_the_failing(world: World, job: Job) -> None:
    """Pause the schedule of a job that has died, when as many as its `pause_after` says have died in a row.

    What died before its last edit, or its last resume, is forgiven: somebody has looked at it since.
    """
    name = job.schedule.removeprefix("schedule#")
    schedule = world.schedules.get(name) if job.of_schedule else None
    if schedule is None or schedule.state is not ScheduleState.ACTIVE or "pause_after" not in schedule.fields:
        return
    most, since = int(schedule.fields["pause_after"]), max(schedule.since, schedule.resumed_at or schedule.since)
    newest = world.indexes.newest(schedule.key, FIRST_SLOT, PAST_SLOTS, most + LOOKED_PAST)
    ended = [each for each in newest if each.state in {State.SUCCEEDED, State.DEAD} and each.since > since][:most]
    if len(ended) == most and all(each.state is State.DEAD for each in ended):
        now = world.clock.now()
        pause(world, name, Pause(now, None, f"{most} dead in a row (pause_after)", ITSELF, OnResume.SKIP))


def resume(world: World, name: str) -> Schedule | Impossible | None:
    """End the pause of a schedule; `None` when there is none. One that is not paused stays as it is."""
    give_up_at = deadline(world)
    for _ in range(TRIES):
        found = readable(world, name)
        if not isinstance(found, Readable):
            return found
        if found.schedule.paused is None:
            return found.schedule
        after = end_pause(world, found.schedule, found.definition, world.clock.now())
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
