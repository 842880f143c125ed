"""What people do to a job between its creation and its outcome: create, reschedule, cancel.

Each is one conditional write. The answer is exact: done, or too late and what the job is instead.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from onthedot.rules.errors import Unavailable
from onthedot.rules.events import Event
from onthedot.rules.jobs import Job, State
from onthedot.rules.timing import WRITE
from onthedot.rules.transitions import ended, moved
from onthedot.steps.payloads import keep_for, place
from onthedot.steps.ports import World, Written
from onthedot.steps.put import hand_over, put, write_with_wake
from onthedot.steps.turns import pass_turn_on

TRIES = 5
"""How often a change is decided anew when the job changed under it."""


SCHEDULED = frozenset({State.SCHEDULED})


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job to create, and its payload as JSON text; without one, the draft has its payload placed already."""

    draft: Job
    payload: str | None


@dataclass(frozen=True, slots=True)
class Created:
    """The job is stored."""

    job: Job


@dataclass(frozen=True, slots=True)
class Exists:
    """A job had this key before, and was left alone; `same` tells whether the same request made it."""

    job: Job
    same: bool


@dataclass(frozen=True, slots=True)
class Changed:
    """Done; the job as it is now."""

    job: Job


@dataclass(frozen=True, slots=True)
class Stopping:
    """The job runs, and is to stop: no further attempt is made, and the handler is told at its next heartbeat."""

    job: Job


@dataclass(frozen=True, slots=True)
class TooLate:
    """Not done; the job, whose state and time say why."""

    job: Job


def create_all(world: World, jobs: Sequence[NewJob]) -> list[Created | Exists | Unavailable]:
    """Write new jobs, some at once, then hand over the near ones; each stands or fails by itself.

    A request that is repeated hands its job over again: the first one may have died before it did.
    """
    give_up_at = world.clock.now() + WRITE
    results = world.side_by_side(partial(_create, world, give_up_at), jobs)
    hand_over(world, [job for job in map(_waiting, results) if job is not None])
    return results


def reschedule(
    world: World, schedule: str, slot: str, run_at: datetime, payload: str | None
) -> Changed | TooLate | None:
    """Give a scheduled job another time, and another payload if there is one; `None` when there is no such job."""

    def change(job: Job) -> Written:
        after = moved(job, run_at)
        after = keep_for(world, after) if payload is None else place(world, after, payload)
        return put(world, after, partial(world.jobs.change, job))

    return decide(world, world.jobs.get(schedule, slot), SCHEDULED, Event.JOB_RESCHEDULED, change)


def cancel(world: World, schedule: str, slot: str) -> Changed | TooLate | None:
    """Take back a scheduled job; `None` when there is no such job. What is cancelled already stays so."""
    done = cancel_as_read(world, world.jobs.get(schedule, slot))
    if isinstance(done, TooLate) and done.job.state is State.CANCELLED:
        pass_turn_on(world, done.job)
        return Changed(done.job)
    return done


def cancel_as_read(world: World, job: Job | None) -> Changed | TooLate | None:
    """Take back a job that was scheduled when it was read, and pass its turn on."""

    def change(job: Job) -> Written:
        return world.jobs.change(job, ended(job, State.CANCELLED, world.clock.now(), world.timing.retention))

    done = decide(world, job, SCHEDULED, Event.JOB_CANCELLED, change)
    if isinstance(done, Changed):
        pass_turn_on(world, done.job)
    return done


def stop(world: World, schedule: str, slot: str) -> Changed | Stopping | TooLate | None:
    """Take back a scheduled job, or ask a running one to stop; `None` when there is no such job."""
    for _ in range(TRIES):
        done = cancel(world, schedule, slot)
        if done is None or done.job.state is not State.RUNNING:
            return done
        if done.job.stop:
            return Stopping(done.job)
        stopping = replace(done.job, stop=True)
        if world.jobs.change(done.job, stopping).won:
            world.journal.job(Event.JOB_STOPPING, stopping)
            return Stopping(stopping)
    raise Unavailable("the job changes faster than it can be stopped; try again")


def _create(world: World, give_up_at: datetime, new: NewJob) -> Created | Exists | Unavailable:
    try:
        if world.clock.now() > give_up_at:
            return Unavailable("there was no time left to write this job; send it again")
        draft = new.draft if new.payload is None else place(world, new.draft, new.payload)
        written = write_with_wake(world, draft, lambda job: world.jobs.add(job, world.clock.now()))
    except Unavailable as error:
        return error
    assert written.job is not None, "a refused add returns the job that is in the way"
    if not written.won:
        return Exists(written.job, same=written.job.request == draft.request)
    world.journal.job(Event.JOB_CREATED, written.job)
    return Created(written.job)


def _waiting(result: Created | Exists | Unavailable) -> Job | None:
    match result:
        case Created(job) | Exists(job, same=True) if job.state is State.SCHEDULED:
            return job
    return None


def decide(
    world: World, job: Job | None, states: frozenset[State], event: Event, change: Callable[[Job], Written]
) -> Changed | TooLate | None:
    """Change a job, as it was read, while it is in one of these states; `None` when it is gone."""
    for _ in range(TRIES):
        if job is None or job.state not in states:
            return None if job is None else TooLate(job)
        written = change(job)
        if written.won and written.job is not None:
            world.journal.job(event, written.job)
            return Changed(written.job)
        job = written.job
    raise Unavailable("the job changes faster than its change can be decided; try again")
