"""Owned: what becomes of a job is written by the attempt that owns it, as long as its lease lasts."""

from dataclasses import replace

from onthedot.rules.agenda import wake_at
from onthedot.rules.errors import Unavailable
from onthedot.rules.jobs import Job
from onthedot.steps.ports import World, Written

CHANGES_TRIED = 50
"""How often it is written anew: with the SDK's own tries for a minute, or until the lease ends."""


def change_while_ours(world: World, job: Job, after: Job) -> Written:
    """Write what became of our attempt, again and again while its lease lasts: an outage of seconds kills no job.

    Raises: Unavailable when AWS did not take it until then.
    """
    for _ in range(CHANGES_TRIED):
        try:
            return world.jobs.change(job, _ahead(world, job, after))
        except Unavailable as error:
            failed = error
        if job.lease_until is None or world.clock.now() >= job.lease_until:
            break
        world.clock.pause()
    raise failed


def _ahead(world: World, job: Job, after: Job) -> Job:
    """Return what is written now: a new wake that an outage has made old could lie behind the watermark."""
    now = world.clock.now()
    if after.wake is None or after.wake == job.wake or after.wake - now >= world.timing.least_recheck:
        return after
    return replace(after, wake=wake_at(after.run_at, now, world.timing))
