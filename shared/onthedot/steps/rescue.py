"""Rescue: what becomes of a message that SQS gave up on. It is judged on the same table as a start.

SQS gives up after many receives, and throttled workers receive without trying. So no job dies here that was not tried:
one that still waits goes back through Put.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

from onthedot.rules.agenda import Entry
from onthedot.rules.events import Event
from onthedot.rules.instants import seconds_up
from onthedot.rules.jobs import Job, State
from onthedot.rules.policies import Policies
from onthedot.rules.starting import Verdict, judge
from onthedot.rules.transitions import WORKER_DIED, failed
from onthedot.steps.heartbeat import Hold
from onthedot.steps.ports import World
from onthedot.steps.put import put
from onthedot.steps.start import LATE, STOPPED, Drop, Start, end_without_attempt, rest_of_lease
from onthedot.steps.work import entry_in

WAIT = timedelta(seconds=60)
"""How long a rescued job waits, for whatever kept the workers from it to pass."""


def rescue(world: World, text: str, policies: Policies, hold: Hold) -> bool:
    """Do what the message still demands; return whether it is acknowledged."""
    entry = entry_in(world, text)
    if entry is None:
        return True
    job = world.jobs.get(entry.schedule, entry.slot)
    match _judged(world, entry, job, policies), job:
        case Verdict.HELD, Job() as job:
            hold(seconds_up(rest_of_lease(world, job)))
            return False
        case Verdict.WORKER_DIED, Job() as job:
            return _is_done(end_without_attempt(world, job, State.DEAD, WORKER_DIED))
        case Verdict.STOPPED, Job() as job:
            return _is_done(end_without_attempt(world, job, State.CANCELLED, STOPPED))
        case Verdict.LATE, Job() as job:
            return _is_done(end_without_attempt(world, job, State.SKIPPED, LATE))
        case ((Verdict.DUE | Verdict.EARLY | Verdict.TAKE_OVER), Job() as job):
            again = _again(job, _later(world, job))
            if not put(world, again, partial(world.jobs.change, job)).won:
                return False
            world.journal.job(Event.JOB_RESCUED, again)
    return True


def _is_done(start: Start) -> bool:
    """Tell whether that was all; a job that has changed meanwhile is judged anew, when its letter comes again."""
    return isinstance(start, Drop)


def _again(job: Job, run_at: datetime) -> Job:
    """Return the job due later; one whose worker died has had an attempt that failed."""
    return replace(job, run_at=run_at) if job.state is State.SCHEDULED else failed(job, run_at, WORKER_DIED, None)


def _later(world: World, job: Job) -> datetime:
    """Return when the job is tried again. The wait is ours: a job that it would make too late is tried at once."""
    now = world.clock.now()
    fits = job.start_before is None or now + WAIT < job.start_before
    return max(job.run_at, now + WAIT if fits else now)


def _judged(world: World, entry: Entry, job: Job | None, policies: Policies) -> Verdict:
    max_attempts = policies.of(job).max_attempts if job else 0
    return judge(
        job,
        entry.wake,
        world.clock.now(),
        owner=world.clock.token(),
        max_attempts=max_attempts,
        max_skew=world.timing.max_skew,
    )
