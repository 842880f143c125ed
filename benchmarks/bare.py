"""The same calls made by a plain client, over and over: what is left of ours beside it is what we add to botocore."""

import json
from collections.abc import Sequence
from functools import partial

from botocore import xform_name

from benchmarks.canned import Answer, Call, canned, client
from benchmarks.rows import per_cpu_second


def rate(calls: Sequence[Call], jobs: int, times: int, answers: dict[str, Answer]) -> float:
    """Return how many jobs a CPU second would make of these calls, which serve so many jobs, made so many times."""
    with canned(answers):
        clients = {"dynamodb": client("dynamodb"), "sqs": client("sqs")}
        each = [
            partial(getattr(clients[call.service], xform_name(call.operation)), **json.loads(call.body))
            for call in calls
        ]
        _make(each[:1])
        return per_cpu_second(jobs * times, lambda: _make(each * times))


def _make(each: Sequence[partial[object]]) -> None:
    for one in each:
        one()
