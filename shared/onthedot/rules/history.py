"""What is kept of a schedule's past, until the retention: its former versions, its pauses, its skipped slots."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from onthedot.rules.instants import MILLISECOND, to_text, up_to_second
from onthedot.rules.ledger import A_DAY
from onthedot.rules.missed import Skipped
from onthedot.rules.schedules import Pause, Schedule

VERSION, PAUSE, SKIPPED, MOVED = "version", "pause", "skipped", "moved"
"""The kinds of records."""
LEFT_BEHIND = "its timetable was edited before it could be planned"
DELETED = "its schedule was deleted before it could be planned"


@dataclass(frozen=True, slots=True)
class Record:
    """One thing that was: `part` is its place beside the schedule's row, in order of time within a kind."""

    name: str
    part: str
    facts: Mapping[str, Any]
    kept_until: datetime


def of_version(schedule: Schedule, ended_at: datetime, kept_until: datetime) -> Record:
    """Return the record of the version that an edit or a deletion ends now."""
    facts = {
        "generation": schedule.generation,
        "version": schedule.version,
        "since": to_text(schedule.since),
        "until": to_text(ended_at),
        "created_at": to_text(schedule.created_at),
        "changed_by": schedule.changed_by,
        "fields": dict(schedule.fields),
    }
    return _record(schedule, VERSION, schedule.since, str(schedule.version), facts, kept_until)


def of_pause(schedule: Schedule, pause: Pause, ended_at: datetime, kept_until: datetime) -> Record:
    """Return the record of a pause that ends."""
    facts = {
        "since": to_text(pause.since),
        "until": to_text(ended_at),
        "reason": pause.reason,
        "by": pause.by,
        "on_resume": pause.on_resume.value,
    }
    return _record(schedule, PAUSE, pause.since, schedule.generation, facts, kept_until)


def of_skipped(schedule: Schedule, skipped: Skipped, kept_until: datetime) -> Record:
    """Return the record of slots, one after the other, that never became jobs."""
    facts = {
        "from": to_text(skipped.first),
        "to": to_text(skipped.last),
        "count": skipped.count,
        "reason": skipped.reason,
        "version": schedule.version,
    }
    return _record(schedule, SKIPPED, skipped.first, schedule.generation, facts, kept_until)


def of_move(schedule: Schedule, at: datetime, database: str, kept_until: datetime) -> Record:
    """Return the record of another time zone database, by which the slots from then on are timed.

    It speaks of slots up to a day later, and is kept for as long as these.
    """
    facts = {"at": to_text(at), "from": schedule.tzdata, "to": database}
    return _record(schedule, MOVED, at, schedule.generation, facts, kept_until + A_DAY)


def of_left_behind(schedule: Schedule, reason: str, at: datetime, kept_until: datetime) -> Record:
    """Return the record of the slots that a change left unplanned: those of a pause, or when broken."""
    facts = {
        "from": to_text(schedule.planned_until + MILLISECOND),
        "to": to_text(at),
        "reason": reason,
        "version": schedule.version,
    }
    return _record(schedule, SKIPPED, schedule.planned_until, schedule.generation, facts, kept_until)


def _record(
    schedule: Schedule, kind: str, at: datetime, mark: str, facts: Mapping[str, Any], kept_until: datetime
) -> Record:
    return Record(schedule.name, f"{kind}#{to_text(at)}#{mark}", facts, up_to_second(kept_until))
