"""What crosses a queue, versioned: a reader is deployed before its writer, and a message may be two weeks old."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from onthedot.rules.agenda import MOST_SHARDS, Entry
from onthedot.rules.instants import from_text, to_text

VERSION = 1
LONGEST_KEYS = 2048, 1024
"""What DynamoDB takes. Units: bytes. Source: docs.aws.amazon.com/amazondynamodb, ServiceQuotas (read 2026-11-29)."""
COMPACT = json.JSONEncoder(separators=(",", ":"))
"""Made once: to make one for each message is a fifth of what the message costs."""
SHARDS = frozenset(str(number) for number in range(MOST_SHARDS))


@dataclass(frozen=True, slots=True)
class ShardMessage:
    """Asks a dispatcher to look at one shard.

    One that had work left says under which `lease` to go on, where it had `swept` to, and how many `hops` it was.
    """

    shard: str
    ticked_at: datetime
    hops: int = 0
    lease: str | None = None
    swept: str | None = None


def job_text(entry: Entry) -> str:
    """Return the message that wakes a job."""
    return _compact({"v": VERSION, "schedule": entry.schedule, "slot": entry.slot, "wake": to_text(entry.wake)})


def read_job(text: str) -> Entry | None:
    """Return what a message wakes; `None` when it is no job."""
    match _object(text):
        case {"v": 1, "schedule": str(schedule), "slot": str(slot), "wake": str(wake)} if _is_key(schedule, slot):
            return _entry(wake, schedule, slot)
    return None


def shard_text(message: ShardMessage) -> str:
    """Return the message that asks a dispatcher to look at a shard."""
    return _compact(
        {
            "v": VERSION,
            "shard": message.shard,
            "ticked_at": to_text(message.ticked_at),
            "hops": message.hops,
            "lease": message.lease,
            "swept": message.swept,
        }
    )


def read_shard(text: str) -> ShardMessage:
    """Return the message of a tick, or of a dispatcher that had work left.

    Raises: ValueError when it is none; the queue then drops it within two minutes, and the next tick brings another.
    """
    match _object(text):
        case {
            "v": 1,
            "shard": str(shard),
            "ticked_at": str(at),
            "hops": int(hops),
            "lease": str() | None as lease,
            "swept": str() | None as swept,
        } if shard in SHARDS:
            return ShardMessage(shard, from_text(at), hops, lease, swept)
    raise ValueError(f"not a shard message: {text[:200]}")


def _compact(value: dict[str, Any]) -> str:
    return COMPACT.encode(value)


def _object(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is_key(schedule: str, slot: str) -> bool:
    """Tell whether DynamoDB takes the key: a message that it refuses each time would come back for days."""
    try:
        sizes = len(schedule.encode()), len(slot.encode())
    except UnicodeEncodeError:
        return False
    return "#" in schedule and all(0 < size <= longest for size, longest in zip(sizes, LONGEST_KEYS, strict=True))


def _entry(wake: str, schedule: str, slot: str) -> Entry | None:
    try:
        return Entry(from_text(wake), schedule, slot)
    except ValueError:
        return None
