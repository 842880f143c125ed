"""Finish: end an attempt, on condition that it still owns the job. One that failed is followed by another, or by none.

Attempt numbers restart when a dead job is retried; owners never repeat, so the owner is the fence.
"""

from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

from onthedot.rules.events import Event
from onthedot.rules.jobs import Job, State
from onthedot.rules.retry import next_at
from onthedot.rules.transitions import ended, failed
from onthedot.steps.owned import change_while_ours
from onthedot.steps.payloads import keep_for
from onthedot.steps.ports import World, Written
from onthedot.steps.put import put
from onthedot.steps.start import ENDED, STOPPED, Attempt, follow_up


@dataclass(frozen=True, slots=True)
class Success:
    """The handler returned; `result` is JSON text."""

    result: str


@dataclass(frozen=True, slots=True)
class Failure:
    """The handler did not return, and is perhaps still `stuck`; `reason` says in a word or two why its job ended.

    `final` tells that no further attempt is worth making, `wait` how long it should wait; else the backoff says it.
    """

    error: str
    reason: str
    final: bool = False
    wait: timedelta | None = None
    stuck: bool = False


Ending = Success | Failure


def finish(world: World, attempt: Attempt, ending: Ending) -> bool:
    """Write how the attempt ended; return `False`, with nothing changed, when it no longer owned the job.

    Who asked it to stop meanwhile has refused the write; then it is decided anew.
    """
    job, after = attempt.job, _after(world, attempt, ending)
    written = _write(world, job, after)
    if not written.won and written.job is not None and written.job.is_attempt_of(job.owner):
        return finish(world, replace(attempt, job=written.job), ending)
    if not written.won:
        world.journal.job(Event.FINISH_LOST, job)
    elif after.pending:
        world.journal.job(Event.ATTEMPT_FAILED, after)
    else:
        world.journal.job(ENDED[after.state], after)
        follow_up(world, after)
    return written.won


def _write(world: World, job: Job, after: Job) -> Written:
    if after.pending:
        return put(world, after, partial(change_while_ours, world, job))
    return change_while_ours(world, job, after)


def _after(world: World, attempt: Attempt, ending: Ending) -> Job:
    """Return what becomes of the job."""
    job, policy, now, keep = attempt.job, attempt.policy, world.clock.now(), world.timing.retention
    match ending:
        case Success(result):
            return ended(job, State.SUCCEEDED, now, keep, result=result)
        case Failure(error) if job.stop:
            return ended(job, State.CANCELLED, now, keep, error=error, reason=STOPPED)
        case Failure(error, reason, final) if final or job.attempt >= policy.max_attempts:
            return ended(job, State.DEAD, now, keep, error=error, reason=reason)
        case Failure(error, wait=wait):
            chosen = policy.backoff.wait(job.attempt, world.clock.chance()) if wait is None else wait
            return keep_for(world, failed(job, next_at(now, chosen), error, now))
