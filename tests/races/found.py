"""What is found after a race: each job as it is in the table, each schedule and its ledger as the API shows them."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import boto3
from tests.races import parts

from onthedot.adapters.items import job_of
from onthedot.rules.jobs import Job


def write(environment: Mapping[str, str], schedules: list[str], path: Path) -> None:
    """Write what is found to a file."""
    parts.become(dict(environment), path.with_suffix(".log"))
    found = {"jobs": [_facts(job) for job in _jobs()], "schedules": {name: _schedule(name) for name in schedules}}
    path.write_text(json.dumps(found), encoding="utf-8")


def _jobs() -> list[Job]:
    pages = boto3.client("dynamodb").get_paginator("scan").paginate(TableName=os.environ["ONTHEDOT_JOBS_TABLE"])
    items = [item for page in pages for item in page["Items"]]
    return [job_of(item) for item in items if "state" in item]


def _facts(job: Job) -> dict[str, Any]:
    return {
        "id": job.id,
        "schedule": job.schedule.partition("#")[2] if job.of_schedule else None,
        "state": job.state.value,
        "attempt": job.attempt,
        "key": job.idempotency_key,
        "result": json.loads(job.result or "null"),
        "finished_at": job.finished_at.timestamp() if job.finished_at else None,
        "error": job.error,
        "reason": job.reason,
    }


def _schedule(name: str) -> dict[str, Any]:
    status, body = parts.call("GET", f"/schedules/{name}")
    assert status == 200, body
    return {"created_at": body["created_at"], "state": body["state"], "ledger": _ledger(name)}


def _ledger(name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    query = {"limit": "100"}
    while True:
        status, body = parts.call("GET", f"/schedules/{name}/ledger", **query)
        assert status == 200, body
        rows += body["items"]
        if "next_cursor" not in body:
            return rows
        query["cursor"] = body["next_cursor"]
