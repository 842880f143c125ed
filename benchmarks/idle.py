"""Idle: looks at a shard in which nothing is to be done, and ticks, for each CPU second."""

from typing import Any

import dispatch
import tick
from benchmarks import bare
from benchmarks.canned import Answer, Call, accepted, always, canned
from benchmarks.context import Context
from benchmarks.rows import Row, compared, per_cpu_second
from onthedot.clock import SystemClock
from onthedot.messages import ShardMessage, shard_text
from onthedot.rules.instants import to_text

ROUNDS, TIMES = 5, 300


def rows() -> list[Row]:
    """Measure both."""
    return [_row("looks", _look), _row("ticks", _tick)]


def _row(name: str, step: Any) -> Row:
    calls = _calls(step)

    def ours() -> float:
        return _rate(step)

    def same_calls_bare() -> float:
        return bare.rate(calls, 1, TIMES, _answers())

    (row,) = compared(f"idle, {name}", f"{name}/CPU s", ROUNDS, ours, same_calls_bare=same_calls_bare)
    return row


def _rate(step: Any) -> float:
    with canned(_answers()):
        step()
        return per_cpu_second(TIMES, lambda: [step() for _ in range(TIMES)])


def _calls(step: Any) -> list[Call]:
    with canned(_answers()) as (_, calls):
        step()
        return list(calls)


def _answers() -> dict[str, Answer]:
    """Answer with a shard that was swept just now, and with indexes that have nothing."""
    swept = {"shard": {"S": "0"}, "swept_at": {"S": to_text(SystemClock().now())}}
    none: dict[str, Any] = {"Items": [], "Count": 0, "ScannedCount": 0}
    return {
        "UpdateItem": always({"Attributes": swept}),
        "Query": always(none),
        "Scan": always(none | {"Items": [swept]}),
        "SendMessageBatch": accepted,
    }


def _look() -> None:
    body = shard_text(ShardMessage("0", SystemClock().now()))
    record = {"messageId": "m", "receiptHandle": "r" * 200, "body": body, "eventSource": "aws:sqs"}
    assert not dispatch.handler({"Records": [record]}, Context())["batchItemFailures"]


def _tick() -> None:
    tick.handler({}, Context())
