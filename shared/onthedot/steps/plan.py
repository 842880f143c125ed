"""Plan: make the jobs of due slots, chunk by chunk, each in one transaction with how far its schedule is planned.

Of all planners that race for a schedule, one writes each chunk, whatever their clocks say: the others find the row
changed and leave it. Who dies after the write has left the jobs on the agenda, where drain finds them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from onthedot.rules.agenda import wake_at
from onthedot.rules.definitions import Definition
from onthedot.rules.errors import Unavailable
from onthedot.rules.events import Event
from onthedot.rules.history import of_pause, of_skipped
from onthedot.rules.jobs import Job
from onthedot.rules.missed import Planned
from onthedot.rules.planning import (
    MOST_JOBS,
    PLAN_AHEAD,
    Chunk,
    Place,
    advanced,
    beside,
    chunks,
    job_of,
    place_of,
    shortened,
)
from onthedot.rules.reading import read_schedule
from onthedot.rules.schedules import OnResume, Schedule, ScheduleState, coming, resumed, with_next
from onthedot.rules.slots import EPOCH, next_slots
from onthedot.rules.timing import TICK
from onthedot.rules.zones import database_version
from onthedot.steps.ports import Shard, World
from onthedot.steps.put import hand_over
from onthedot.steps.retime import retime

PATIENCE = 5
"""How often a slot is tried whose place another job is leaving: one that an edit has superseded is gone at once."""
MOST_REASON = 400
"""Characters of a reason that are kept."""
TRIES = 100
"""How often a chunk is written anew; each time at least one slot is left out, or its place has become free."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a schedule got: the row as it is now, whether all that was asked for is planned, and how many slots were.

    `jobs` are those that are not handed over yet: schedules that make one or two are handed over together.
    """

    schedule: Schedule
    jobs: list[Job]
    done: bool
    slots: int = 0


@dataclass(frozen=True, slots=True)
class ShardPlanned:
    """What a look at a shard's schedules planned; `left` tells that it stopped for time, perhaps with work left."""

    slots: int
    left: bool


def plan_shard(world: World, shard: Shard, has_time: Callable[[], bool]) -> ShardPlanned:
    """Plan the schedules of a shard that are due: first those on time, then those whose slots were missed.

    In this order, since after an outage what is missed may take long, and what is on time must not wait for it. Then
    come those that another time zone database has timed, whoever wrote them: they may be due earlier than they seem.
    """
    slots = 0
    for names in _to_look_at(world, shard):
        slots += sum(progress.slots for progress in _plan_page(world, names, has_time))
        if not has_time():
            return ShardPlanned(slots, left=True)
    return ShardPlanned(slots, left=False)


def _to_look_at(world: World, shard: Shard) -> Iterator[list[str]]:
    now = world.clock.now()
    yield from world.schedules.due(shard.name, now - TICK, now + PLAN_AHEAD)
    yield from world.schedules.due(shard.name, EPOCH, now - TICK)
    yield from world.schedules.timed_otherwise(shard.name, database_version())


def plan(world: World, schedule: Schedule, until: datetime, has_time: Callable[[], bool]) -> Progress:
    """Make the jobs of a schedule's slots up to an instant; another planner's work is left to it."""
    definition = definition_of(world, schedule)
    if definition is None or schedule.state is ScheduleState.ENDED:
        return Progress(schedule, [], done=True)
    timed = retime(world, schedule, definition)
    if timed is not None and timed.is_paused(world.clock.now()):
        return _plan_after_pause(world, timed, definition, until, has_time)
    awake = end_pause(world, timed, definition, world.clock.now()) if timed and timed.paused else timed
    if awake is None:
        return Progress(schedule, [], done=False)
    return _plan(world, awake, definition, until, has_time)


def _plan_after_pause(
    world: World, schedule: Schedule, definition: Definition, until: datetime, has_time: Callable[[], bool]
) -> Progress:
    """Plan the slots that follow a pause which ends by itself soon; their jobs may start from its end on."""
    pause = schedule.paused
    if pause is None or pause.until is None or pause.until > until or pause.on_resume is OnResume.MISSED:
        return Progress(schedule, [], done=True)
    awake = replace(schedule, planned_until=max(schedule.planned_until, pause.last_until))
    return _plan(world, awake, definition, until, has_time)


def end_pause(world: World, schedule: Schedule, definition: Definition, now: datetime) -> Schedule | None:
    """Write that a pause is over, now or at its end, if that was before; `None` when another has written the schedule.

    Its slots are planned from there on.
    """
    pause = schedule.paused
    assert pause is not None, "who asks has looked"
    at = pause.ended_at(now)
    after = resumed(schedule, at, world.clock.token())
    following = next_slots(definition.timetable, after.planned_until, 1)
    after = with_next(after, coming(following[0]) if following else None)
    record = of_pause(schedule, pause, at, now + world.timing.retention)
    if world.schedules.write(schedule, after, [record]) is not None:
        return None
    world.journal.schedule(Event.SCHEDULE_RESUMED, schedule.name)
    return after


