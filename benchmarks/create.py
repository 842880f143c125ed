"""Create: jobs for each CPU second through the API's function, one by one and in batches of 500; all are near."""

import json
from collections import deque
from typing import Any

import api
from benchmarks import ROOT, bare
from benchmarks.canned import Answer, Call, accepted, always, canned
from benchmarks.context import Context
from benchmarks.rows import Row, compared, per_cpu_second

ROUNDS, JOBS, BATCH = 5, 1_000, 500
ANSWERS: dict[str, Answer] = {"PutItem": always({}), "SendMessageBatch": accepted}


def rows() -> list[Row]:
    """Measure both ways."""
    single, batch = _row("single", 1), _row(f"batches of {BATCH}", BATCH)
    return [single, batch, Row(batch.name, batch.value, batch.unit, single.name, batch.value / single.value)]


def _row(name: str, each: int) -> Row:
    calls = _calls(each)

    def ours() -> float:
        return _rate(each)

    def same_calls_bare() -> float:
        return bare.rate(calls, each, JOBS // each, ANSWERS)

    (row,) = compared(f"create, {name}", "jobs/CPU s", ROUNDS, ours, same_calls_bare=same_calls_bare)
    return row


def _rate(each: int) -> float:
    events = [_event(each, number) for number in range(JOBS // each)]
    with canned(ANSWERS):
        _create(_event(1, -1))
        return per_cpu_second(JOBS, lambda: deque(map(_create, events), maxlen=0))


def _calls(each: int) -> list[Call]:
    with canned(ANSWERS) as (_, calls):
        _create(_event(each, 0))
        return list(calls)


def _create(event: dict[str, Any]) -> None:
    answer = api.handler(event, Context())
    assert answer["statusCode"] in (200, 201), answer["body"]


def _event(each: int, batch: int) -> dict[str, Any]:
    jobs = [_job(f"j{batch}-{number}") for number in range(each)]
    path, body = ("/jobs", jobs[0]) if each == 1 else ("/jobs/batch", {"jobs": jobs})
    template = json.loads((ROOT / "events/api-create-batch.json").read_text())
    return {**template, "path": path, "pathParameters": {"proxy": path[1:]}, "body": json.dumps(body)}


def _job(name: str) -> dict[str, Any]:
    return {"id": name, "handler": "example.echo", "payload": {"user": name}, "delay": 60}
