"""Revive: a dead or cancelled job goes again, from its first attempt; one, or the dead in bulk, at a rate.

The write is a put, on condition that the job is as it was read: of two who send it again one does. What an attempt of
its former life still does is fenced off by the owner, as any late finish is.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from onthedot.rules.events import Event
from onthedot.rules.jobs import REVIVABLE, Job, State
from onthedot.rules.transitions import revived
from onthedot.steps.bulk import Bulk, change_all, count_all
from onthedot.steps.listing import dead_before
from onthedot.steps.manage import Changed, TooLate, decide
from onthedot.steps.payloads import keep_for
from onthedot.steps.ports import World, Written
from onthedot.steps.put import hand_over, write_with_wake

DEAD = frozenset({State.DEAD})


@dataclass(frozen=True, slots=True)
class PayloadGone:
    """The job cannot go again: the item that held its payload is gone."""

    job: Job


@dataclass(frozen=True, slots=True)
class Dead:
    """Which dead jobs are meant, by handler and time of death, and how far apart they shall start."""

    handler: str | None
    before: datetime | None
    step: timedelta


def revive(world: World, schedule: str, slot: str) -> Changed | TooLate | PayloadGone | None:
    """Send a dead or cancelled job again, now; `None` when there is no such job."""
    done = _revive(world, world.jobs.get(schedule, slot), REVIVABLE, world.clock.now())
    if isinstance(done, Changed):
        hand_over(world, [done.job])
    return done


def revivable(world: World, wanted: Dead) -> Bulk:
    """Count the dead jobs that would go again."""
    return count_all(world, dead_before(world, wanted.handler, wanted.before))


def revive_dead(world: World, wanted: Dead) -> Bulk:
    """Send dead jobs again, at most so many, and each as far after the one before it as is wanted.

    One that has changed meanwhile, or whose payload is gone, is left. Order: the oldest death first.
    """
    now = world.clock.now()

    def change(job: Job, number: int) -> Job | None:
        done = _revive(world, job, DEAD, now + number * wanted.step)
        return done.job if isinstance(done, Changed) else None

    found = dead_before(world, wanted.handler, wanted.before)
    return change_all(world, found, change, partial(hand_over, world))


def _revive(
    world: World, job: Job | None, states: frozenset[State], run_at: datetime
) -> Changed | TooLate | PayloadGone | None:
    if job is not None and job.state in states and world.payloads.texts([job.placed]) == [None]:
        return PayloadGone(job)

    def change(job: Job) -> Written:
        now = world.clock.now()
        again = keep_for(world, revived(job, now, max(run_at, now), world.clock.token()))
        return write_with_wake(world, again, partial(world.jobs.change, job))

    return decide(world, job, states, Event.JOB_REVIVED, change)
