"""The items of the tables: which attributes they have, and how a job becomes one and is read from one.

Names are whole words: at 1 KB an item, with its payload inside, has room for them.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from pynamodb.attributes import BooleanAttribute, JSONAttribute, NumberAttribute, UnicodeAttribute
from pynamodb.indexes import GlobalSecondaryIndex, IncludeProjection, KeysOnlyProjection
from pynamodb.models import Model

from onthedot.adapters.attributes import Epoch, Instant, Span
from onthedot.adapters.aws import CONNECT_SECONDS, CONNECTIONS, READ_SECONDS, TRIES
from onthedot.rules.agenda import Entry, group_partition, shard_of
from onthedot.rules.jobs import Job, Payload, Retry, State
from onthedot.rules.past import facts_of, past_of

Item = dict[str, dict[str, Any]]
"""An item as DynamoDB speaks it: `{name: {type: value}}`."""


class Connected:
    """How PynamoDB reaches AWS: as every other client does."""

    connect_timeout_seconds = CONNECT_SECONDS
    read_timeout_seconds = READ_SECONDS
    max_retry_attempts = TRIES - 1
    max_pool_connections = CONNECTIONS


class AgendaIndex(GlobalSecondaryIndex["JobItem"]):  # type: ignore[no-untyped-call]
    """The jobs without an outcome."""

    class Meta:
        """Keys only: what wakes is decided by the job itself."""

        index_name = "agenda"
        projection = KeysOnlyProjection()

    shard = UnicodeAttribute(hash_key=True)
    agenda = UnicodeAttribute(range_key=True)


class GroupsIndex(GlobalSecondaryIndex["JobItem"]):  # type: ignore[no-untyped-call]
    """The jobs that have a group."""

    class Meta:
        """Keys only: a change of state writes nothing here."""

        index_name = "groups"
        projection = KeysOnlyProjection()

    group_key = UnicodeAttribute(hash_key=True)
    grouped = UnicodeAttribute(range_key=True)


class DeadIndex(GlobalSecondaryIndex["JobItem"]):  # type: ignore[no-untyped-call]
    """The dead jobs."""

    class Meta:
        """With the handler, by which the dead are looked for."""

        index_name = "dead"
        projection = IncludeProjection(["handler"])

    shard = UnicodeAttribute(hash_key=True)
    dead = UnicodeAttribute(range_key=True)


class JobItem(Model):
    """A job, or (with only the keys, `payload` and `expires_at`) the payload of one."""

    class Meta(Connected):
        """The name is set when the world is wired."""

        table_name = "Jobs"

    schedule = UnicodeAttribute(hash_key=True)
    slot = UnicodeAttribute(range_key=True)
    state = UnicodeAttribute(null=True)
    handler = UnicodeAttribute(null=True)
    run_at = Instant(null=True)
    request = UnicodeAttribute(null=True)
    created_at = Instant(null=True)
    generation = UnicodeAttribute(null=True)
    version = NumberAttribute(null=True)
    local_slot = UnicodeAttribute(null=True)
    fold = NumberAttribute(null=True)
    meant = UnicodeAttribute(null=True)
    overlap = UnicodeAttribute(null=True)
    pinned = BooleanAttribute(null=True)
    timeout = Span(null=True)
    retry = JSONAttribute(null=True)
    start_within = Span(null=True)
    start_before = Instant(null=True)
    revived_at = Instant(null=True)
    attempt = NumberAttribute(null=True)
    past = JSONAttribute(null=True)
    stop = BooleanAttribute(null=True)
    owner = UnicodeAttribute(null=True)
    lease_until = Epoch(null=True)
    started_at = Instant(null=True)
    finished_at = Instant(null=True)
    result = UnicodeAttribute(null=True)
    error = UnicodeAttribute(null=True)
    reason = UnicodeAttribute(null=True)
    expires_at = Epoch(null=True)
    payload = UnicodeAttribute(null=True)
    payload_item = UnicodeAttribute(null=True)
    payload_size = NumberAttribute(null=True)
    payload_until = Instant(null=True)
    shard = UnicodeAttribute(null=True)
    agenda = UnicodeAttribute(null=True)
    group_key = UnicodeAttribute(null=True)
    grouped = UnicodeAttribute(null=True)
    dead = UnicodeAttribute(null=True)

    by_agenda = AgendaIndex()
    by_group = GroupsIndex()
    by_death = DeadIndex()


class ShardItem(Model):
    """How far a shard's agenda was handed over, and who may go on."""

    class Meta(Connected):
        """The name is set when the world is wired."""

        table_name = "Shards"

    shard = UnicodeAttribute(hash_key=True)
    watermark = UnicodeAttribute(null=True)
    lease = UnicodeAttribute(null=True)
    lease_until = Instant(null=True)
    ticked_at = Instant(null=True)
    swept_at = Instant(null=True)


def job_key(schedule: str, slot: str) -> Item:
    """Return the key of a job, or of what lies beside it, in the jobs table."""
    return {"schedule": {"S": schedule}, "slot": {"S": slot}}


def item_of(job: Job, shards: int) -> Item:
    """Return the job's item; what has no value is not in it."""
    attributes = JobItem.get_attributes()
    return {
        name: {attributes[name].attr_type: attributes[name].serialize(value)}
        for name, value in _values(job, shards).items()
        if value is not None
    }


def job_of(item: Mapping[str, Any]) -> Job:
    """Return the job that an item holds."""
    return job_of_model(JobItem.from_raw_data(dict(item)))


def job_of_model(model: JobItem) -> Job:
    """Return the job that PynamoDB read."""
    facts = {name: getattr(model, name) for name in PLAIN}
    text = model.payload
    size = len(text.encode()) if text is not None else int(model.payload_size or 0)
    return Job(
        **facts,
        state=State(model.state),
        attempt=int(model.attempt or 0),
        past=past_of(model.past or ()),
        version=None if model.version is None else int(model.version),
        fold=None if model.fold is None else int(model.fold),
        wake=Entry.parse(model.agenda).wake if model.agenda else None,
        group=model.group_key.rpartition("#")[0] if model.group_key else None,
        retry=None if model.retry is None else Retry(**model.retry),
        payload=Payload(size, text, model.payload_item, model.payload_until),
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
