"""Worker: messages worked on for each CPU second around a handler that does nothing, and the calls that each takes."""

import json
from datetime import timedelta
from typing import Any

import worker
from benchmarks import bare
from benchmarks.canned import SHARDS, Answer, Call, always, canned
from benchmarks.context import Context
from benchmarks.rows import Row, compared, per_cpu_second
from onthedot.adapters.items import item_of
from onthedot.clock import SystemClock
from onthedot.messages import job_text
from onthedot.rules.agenda import Entry
from onthedot.rules.jobs import ONE_SLOT, Job, Payload, State

ROUNDS, MESSAGES = 5, 1_000
LEASE = timedelta(seconds=75)
"""A timeout by default, and the margin."""
BARE_CALLS = 3
"""A write to start, one to finish, and one that hides the message meanwhile."""


def rows() -> list[Row]:
    """Measure messages that come one by one, as they do by default."""
    calls = _calls()

    def ours() -> float:
        return _rate()

    def same_calls_bare() -> float:
        return bare.rate(calls, 1, MESSAGES, _answers())

    (row,) = compared("worker, CPU", "jobs/CPU s", ROUNDS, ours, same_calls_bare=same_calls_bare)
    return [row, Row("worker, calls", len(calls), "calls/job", "start-hide-finish", len(calls) / BARE_CALLS)]


def _rate() -> float:
    with canned(_answers()) as (_, calls):
        worker.handler(_event(), Context())
        rate = per_cpu_second(MESSAGES, lambda: [worker.handler(_event(), Context()) for _ in range(MESSAGES)])
    assert len(calls) == (MESSAGES + 1) * BARE_CALLS, "each was started and finished"
    return rate


def _calls() -> list[Call]:
    with canned(_answers()) as (_, calls):
        worker.handler(_event(), Context())
        return list(calls)


def _answers() -> dict[str, Answer]:
    now = SystemClock().now()
    job = Job(
        schedule="job#a",
        slot=ONE_SLOT,
        state=State.RUNNING,
        handler="example.echo",
        run_at=now,
        wake=now + timedelta(minutes=5),
        payload=Payload(4, "null"),
        request="0" * 32,
        created_at=now,
        attempt=1,
        owner="0" * 24,
        started_at=now,
        lease_until=now + LEASE,
    )
    started, done = always({"Attributes": item_of(job, SHARDS)}), always({})
    return {
        "UpdateItem": lambda body: (started if b'"ALL_NEW"' in body else done)(body),
        "ChangeMessageVisibility": done,
    }


def _event() -> dict[str, Any]:
    entry = Entry(SystemClock().now(), "job#a", ONE_SLOT)
    record = {"messageId": "m", "receiptHandle": "r" * 200, "body": job_text(entry), "eventSource": "aws:sqs"}
    return {"Records": [json.loads(json.dumps(record))]}