def _plan(
    world: World, schedule: Schedule, definition: Definition, until: datetime, has_time: Callable[[], bool]
) -> Progress:
    jobs, slots = list[Job](), 0
    for chunk in chunks(schedule, definition, world.clock.now(), until):
        if len(jobs) >= MOST_JOBS:
            hand_over(world, jobs)
            jobs = []
        try:
            written = _write(world, schedule, definition, chunk)
        except Unavailable:
            hand_over(world, jobs)
            raise
        if written is None:
            return Progress(schedule, jobs, done=False, slots=slots)
        schedule, jobs, slots = written.schedule, jobs + written.jobs, slots + written.slots
        if not written.done or not has_time():
            return Progress(schedule, jobs, written.done and schedule.planned_until >= until, slots)
    return Progress(schedule, jobs, done=True, slots=slots)


def definition_of(world: World, schedule: Schedule) -> Definition | None:
    """Return what a schedule means; one that cannot be read becomes broken, with the reason."""
    meaning = read_schedule(schedule)
    if not isinstance(meaning, str):
        return meaning
    reason = meaning[:MOST_REASON]
    if world.schedules.mark_broken(schedule, reason, world.clock.token()):
        world.journal.schedule(Event.SCHEDULE_BROKEN, schedule.name, reason=reason)
    return None


def _plan_page(world: World, names: Sequence[str], has_time: Callable[[], bool]) -> list[Progress]:
    """Plan some schedules side by side, then hand over what they made together: SQS takes ten at once."""
    horizon = world.clock.now() + PLAN_AHEAD
    planned = world.side_by_side(
        lambda schedule: _plan_safely(world, schedule, horizon, has_time), world.schedules.read(names)
    )
    hand_over(world, [job for progress in planned for job in progress.jobs])
    return planned


def _plan_safely(world: World, schedule: Schedule, until: datetime, has_time: Callable[[], bool]) -> Progress:
    """Plan a schedule; whatever is wrong with it stops no other, and the next tick tries again."""
    if not has_time():
        return Progress(schedule, [], done=False)
    try:
        return plan(world, schedule, until, has_time)
    except Exception as error:
        world.journal.schedule(
            Event.SCHEDULE_FAILED, schedule.name, reason=f"{type(error).__name__}: {error}"[:MOST_REASON]
        )
        return Progress(schedule, [], done=False)


def _write(world: World, schedule: Schedule, definition: Definition, chunk: Chunk) -> Progress | None:
    """Write a chunk without the slots that have their jobs; `None` when another has written the schedule."""
    taken, moved_on, done = set[str](), set[str](), True
    for tried in range(TRIES):
        after = advanced(schedule, chunk, world.clock.token())
        drafts = drafts_of(world, after, definition, chunk.runs)
        placed = [replace(job, slot=beside(job.slot)) if job.slot in moved_on else job for job in drafts]
        jobs = [job for job in placed if job.slot not in taken]
        if not jobs and not chunk.skipped and (after.next_at, after.state) == (schedule.next_at, schedule.state):
            return Progress(schedule, [], done)
        kept_until = world.clock.now() + world.timing.retention
        records = [of_skipped(after, skipped, kept_until) for skipped in chunk.skipped]
        refused = world.schedules.write(schedule, after, records, jobs)
        if refused is None:
            _tell(world, after, chunk, jobs)
            return Progress(after, jobs, done, len(jobs))
        if refused.changed:
            return None
        places = _places(world, schedule, definition, refused.not_free)
        taken, moved_on = taken | places[Place.TAKEN], moved_on | places[Place.BESIDE]
        if places[Place.BLOCKED] and tried >= PATIENCE:
            chunk, done = shortened(chunk, min(places[Place.BLOCKED])), False
        elif places[Place.BLOCKED] or places[Place.FREE]:
            world.clock.pause()
    raise Unavailable(f"the slots of {schedule.name} change faster than they can be planned")


def drafts_of(world: World, schedule: Schedule, definition: Definition, runs: Sequence[Planned]) -> list[Job]:
    """Return the jobs of slots, with the wakes that the time of this very write demands."""
    now = world.clock.now()
    drafts = [job_of(schedule, definition, run, now) for run in runs]
    return [replace(job, owner=schedule.stamp, wake=wake_at(job.run_at, now, world.timing)) for job in drafts]


def _places(world: World, schedule: Schedule, definition: Definition, jobs: Sequence[Job]) -> dict[Place, set[str]]:
    """Return the slots whose places were not free, by what is there."""
    there, now = {job.slot: job for job in world.indexes.read([job.key for job in jobs])}, world.clock.now()
    places: dict[Place, set[str]] = {place: set() for place in Place}
    for job in jobs:
        place = place_of(there.get(job.slot), schedule, job, now)
        by_instant = place is Place.BESIDE and not definition.timetable.by_local_time
        places[Place.TAKEN if by_instant else place].add(job.slot)
    return places


def _tell(world: World, schedule: Schedule, chunk: Chunk, jobs: Sequence[Job]) -> None:
    tell = world.journal.schedule
    if jobs:
        tell(Event.SLOTS_PLANNED, schedule.name, len(jobs))
    if chunk.missed:
        reasons = ", ".join(f"{skipped.count} {skipped.reason}" for skipped in chunk.skipped)
        tell(Event.SLOTS_MISSED, schedule.name, chunk.missed, reasons or "caught up")
    if schedule.state is ScheduleState.ENDED:
        tell(Event.SCHEDULE_ENDED, schedule.name)
