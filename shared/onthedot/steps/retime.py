"""Retime: move what a new time zone database moves, before it is due, and tell of each schedule that moved.

An index says by which database each schedule of a shard is timed. Each look goes through those that another than the
one in use has timed, also when a function that is still warm with the old one wrote them just now; and whoever plans
one that was not retimed yet retimes it first.
"""

from dataclasses import replace
from datetime import datetime

from onthedot.rules.definitions import Definition
from onthedot.rules.events import Event
from onthedot.rules.history import of_move
from onthedot.rules.instants import shown
from onthedot.rules.missed import EVER
from onthedot.rules.retiming import LOOK_BACK, Retimed, retimed, with_stand_ins
from onthedot.rules.schedules import Schedule
from onthedot.rules.zones import database_version
from onthedot.steps.finding import jobs_between
from onthedot.steps.ports import World


def retime(world: World, schedule: Schedule, definition: Definition) -> Schedule | None:
    """Return a schedule as the database in use has it; `None` when another has written it meanwhile."""
    database = database_version()
    if schedule.tzdata == database:
        return schedule
    now = world.clock.now()
    ahead = list(jobs_between(world, schedule.key, now, EVER))
    result = retimed(schedule, definition.timetable, ahead, now, database)
    may_differ = result.moved is not None or schedule.paused is not None
    if may_differ and definition.timetable.by_local_time:
        result = _with_stand_ins(world, result, definition, now)
    after = replace(result.schedule, stamp=world.clock.token())
    records = [of_move(schedule, now, database, now + world.timing.retention)] if may_differ else []
    if world.schedules.write(schedule, after, records, result.stand_ins, result.withdrawn) is not None:
        return None
    if result.moved:
        was, will = shown(result.moved.at), shown(after.next_at) if after.next_at else "never"
        reason = f"next {was} is now {will}, by the time zones of {database} and no longer {schedule.tzdata}"
        world.journal.schedule(Event.SCHEDULE_MOVED, schedule.name, reason=reason)
    return after


def _with_stand_ins(world: World, result: Retimed, definition: Definition, now: datetime) -> Retimed:
    jobs = list(jobs_between(world, result.schedule.key, result.schedule.planned_until - LOOK_BACK, EVER))
    return with_stand_ins(result, definition.timetable, jobs, now, world.timing.retention)
