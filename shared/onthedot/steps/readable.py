"""Readable: a schedule and what it means, or why nothing can be done with it."""

from dataclasses import dataclass, replace

from onthedot.rules.definitions import Definition
from onthedot.rules.reading import read_schedule
from onthedot.rules.schedules import Schedule
from onthedot.steps.plan import definition_of
from onthedot.steps.ports import World


@dataclass(frozen=True, slots=True)
class Readable:
    """A schedule as it is now, and what it means."""

    schedule: Schedule
    definition: Definition


@dataclass(frozen=True, slots=True)
class Impossible:
    """Nothing was changed: the schedule is broken, and must be mended first, or its pause must end."""

    schedule: Schedule


def readable(world: World, name: str) -> Readable | Impossible | None:
    """Return a schedule with its meaning; `None` when there is none."""
    schedule = world.schedules.get(name)
    if schedule is None:
        return None
    definition = definition_of(world, schedule)
    if definition is None:
        return Impossible(replace(schedule, broken=str(read_schedule(schedule))))
    return Readable(schedule, definition)
