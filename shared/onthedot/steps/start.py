"""Start: take a job for one attempt. Of all messages, clocks and workers, one conditional write decides.

When it is refused, the job comes back with the refusal, and the table in `rules/starting.py` says what that means.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import assert_never

from onthedot.rules.agenda import Entry
from onthedot.rules.errors import Unavailable
from onthedot.rules.events import Event
from onthedot.rules.jobs import Job, State
from onthedot.rules.policies import Policies, Policy
from onthedot.rules.starting import TURN, Standing, Verdict, judge, lease_over_at
from onthedot.rules.transitions import WORKER_DIED, ended, given_back, taken_over
from onthedot.steps.owned import change_while_ours
from onthedot.steps.pause import pause_the_failing
from onthedot.steps.ports import World, Written
from onthedot.steps.put import put
from onthedot.steps.settle import plan_again
from onthedot.steps.turns import call_if_free, pass_turn_on, standing_of

LATE = "late"
STOPPED = "stopped"
ENDED = {
    State.SUCCEEDED: Event.JOB_SUCCEEDED,
    State.DEAD: Event.JOB_DEAD,
    State.CANCELLED: Event.JOB_CANCELLED,
    State.SKIPPED: Event.JOB_SKIPPED,
}


@dataclass(frozen=True, slots=True)
class Attempt:
    """A job that this worker owns until its lease ends."""

    job: Job
    policy: Policy
    begun_at: datetime


@dataclass(frozen=True, slots=True)
class Wait:
    """The message must not be acknowledged; it is worth looking at again after this span."""

    span: timedelta


@dataclass(frozen=True, slots=True)
class Drop:
    """The message has nothing more to tell, and why."""

    verdict: Verdict


Start = Attempt | Wait | Drop

LOOK_AGAIN = Wait(timedelta(0))


def start(world: World, entry: Entry, policies: Policies) -> Start:
    """Take the job for one attempt, or say what becomes of the message."""
    owner, now = world.clock.token(), world.clock.now()
    key, longest = (entry.schedule, entry.slot), policies.longest_timeout
    written = _looked_for(world, key, owner, lambda: world.jobs.start(entry, owner, now, longest))
    if written.job is None:
        return Drop(Verdict.OVER)
    policy = policies.of(written.job)
    if written.won:
        return _begin(world, Event.JOB_STARTED, written.job, policy, now)
    return _refused(world, entry, written.job, policy, owner, now)


def give_back(world: World, attempt: Attempt) -> None:
    """Undo a start whose handler was not called, if the job is still ours, so that it costs no attempt."""
    job = attempt.job
    written = change_while_ours(world, job, given_back(job))
    if written.won:
        world.journal.job(Event.JOB_GIVEN_BACK, job)
    else:
        _stop_if_asked(world, written.job, job.owner)


def follow_up(world: World, after: Job) -> None:
    """Do for the schedule what an outcome brings with it. A pause comes first: who waits must not slip through."""
    if after.state is State.DEAD:
        pause_the_failing(world, after)
    pass_turn_on(world, after)


def is_too_slow(world: World, attempt: Attempt) -> bool:
    """Tell whether the start took so long that another may own the job before its handler would be done."""
    return world.clock.now() - attempt.begun_at > world.timing.time_to_start


def rest_of_lease(world: World, job: Job) -> timedelta:
    """Return how long a message of a running job waits until its lease is over."""
    return lease_over_at(job, world.timing.max_skew) - world.clock.now() + timedelta(seconds=1)


def _looked_for(world: World, key: tuple[str, str], owner: str, write: Callable[[], Written]) -> Written:
    """Take the job for its owner; when AWS gave no answer, look whether that is done."""
    try:
        return write()
    except Unavailable:
        job = world.jobs.get(*key)
        if job is None or job.owner != owner:
            raise
        return Written(won=True, job=job)


def _refused(world: World, entry: Entry, job: Job, policy: Policy, owner: str, now: datetime) -> Start:
    max_attempts, max_skew = policy.max_attempts, world.timing.max_skew
    verdict = judge(job, entry.wake, now, owner=owner, max_attempts=max_attempts, max_skew=max_skew)
    match verdict:
        case Verdict.MINE:
            return _begin(world, Event.JOB_STARTED, job, policy, now)
        case Verdict.EARLY:
            return Wait(job.run_at - now)
        case Verdict.HELD:
            return Wait(rest_of_lease(world, job))
        case Verdict.TAKE_OVER:
            return _take_over(world, job, policy, owner, now)
        case Verdict.WORKER_DIED:
            return end_without_attempt(world, job, State.DEAD, WORKER_DIED)
        case Verdict.STOPPED:
            return end_without_attempt(world, job, State.CANCELLED, STOPPED)
        case Verdict.LATE:
            return end_without_attempt(world, job, State.SKIPPED, LATE)
        case Verdict.DUE:
            return LOOK_AGAIN
        case Verdict.STALE | Verdict.OVER:
            return Drop(verdict)
        case _:
            assert_never(verdict)


def _begin(world: World, event: Event, job: Job, policy: Policy, now: datetime) -> Start:
    """Return the attempt that this worker has won, unless its schedule says otherwise: it is read now, not before."""
    attempt = Attempt(job, policy, now)
    if job.stop:
        return _stop_if_asked(world, job, job.owner)
    try:
        standing = standing_of(world, job)
    except Unavailable:
        give_back(world, attempt)
        return LOOK_AGAIN
    match standing:
        case Standing.IN_FORCE:
            world.journal.job(event, job)
            return attempt
        case Standing.SUPERSEDED:
            return _superseded(world, job)
        case Standing.WAITS:
            return _waits(world, job)
        case Standing.DELETED:
            return _stopped(world, job, State.CANCELLED, standing.value)
        case Standing.PAUSED | Standing.HELD | Standing.QUEUED:
            return _stopped(world, job, State.SKIPPED, standing.value)
        case _:
            assert_never(standing)


def _stopped(world: World, job: Job, state: State, reason: str) -> Start:
    """End a job whose handler shall not be called, its start not counted; the lease keeps others away meanwhile."""
    after = ended(given_back(job), state, world.clock.now(), world.timing.retention, reason=reason)
    written = change_while_ours(world, job, after)
    if not written.won:
        return _stop_if_asked(world, written.job, job.owner)
    world.journal.job(ENDED[state], after)
    return Drop(Verdict.OVER)


def _stop_if_asked(world: World, job: Job | None, owner: str | None) -> Start:
    """End a job that somebody wants to stop, its handler not called yet; else it would wait for its lease to end."""
    if job is None or not job.stop or not job.is_attempt_of(owner):
        return LOOK_AGAIN
    stopped = _stopped(world, job, State.CANCELLED, STOPPED)
    pass_turn_on(world, job)
    return stopped


def _waits(world: World, job: Job) -> Start:
    """Put a job back until its turn comes, the attempt not counted. Who gives the turn back sends it at once."""
    later = replace(given_back(job), run_at=world.clock.now() + TURN)
    written = put(world, later, lambda draft: change_while_ours(world, job, draft))
    if not written.won:
        return _stop_if_asked(world, written.job, job.owner)
    world.journal.job(Event.JOB_WAITS, later)
    call_if_free(world, later)
    return Drop(Verdict.STALE)


def _superseded(world: World, job: Job) -> Start:
    """Delete a job whose slot belongs to a newer version; if that fails it is given back, to be superseded again."""
    try:
        gone = world.jobs.remove(job)
    except Unavailable:
        change_while_ours(world, job, given_back(job))
        return LOOK_AGAIN
    if not gone:
        return _stop_if_asked(world, world.jobs.get(*job.key), job.owner)
    world.journal.job(Event.JOB_SUPERSEDED, job)
    plan_again(world, job)
    return Drop(Verdict.OVER)


def _take_over(world: World, job: Job, policy: Policy, owner: str, now: datetime) -> Start:
    lease_until = now + policy.timeout + world.timing.margin
    mine = taken_over(job, owner, now, lease_until)
    written = _looked_for(world, job.key, owner, lambda: world.jobs.change(job, mine))
    if not written.won or written.job is None:
        return LOOK_AGAIN
    return _begin(world, Event.JOB_TAKEN_OVER, written.job, policy, now)


def end_without_attempt(world: World, job: Job, state: State, reason: str) -> Start:
    """End a job that will not be tried (again), unless it has changed since; then the message is worth another look."""
    error = WORKER_DIED if job.state is State.RUNNING else None
    after = ended(job, state, world.clock.now(), world.timing.retention, error=error, reason=reason)
    if not world.jobs.change(job, after).won:
        return LOOK_AGAIN
    world.journal.job(ENDED[state], after)
    follow_up(world, after)
    return Drop(Verdict.OVER)
