"""Reading: what a stored schedule means now, or why that cannot be read; and so in which state it is."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from onthedot.rules.definitions import Definition, define, read_stored
from onthedot.rules.errors import Fault
from onthedot.rules.inputs import Malformed
from onthedot.rules.schedules import Schedule, ScheduleState


def read_schedule(schedule: Schedule) -> Definition | str:
    """Return what a schedule means, or the reason why that cannot be read."""
    if schedule.broken:
        return schedule.broken
    return read_fields(schedule.name, schedule.fields, schedule.created_at)


def read_fields(name: str, stored: Mapping[str, Any], born_at: datetime) -> Definition | str:
    """Return what stored fields mean, or the reason why that cannot be read."""
    faults: list[Fault] = []
    try:
        definition = define(name, read_stored(stored), born_at, faults)
    except Malformed as error:
        return str(error)
    if definition is not None:
        return definition
    return "; ".join(f"{fault.field} {fault.message}" for fault in faults) or "it has no definition"


def state_of(schedule: Schedule, meaning: Definition | str, now: datetime) -> ScheduleState:
    """Return the state that a schedule is in now, whether or not somebody has written that down already."""
    if isinstance(meaning, str):
        return ScheduleState.BROKEN
    if schedule.paused is None:
        return schedule.state
    return ScheduleState.PAUSED if schedule.is_paused(now) else ScheduleState.ACTIVE
