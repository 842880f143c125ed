"""How a schedule becomes an item and is read from one.

A row that cannot be read, whoever wrote it, is read as a broken schedule: it stops no other, and an edit mends it.
"""

import json
from collections.abc import Mapping
from dataclasses import fields as fields_of
from datetime import UTC, datetime
from typing import Any

from pynamodb.attributes import JSONAttribute, NumberAttribute, UnicodeAttribute
from pynamodb.models import Model

from onthedot.adapters.attributes import Epoch, Instant
from onthedot.adapters.items import Connected, Item
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


class ScheduleItem(Model):
    """A schedule, or (with another part) something of its history."""

    class Meta(Connected):
        """The name is set when the world is wired."""

        table_name = "Schedules"

    name = UnicodeAttribute(hash_key=True)
    part = UnicodeAttribute(range_key=True)
    shard = UnicodeAttribute(null=True)
    next_at = Instant(null=True)
    state = UnicodeAttribute(null=True)
    generation = UnicodeAttribute(null=True)
    version = NumberAttribute(null=True)
    fields = UnicodeAttribute(null=True)
    payload = UnicodeAttribute(null=True)
    payload_item = UnicodeAttribute(null=True)
    payload_size = NumberAttribute(null=True)
    payload_hash = UnicodeAttribute(null=True)
    since = Instant(null=True)
    planned_until = Instant(null=True)
    paced_until = Instant(null=True)
    created_at = Instant(null=True)
    changed_at = Instant(null=True)
    changed_by = UnicodeAttribute(null=True)
    stamp = UnicodeAttribute(null=True)
    paused = JSONAttribute(null=True)
    broken = UnicodeAttribute(null=True)
    tzdata = UnicodeAttribute(null=True)
    next_local = UnicodeAttribute(null=True)
    resumed_at = Instant(null=True)
    busy = UnicodeAttribute(null=True)
    waiting = UnicodeAttribute(null=True)


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
    attributes = ScheduleItem.get_attributes()
    return {
        name: {attributes[name].attr_type: attributes[name].serialize(value)}
        for name, value in values.items()
        if value is not None
    }


def schedule_of(item: Mapping[str, Any]) -> Schedule:
    """Return the schedule that an item holds; a broken one when it cannot be read."""
    try:
        return _read(ScheduleItem.from_raw_data(dict(item)))
    except UNREADABLE as error:
        return _broken(item, f"its row cannot be read: {type(error).__name__}: {error}"[:400])


def record_item(record: Record) -> Item:
    """Return the item of something that is kept of a schedule's past."""
    return {
        "name": {"S": record.name},
        "part": {"S": record.part},
        "facts": {"S": json.dumps(record.facts, separators=(",", ":"), ensure_ascii=False)},
        "expires_at": {"N": Epoch().serialize(record.kept_until)},
    }


def record_of(item: Mapping[str, Any]) -> Record:
    """Return what an item keeps of a schedule's past."""
    kept_until = Epoch().deserialize(item["expires_at"]["N"])
    return Record(item["name"]["S"], item["part"]["S"], json.loads(item["facts"]["S"]), kept_until)


def _read(model: ScheduleItem) -> Schedule:
    facts: dict[str, Any] = {name: getattr(model, name) for name in ALIKE}
    fields, text = json.loads(model.fields), model.payload
    schedule = Schedule(
        **facts,
        state=ScheduleState(model.state),
        version=int(model.version),
        fields=fields,
        payload=Payload(int(model.payload_size or len((text or "").encode())), text, model.payload_item),
        paused=None if model.paused is None else _pause(model.paused),
    )
    missing = [name for name in REQUIRED if getattr(schedule, name) is None]
    if missing or not isinstance(fields, dict) or (text is None and model.payload_item is None):
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
