"""Hand-over: jobs sent to SQS for each CPU second of a dispatcher, beside designs that a user would pick instead."""

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

from tests.support.worlds import time_for

from benchmarks.canned import MD5, MESSAGE_ID, accepted, always, canned, client, count, paged
from benchmarks.designs import PAGE, ClaimSendDelete, ReadGetSend
from benchmarks.rows import Row, compared, per_cpu_second, slope
from onthedot.clock import SystemClock
from onthedot.rules.agenda import Entry
from onthedot.steps.drain import drain
from onthedot.steps.ports import Shard

ROUNDS = {1_000: 5, 10_000: 3, 100_000: 1}
"""By the number of jobs: with the most of them the slower designs take minutes."""
WARM = PAGE
"""Jobs that are handed over before the count begins, as in a container that has run before."""
SENT = always({"MessageId": MESSAGE_ID, "MD5OfMessageBody": MD5})


def rows() -> list[Row]:
    """Measure each number of jobs."""
    found = [row for jobs, rounds in ROUNDS.items() for row in _rows(jobs, rounds)]
    return [*found, slope(found[::2])]


def _rows(jobs: int, rounds: int) -> list[Row]:
    def ours() -> float:
        return _ours(jobs)

    def claim_send_delete() -> float:
        return _theirs(ClaimSendDelete, jobs, _claimable)

    def read_get_send() -> float:
        return _theirs(ReadGetSend, jobs, _named)

    return compared(
        f"hand-over, {jobs:,} jobs",
        "jobs/CPU s",
        rounds,
        ours,
        claim_send_delete=claim_send_delete,
        read_get_send=read_get_send,
    )


def _ours(jobs: int) -> float:
    answers = {
        "Query": paged(_pages(WARM + jobs, _entry)),
        "UpdateItem": always({"Attributes": {"shard": {"S": "0"}, "lease": {"S": "mine"}, "watermark": {"S": "w"}}}),
        "SendMessageBatch": accepted,
    }
    shard = Shard("0", "mine", "", None)
    with canned(answers) as (world, calls):
        drain(world, shard, time_for(WARM // PAGE))
        rate = per_cpu_second(jobs, lambda: drain(world, shard, lambda: True))
    assert count(calls, "SendMessageBatch") == (WARM + jobs) // 10, "each went out with nine others"
    return rate


def _theirs(design: Callable[[Any, Any], Any], jobs: int, item: Callable[[int], Any]) -> float:
    answers = {
        "Query": paged(_pages(WARM + jobs, item)),
        "GetItem": always({"Item": _event(0)}),
        "UpdateItem": always({"Attributes": {"job_status": {"S": "ACQUIRED"}}}),
        "DeleteItem": always({}),
        "SendMessage": SENT,
        "SendMessageBatch": accepted,
    }
    with canned(answers) as (_, calls):
        work = design(client("dynamodb"), client("sqs"))
        work.page()
        rate = per_cpu_second(jobs, work.run)
    assert count(calls, "SendMessage") + 10 * count(calls, "SendMessageBatch") == WARM + jobs, "each job was sent"
    return rate


def _pages(jobs: int, item: Callable[[int], Any]) -> Iterator[bytes]:
    pages = [[item(number) for number in range(start, start + PAGE)] for start in range(0, jobs, PAGE)]
    return iter([json.dumps({"Items": page, "Count": PAGE, "ScannedCount": PAGE}).encode() for page in pages])


def _entry(number: int) -> Any:
    """Return what drain asks the agenda for: the entry alone."""
    wake = SystemClock().now() + timedelta(seconds=100)
    return {"agenda": {"S": str(Entry(wake, f"job#{number:024}", "-"))}}


def _claimable(number: int) -> Any:
    spec = {"name": "report", "queue": "reports", "token": f"{number:024}", "payload": {"user": number}}
    texts = {"shard_id": "0", "date_token": f"1#{number:024}", "job_status": "SCHEDULED", "job_spec": json.dumps(spec)}
    return {name: {"S": text} for name, text in texts.items()}


def _named(number: int) -> Any:
    return {"sk": {"S": f"1_{number:024}"}}


def _event(number: int) -> Any:
    texts = {"pk": "0", "sk": f"1_{number:024}", "payload": json.dumps({"user": number}), "target": "arn:aws:sns:::t"}
    return {name: {"S": text} for name, text in texts.items()} | {"due": {"N": "0"}}
