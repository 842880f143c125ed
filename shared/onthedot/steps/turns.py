"""Turns: what of a schedule says that a job that has just started may run, and whose turn it is where none may overlap.

    slot A starts      A: busy           A has its outcome: busy is freed, the waiter is sent at once
       |------------------|-------------------------|
              B starts: busy is A's -> skip: skipped  |  wait: waiting = B, it looks again each minute
                   C starts: busy is A's, B waits -> skipped

"Still running" is from the first start of a slot to its outcome, backoff between attempts included. Who holds the turn
and has an outcome, is gone, or was moved to a later time, has not given it back: whoever meets that clears it.
"""

from dataclasses import replace

from onthedot.rules.definitions import Overlap
from onthedot.rules.errors import Unavailable
from onthedot.rules.jobs import Job, State
from onthedot.rules.schedules import Schedule
from onthedot.rules.starting import Standing, is_in_line, judge_schedule
from onthedot.steps.ports import World
from onthedot.steps.ports_of_schedules import Allowed, Marked, Slots
from onthedot.steps.put import hand_over

TRIES = 20
"""How often a turn is decided anew; each time somebody else's was cleared or taken."""


def standing_of(world: World, job: Job) -> Standing:
    """Return whether a job that has just started may run, as its schedule says now; it has its turn then, if any."""
    if not job.of_schedule:
        return Standing.IN_FORCE
    if job.overlap is None:
        schedule = world.schedules.get(_name(job))
        standing = judge_schedule(schedule, job, world.clock.now())
        if schedule is None or standing is not Standing.IN_FORCE or _overlap(schedule) == Overlap.ALLOW:
            return standing
    for _ in range(TRIES):
        decided = _turn(world, job)
        if decided is not None:
            return decided
    raise Unavailable(f"the turns of {job.schedule} change faster than one can be decided")


def pass_turn_on(world: World, job: Job) -> None:
    """Give the turn back after an outcome, and send who waits for it. If that fails the waiter finds out by itself."""
    if job.overlap is None:
        return
    try:
        _call(world, job, _give_back(world, job))
    except Unavailable:
        return


def call_if_free(world: World, job: Job) -> None:
    """Send a job that has just gone back to wait, if its turn came before it could be sent by who gave it back."""
    try:
        schedule = world.schedules.get(_name(job))
        if schedule is not None and schedule.busy is None:
            _call(world, job, schedule.waiting)
    except Unavailable:
        return


def _call(world: World, job: Job, slot: str | None) -> None:
    """Send the job of the slot that waits; not one that somebody gave another time, before which it must not run.

    Its wake stays, so that the message on its way is good still: who dies before this one is sent costs a minute.
    """
    waiter, now = world.jobs.get(job.schedule, slot) if slot else None, world.clock.now()
    if waiter is not None and waiter.state is State.SCHEDULED and not waiter.pinned and is_in_line(waiter, now):
        after = replace(waiter, run_at=min(waiter.run_at, now))
        if world.jobs.change(waiter, after).won:
            hand_over(world, [after])


def _give_back(world: World, job: Job) -> str | None:
    """Free the turn if it is this job's; return the slot that waits for it now."""
    schedule = _mark(world, job, {"busy": None}, {"busy": frozenset({job.slot})}).schedule
    return schedule.waiting if schedule is not None and schedule.busy is None else None


def _turn(world: World, job: Job) -> Standing | None:
    """Take the turn, or say why not; `None` when that must be decided anew.

    Who has it keeps it, though another waits by now: at its second attempt, or when the first call's answer was lost.
    """
    mine = frozenset({None, job.slot})
    marked = _mark(world, job, {"busy": job.slot, "waiting": None}, {"busy": mine, "waiting": mine})
    schedule = marked.schedule
    standing = judge_schedule(schedule, job, world.clock.now())
    has_turn = marked.won or (schedule is not None and schedule.busy == job.slot)
    if standing is not Standing.IN_FORCE and has_turn:
        _call(world, job, _give_back(world, job))
    if standing is not Standing.IN_FORCE or has_turn or schedule is None:
        return standing
    return _refused(world, job, schedule)


def _refused(world: World, job: Job, schedule: Schedule) -> Standing | None:
    overlap = _overlap(schedule)
    if overlap == Overlap.ALLOW or not schedule.readable:
        return Standing.IN_FORCE
    if _clear(world, job, "busy", schedule.busy) or _clear(world, job, "waiting", schedule.waiting):
        return None
    if overlap == Overlap.SKIP:
        return _or_later(job, Standing.HELD)
    return Standing.WAITS if schedule.waiting == job.slot else _queue(world, job)


def _or_later(job: Job, held: Standing) -> Standing:
    """Return that a job which goes again looks again in a minute: skipped, it could be sent again no more."""
    return held if job.revived_at is None else Standing.WAITS


def _queue(world: World, job: Job) -> Standing | None:
    """Take the one place in which a job waits for its turn."""
    queued = _mark(world, job, {"waiting": job.slot}, {"waiting": frozenset({None, job.slot})})
    if queued.schedule is None or queued.schedule.waiting is None:
        return None
    if queued.won:
        return Standing.WAITS if queued.schedule.busy else None
    return None if _clear(world, job, "waiting", queued.schedule.waiting) else _or_later(job, Standing.QUEUED)


def _clear(world: World, job: Job, what: str, slot: str | None) -> bool:
    """Clear a mark that another job has left behind; return whether the turn must be decided anew."""
    if slot is None or slot == job.slot or is_in_line(world.jobs.get(job.schedule, slot), world.clock.now()):
        return False
    _mark(world, job, {what: None}, {what: frozenset({slot})})
    return True


def _mark(world: World, job: Job, slots: Slots, allowed: Allowed) -> Marked:
    """Mark the schedule that made the job, and no later one of its name."""
    return world.schedules.mark(_name(job), slots, {**allowed, "generation": frozenset({job.generation})})


def _overlap(schedule: Schedule) -> str:
    return str(schedule.fields.get("overlap", Overlap.ALLOW))


def _name(job: Job) -> str:
    return job.schedule.removeprefix("schedule#")
