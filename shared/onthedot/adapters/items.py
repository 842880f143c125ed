"""The items of the tables: which attributes they have, and how a job becomes one and is read from one.

Names are whole words: at 1 KB an item, with its payload inside, has room for them.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from onthedot.adapters.attributes import (
    INSTANT,
    JSON,
    NUMBER,
    SECONDS,
    SINCE_1970,
    TEXT,
    TRUTH,
    Kinds,
    read,
    write,
)
from onthedot.rules.agenda import Entry, group_partition, shard_of
from onthedot.rules.jobs import Job, Payload, Retry, State
from onthedot.rules.past import facts_of, past_of

Item = dict[str, dict[str, Any]]
"""An item as DynamoDB speaks it: `{name: {type: value}}`."""

JOB: Kinds = {
    "schedule": TEXT,
    "slot": TEXT,
    "state": TEXT,
    "handler": TEXT,
    "run_at": INSTANT,
    "request": TEXT,
    "created_at": INSTANT,
    "generation": TEXT,
    "version": NUMBER,
    "local_slot": TEXT,
    "fold": NUMBER,
    "meant": TEXT,
    "overlap": TEXT,
    "pinned": TRUTH,
    "timeout": SECONDS,
    "retry": JSON,
    "start_within": SECONDS,
    "start_before": INSTANT,
    "revived_at": INSTANT,
    "attempt": NUMBER,
    "past": JSON,
    "stop": TRUTH,
    "owner": TEXT,
    "lease_until": SINCE_1970,
    "started_at": INSTANT,
    "finished_at": INSTANT,
    "result": TEXT,
    "error": TEXT,
    "reason": TEXT,
    "expires_at": SINCE_1970,
    "payload": TEXT,
    "payload_item": TEXT,
    "payload_size": NUMBER,
    "payload_until": INSTANT,
    "shard": TEXT,
    "agenda": TEXT,
    "group_key": TEXT,
    "grouped": TEXT,
    "dead": TEXT,
}
"""A job, or (with only the keys, `payload` and `expires_at`) the payload of one."""

SHARD: Kinds = {
    "shard": TEXT,
    "watermark": TEXT,
    "lease": TEXT,
    "lease_until": INSTANT,
    "ticked_at": INSTANT,
    "swept_at": INSTANT,
}
"""How far a shard's agenda was handed over, and who may go on."""


def job_key(schedule: str, slot: str) -> Item:
    """Return the key of a job, or of what lies beside it, in the jobs table."""
    return {"schedule": {"S": schedule}, "slot": {"S": slot}}


def item_of(job: Job, shards: int) -> Item:
    """Return the job's item; what has no value is not in it."""
    return write(JOB, _values(job, shards))


def job_of(item: Mapping[str, Any]) -> Job:
    """Return the job that an item holds."""
    facts = read(JOB, item)
    found: Callable[[str], Any] = facts.get
    text = found("payload")
    version, fold, retry, agenda, group = map(found, ("version", "fold", "retry", "agenda", "group_key"))
    size = len(text.encode()) if text is not None else int(found("payload_size") or 0)
    return Job(
        **{name: found(name) for name in PLAIN},
        state=State(found("state")),
        attempt=int(found("attempt") or 0),
        past=past_of(found("past") or ()),
        version=None if version is None else int(version),
        fold=None if fold is None else int(fold),
        wake=Entry.parse(agenda).wake if agenda else None,
        group=group.rpartition("#")[0] if group else None,
        retry=None if retry is None else Retry(**retry),
        payload=Payload(size, text, found("payload_item"), found("payload_until")),
    )


PLAIN = (
    "schedule",
    "slot",
    "handler",
    "run_at",
    "request",
    "created_at",
    "generation",
    "local_slot",
    "meant",
    "overlap",
    "pinned",
    "timeout",
    "start_within",
    "start_before",
    "revived_at",
    "stop",
    "owner",
    "lease_until",
    "started_at",
    "finished_at",
    "result",
    "error",
    "reason",
    "expires_at",
)
"""What a job and its item call alike."""


def _values(job: Job, shards: int) -> dict[str, Any]:
    payload = job.payload
    return {
        **{name: getattr(job, name) for name in PLAIN},
        "state": job.state.value,
        "attempt": job.attempt,
        "past": facts_of(job.past) or None,
        "version": job.version,
        "fold": job.fold,
        "retry": _retry_facts(job.retry),
        "payload": payload.text,
        "payload_item": payload.stored_as,
        "payload_size": payload.size if payload.stored_as else None,
        "payload_until": payload.kept_until,
        "shard": shard_of(job.schedule, shards),
        "agenda": job.entry,
        "group_key": group_partition(job.group, job.schedule, job.slot) if job.group else None,
        "grouped": str(Entry(job.created_at, job.schedule, job.slot)) if job.group else None,
        "dead": _death(job),
    }


def _retry_facts(retry: Retry | None) -> dict[str, float] | None:
    return None if retry is None else {name: value for name, value in asdict(retry).items() if value is not None}


def _death(job: Job) -> str | None:
    if job.state is not State.DEAD or job.finished_at is None:
        return None
    return str(Entry(job.finished_at, job.schedule, job.slot))
