"""How a schedule is shown: what was written, as it was written, with the defaults of what was left out."""

from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Any

from onthedot.http.json_text import Raw
from onthedot.http.schedule_models import ScheduleRequest
from onthedot.rules.clock_changes import warnings
from onthedot.rules.definitions import Definition, with_defaults
from onthedot.rules.history import Record
from onthedot.rules.instants import MILLISECOND, from_text, shown
from onthedot.rules.missed import Planned, Skipped, planned_from
from onthedot.rules.reading import read_schedule, state_of
from onthedot.rules.schedules import Pause, Schedule, ScheduleState

SHOWN = 5
ENDED = "it has no further slot"


def schedule_view(schedule: Schedule, payload: str | None, now: datetime) -> dict[str, Any]:
    """Return the Schedule of `api.md`; without a payload when its item is gone."""
    meaning = read_schedule(schedule)
    definition, fault = (None, meaning) if isinstance(meaning, str) else (meaning, None)
    state = state_of(schedule, meaning, now)
    written = with_defaults(schedule.fields) | {"payload": Raw(payload) if payload is not None else None}
    view = {
        "name": schedule.name,
        **{name: written[name] for name in ScheduleRequest.model_fields if name in written},
        "state": state.value,
        "version": schedule.version,
        "created_at": shown(schedule.created_at),
        "changed_at": shown(schedule.changed_at),
        "changed_by": schedule.changed_by,
        "next": [next_view(each) for each in _next(schedule, definition, state, now)],
        "warnings": _warnings(definition, state, now),
        "paused": _pause(schedule.paused) if state is ScheduleState.PAUSED else None,
        "broken": fault,
    }
    return {name: value for name, value in view.items() if value is not None}


def next_view(planned: Planned) -> dict[str, str]:
    """Return a slot that comes, in UTC and as clocks there show it, and when its job may start."""
    slot = planned.slot
    return {"slot": shown(slot.instant), "local_slot": slot.local_text, "run_at": shown(planned.run_at)}


def run_view(run: Planned) -> dict[str, str]:
    """Return a slot that runs, and when."""
    return {"slot": shown(run.slot.instant), "at": shown(run.run_at)}


def skipped_view(part: Skipped) -> dict[str, Any]:
    """Return neighbouring slots that do not run, the first and the last of them, and why."""
    return {"from": shown(part.first), "to": shown(part.last), "count": part.count, "reason": part.reason}


def version_view(record: Record) -> dict[str, Any]:
    """Return a former version of a schedule, as it was written."""
    facts = record.facts
    return {
        **facts["fields"],
        "version": facts["version"],
        "since": shown(from_text(facts["since"])),
        "until": shown(from_text(facts["until"])),
        "created_at": shown(from_text(facts["created_at"])),
        "changed_by": facts["changed_by"],
    }


def current_view(schedule: Schedule) -> dict[str, Any]:
    """Return the version that is in force, as it was written."""
    return {
        **schedule.fields,
        "version": schedule.version,
        "since": shown(schedule.since),
        "created_at": shown(schedule.created_at),
        "changed_by": schedule.changed_by,
    }


def _next(schedule: Schedule, definition: Definition | None, state: ScheduleState, now: datetime) -> Iterator[Planned]:
    """Return the slots that come: those after the pause, if it ends by itself."""
    until = schedule.paused.until if schedule.paused else None
    match state:
        case ScheduleState.ACTIVE if definition:
            return islice(planned_from(definition.timetable, now + MILLISECOND), SHOWN)
        case ScheduleState.PAUSED if definition and until:
            return islice(planned_from(definition.timetable, until), SHOWN)
    return iter(())


def _warnings(definition: Definition | None, state: ScheduleState, now: datetime) -> list[str]:
    if definition is None:
        return []
    return warnings(definition.timetable, now) + ([ENDED] if state is ScheduleState.ENDED else [])


def _pause(pause: Pause | None) -> dict[str, str] | None:
    if pause is None:
        return None
    facts = {
        "since": shown(pause.since),
        "until": shown(pause.until) if pause.until else None,
        "reason": pause.reason,
        "by": pause.by,
    }
    return {name: value for name, value in facts.items() if value is not None}
