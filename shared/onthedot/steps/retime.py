"""Retime: move what a new time zone database moves, before it is due, and tell of each schedule that moved.

A shard notes by which database its schedules are timed. After a deployment with another, its dispatcher goes through
all of them; and whoever plans one that was not retimed yet retimes it first.
"""

from dataclasses import replace
from itertools import islice

from onthedot.rules.definitions import Definition
from onthedot.rules.events import Event
from onthedot.rules.history import of_move
from onthedot.rules.instants import shown
from onthedot.rules.planning import MOST_JOBS
from onthedot.rules.retiming import retimed
from onthedot.rules.schedules import Schedule
from onthedot.rules.zones import database_version
from onthedot.steps.finding import untouched_jobs
from onthedot.steps.ports import World


def retime(world: World, schedule: Schedule, definition: Definition) -> Schedule | None:
    """Return a schedule as the database in use has it; `None` when another has written it meanwhile."""
    database = database_version()
    if schedule.tzdata == database:
        return schedule
    now = world.clock.now()
    ahead = list(islice(untouched_jobs(world, schedule.key, now), MOST_JOBS))
    result = retimed(schedule, definition.timetable, ahead, now, database)
    after = replace(result.schedule, stamp=world.clock.token())
    records = [of_move(schedule, now, database, now + world.timing.retention)] if result.moved else []
    if world.schedules.write(schedule, after, records, withdrawn=result.withdrawn) is not None:
        return None
    if result.moved:
        was, will = (shown(row.next_at) if row.next_at else "never" for row in (schedule, after))
        reason = f"next {was} is now {will}, by the time zones of {database} and no longer {schedule.tzdata}"
        world.journal.schedule(Event.SCHEDULE_MOVED, schedule.name, reason=reason)
    return after
