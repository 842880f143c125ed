"""How a schedule becomes an item and is read from one.

A row that cannot be read, whoever wrote it, is read as a broken schedule: it stops no other, and an edit mends it.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import fields as fields_of
from datetime import UTC, datetime
from typing import Any

from onthedot.adapters.attributes import INSTANT, JSON, NUMBER, TEXT, Kinds, epoch_text, from_epoch, read, write
from onthedot.adapters.items import Item
from onthedot.rules.agenda import shard_of
from onthedot.rules.history import Record
from onthedot.rules.instants import from_text, to_text
from onthedot.rules.jobs import Payload
from onthedot.rules.schedules import OnResume, Pause, Schedule, ScheduleState

PART = "schedule"
"""The part of a schedule's row; every other part is history."""
UNREADABLE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
UNKNOWN = datetime(1970, 1, 1, tzinfo=UTC)
ALIKE = (
    *("name", "generation", "payload_hash", "since", "planned_until", "created_at", "changed_at", "changed_by"),
    *("stamp", "next_at", "paced_until", "broken", "tzdata", "next_local", "resumed_at", "busy", "waiting"),
)
"""What a schedule and its item call alike."""


SCHEDULE: Kinds = {
    "name": TEXT,
    "part": TEXT,
    "shard": TEXT,
    "next_at": INSTANT,
    "state": TEXT,
    "generation": TEXT,
    "version": NUMBER,
    "fields": TEXT,
    "payload": TEXT,
    "payload_item": TEXT,
    "payload_size": NUMBER,
    "payload_hash": TEXT,
    "since": INSTANT,
    "planned_until": INSTANT,
    "paced_until": INSTANT,
    "created_at": INSTANT,
    "changed_at": INSTANT,
    "changed_by": TEXT,
    "stamp": TEXT,
    "paused": JSON,
    "broken": TEXT,
    "tzdata": TEXT,
    "next_local": TEXT,
    "resumed_at": INSTANT,
    "busy": TEXT,
    "waiting": TEXT,
}
"""What a schedule's row may hold."""


def row_key(name: str) -> Item:
    """Return the key of a schedule's row."""
    return {"name": {"S": name}, "part": {"S": PART}}


def schedule_item(schedule: Schedule, shards: int) -> Item:
    """Return the schedule's item; what has no value is not in it."""
    values: dict[str, Any] = {
        **{name: getattr(schedule, name) for name in ALIKE},
        "part": PART,
        "shard": shard_of(schedule.key, shards),
        "state": schedule.state.value,
        "version": schedule.version,
        "fields": json.dumps(schedule.fields, separators=(",", ":"), ensure_ascii=False),
        "payload": schedule.payload.text,
        "payload_item": schedule.payload.stored_as,
        "payload_size": schedule.payload.size if schedule.payload.stored_as else None,
        "paused": _pause_facts(schedule.paused),
    }
    return write(SCHEDULE, values)


def schedule_of(item: Mapping[str, Any]) -> Schedule:
    """Return the schedule that an item holds; a broken one when it cannot be read."""
    try:
        return _read(read(SCHEDULE, item))
    except UNREADABLE as error:
        return _broken(item, f"its row cannot be read: {type(error).__name__}: {error}"[:400])


def record_item(record: Record) -> Item:
    """Return the item of something that is kept of a schedule's past."""
    return {
        "name": {"S": record.name},
        "part": {"S": record.part},
        "facts": {"S": json.dumps(record.facts, separators=(",", ":"), ensure_ascii=False)},
        "expires_at": {"N": epoch_text(record.kept_until)},
    }


def record_of(item: Mapping[str, Any]) -> Record:
    """Return what an item keeps of a schedule's past."""
    kept_until = from_epoch(item["expires_at"]["N"])
    return Record(item["name"]["S"], item["part"]["S"], json.loads(item["facts"]["S"]), kept_until)


def _read(row: Mapping[str, Any]) -> Schedule:
    found: Callable[[str], Any] = row.get
    fields, text = json.loads(row["fields"]), found("payload")
    schedule = Schedule(
        **{name: found(name) for name in ALIKE},
        state=ScheduleState(found("state")),
        version=int(row["version"]),
        fields=fields,
        payload=Payload(int(found("payload_size") or len((text or "").encode())), text, found("payload_item")),
        paused=None if found("paused") is None else _pause(row["paused"]),
    )
    missing = [name for name in REQUIRED if getattr(schedule, name) is None]
    if missing or not isinstance(fields, dict) or (text is None and found("payload_item") is None):
        raise ValueError(f"it lacks {', '.join(missing) or 'its definition'}")
    return schedule


REQUIRED = tuple(field.name for field in fields_of(Schedule) if "None" not in str(field.type))
"""What every schedule has."""


def _broken(item: Mapping[str, Any], reason: str) -> Schedule:
    """Return what can be known of a row that cannot be read."""
    return Schedule(
        name=item["name"]["S"],
        generation="",
        version=_version(item),
        state=ScheduleState.BROKEN,
        fields={},
        payload=_payload(item),
        payload_hash="",
        since=UNKNOWN,
        planned_until=UNKNOWN,
        created_at=UNKNOWN,
        changed_at=UNKNOWN,
        changed_by="unknown",
        stamp=str(item.get("stamp", {}).get("S", "")),
        broken=reason,
    )


def _payload(item: Mapping[str, Any]) -> Payload:
    """Return the payload, or where it lies, so that whoever mends the row lets it expire."""
    text, name = (item.get(key, {}).get("S") for key in ("payload", "payload_item"))
    return Payload(0, stored_as=name) if name else Payload(len((text or "null").encode()), text or "null")


def _version(item: Mapping[str, Any]) -> int:
    text = str(item.get("version", {}).get("N", "0"))
    return int(text) if text.isdigit() else 0


def _pause_facts(pause: Pause | None) -> dict[str, Any] | None:
    if pause is None:
        return None
    return {
        "since": to_text(pause.since),
        "until": to_text(pause.until) if pause.until else None,
        "reason": pause.reason,
        "by": pause.by,
        "on_resume": pause.on_resume.value,
    }


def _pause(facts: Mapping[str, Any]) -> Pause:
    until = facts["until"]
    return Pause(
        since=from_text(facts["since"]),
        until=from_text(until) if until else None,
        reason=facts["reason"],
        by=facts["by"],
        on_resume=OnResume(facts["on_resume"]),
    )
