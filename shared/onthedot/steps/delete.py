"""Delete: a schedule goes with its planned jobs, after it is settled; a job that has started finishes."""

from onthedot.rules.errors import Unavailable
from onthedot.rules.events import Event
from onthedot.rules.history import DELETED, Record, of_left_behind, of_pause, of_version
from onthedot.rules.jobs import Job, State
from onthedot.rules.schedules import Schedule, ScheduleState
from onthedot.rules.starting import Standing
from onthedot.rules.transitions import ended
from onthedot.steps.edit import Mismatch, forget_payload
from onthedot.steps.finding import FIRST_SLOT, PAST_SLOTS
from onthedot.steps.ports import World
from onthedot.steps.settle import TRIES, Settled, deadline, settle

MOST_CANCELLED = 1_000
"""Jobs that a deletion looks through: a schedule of every minute has 43,200 in a month, and the caller waits."""


def remove(world: World, name: str, seen: int | None) -> Schedule | Mismatch | None:
    """Delete a schedule with its planned jobs; `None` when there is none."""
    give_up_at = deadline(world)
    for _ in range(TRIES):
        before = world.schedules.get(name)
        if before is None:
            return None
        if seen is not None and before.version != seen:
            return Mismatch(before)
        settled = settle(world, before, give_up_at)
        if settled is None:
            continue
        if world.schedules.write(settled.schedule, None, _past(world, settled)) is None:
            world.journal.schedule(Event.SCHEDULE_DELETED, name)
            forget_payload(world, settled.schedule)
            _cancel_planned(world, settled.schedule)
            return settled.schedule
    raise Unavailable(f"{name} changes faster than its deletion can be decided; try again")


def _past(world: World, settled: Settled) -> list[Record]:
    """Return what is kept of a schedule that is deleted now."""
    schedule, kept_until = settled.schedule, settled.at + world.timing.retention
    records = [of_version(schedule, settled.at, kept_until)]
    if schedule.paused is not None:
        records.append(of_pause(schedule, schedule.paused, settled.at, kept_until))
    if schedule.readable and (schedule.paused is not None or schedule.state is ScheduleState.BROKEN):
        records.append(of_left_behind(schedule, DELETED, settled.at, kept_until))
    return records


def _cancel_planned(world: World, schedule: Schedule) -> None:
    """Cancel the newest jobs that wait, also for their next attempt; what fails here or is older, the start decides."""
    now, keep = world.clock.now(), world.timing.retention

    def cancel(job: Job) -> None:
        after = ended(job, State.CANCELLED, now, keep, reason=Standing.DELETED.value)
        if world.jobs.change(job, after).won:
            world.journal.job(Event.JOB_CANCELLED, after)

    try:
        newest = world.indexes.newest(schedule.key, FIRST_SLOT, PAST_SLOTS, MOST_CANCELLED)
        mine = [job for job in newest if job.state is State.SCHEDULED and job.generation == schedule.generation]
        world.side_by_side(cancel, mine)
    except Unavailable:
        return
