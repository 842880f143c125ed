"""Finish: end an attempt, on condition that it still owns the job.

Attempt numbers restart when a dead job is retried; owners never repeat, so the owner is the fence.
"""

from dataclasses import dataclass

from onthedot.rules.events import Event
from onthedot.rules.jobs import Job, State, ended
from onthedot.steps.ports import World
from onthedot.steps.start import change_while_ours, follow_up


@dataclass(frozen=True, slots=True)
class Success:
    """The handler returned; `result` is JSON text."""

    result: str


@dataclass(frozen=True, slots=True)
class Failure:
    """The handler did not return, and is perhaps still `stuck`; `reason` says in a word or two why its job ended."""

    error: str
    reason: str
    stuck: bool = False


Ending = Success | Failure


def finish(world: World, job: Job, ending: Ending) -> bool:
    """Write how the attempt ended; return `False`, with nothing changed, when it no longer owned the job."""
    now, keep = world.clock.now(), world.timing.retention
    match ending:
        case Success(result):
            event, after = Event.JOB_SUCCEEDED, ended(job, State.SUCCEEDED, now, keep, result=result)
        case Failure(error, reason, _):
            event, after = Event.JOB_DEAD, ended(job, State.DEAD, now, keep, error=error, reason=reason)
    won = change_while_ours(world, job, after).won
    world.journal.job(event if won else Event.FINISH_LOST, after if won else job)
    if won:
        follow_up(world, after)
    return won
