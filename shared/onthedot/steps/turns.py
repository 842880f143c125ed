"""Turns: what of a schedule says that a job that has just started may run, and whose turn it is where none may overlap.

    slot A starts      A: busy           A has its outcome: busy is freed, the waiter is sent at once
       |------------------|-------------------------|
              B starts: busy is A's -> skip: skipped  |  wait: waiting = B, it looks again each minute
                   C starts: busy is A's, B waits -> skipped

"Still running" is from the first start of a slot to its outcome, backoff between attempts included. Who holds the turn
and has an outcome, or is gone, has forgotten to give it back, since its worker died: whoever meets that clears it.
"""

from dataclasses import replace
from functools import partial

from onthedot.rules.definitions import Overlap
from onthedot.rules.errors import Unavailable
from onthedot.rules.jobs import Job, State
from onthedot.rules.schedules import Schedule
from onthedot.rules.starting import Standing, judge_schedule
from onthedot.steps.ports import World
from onthedot.steps.put import put

TRIES = 20
"""How often a turn is decided anew; each time somebody else's was cleared or taken."""


def standing_of(world: World, job: Job) -> Standing:
    """Return whether a job that has just started may run, as its schedule says now; it has its turn then, if any."""
    if not job.of_schedule:
        return Standing.IN_FORCE
    if job.overlap is None:
        return judge_schedule(world.schedules.get(_name(job)), job, world.clock.now())
    for _ in range(TRIES):
        standing = _turn(world, job)
        if standing is not None:
            return standing
    raise Unavailable(f"the turns of {job.schedule} change faster than one can be decided")


def pass_turn_on(world: World, job: Job) -> None:
    """Give the turn back after an outcome, and send who waits for it. If that fails the waiter finds out by itself."""
    if job.overlap is None:
        return
    try:
        waiting = _give_back(world, job)
        waiter = world.jobs.get(job.schedule, waiting) if waiting else None
        if waiter is not None and waiter.state is State.SCHEDULED:
            put(world, replace(waiter, run_at=world.clock.now()), partial(world.jobs.change, waiter))
    except Unavailable:
        return


def _give_back(world: World, job: Job) -> str | None:
    """Free the turn if it is this job's; return the slot that waits for it."""
    marked = world.schedules.mark(_name(job), {"busy": None}, {"busy": frozenset({job.slot})})
    return marked.schedule.waiting if marked.won and marked.schedule else None


def _turn(world: World, job: Job) -> Standing | None:
    """Take the turn, or say why not; `None` when that must be decided anew."""
    mine = frozenset({None, job.slot})
    marked = world.schedules.mark(_name(job), {"busy": job.slot, "waiting": None}, {"busy": mine, "waiting": mine})
    standing = judge_schedule(marked.schedule, job, world.clock.now())
    if standing is not Standing.IN_FORCE and marked.won:
        _give_back(world, job)
    if standing is not Standing.IN_FORCE or marked.won or marked.schedule is None:
        return standing
    return _refused(world, job, marked.schedule)


def _refused(world: World, job: Job, schedule: Schedule) -> Standing | None:
    overlap = schedule.fields.get("overlap", Overlap.ALLOW)
    if overlap == Overlap.ALLOW:
        return Standing.IN_FORCE
    if _clear(world, job, "busy", schedule.busy) or _clear(world, job, "waiting", schedule.waiting):
        return None
    if overlap == Overlap.SKIP:
        return Standing.HELD
    queued = world.schedules.mark(_name(job), {"waiting": job.slot}, {"waiting": frozenset({None, job.slot})})
    if queued.schedule is None or (queued.won and queued.schedule.busy is None):
        return None
    if queued.won:
        return Standing.WAITS
    return None if _clear(world, job, "waiting", queued.schedule.waiting) else Standing.QUEUED


def _clear(world: World, job: Job, what: str, slot: str | None) -> bool:
    """Clear a mark that another job has left behind; return whether the turn must be decided anew."""
    if slot is None or slot == job.slot:
        return False
    holder = world.jobs.get(job.schedule, slot)
    if holder is not None and holder.pending:
        return False
    world.schedules.mark(_name(job), {what: None}, {what: frozenset({slot})})
    return True


def _name(job: Job) -> str:
    return job.schedule.removeprefix("schedule#")
