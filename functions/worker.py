"""Each message: one start, the handler, one finish. Those of a batch run side by side, so a slow one delays none."""

from datetime import timedelta
from typing import Any

import handlers  # noqa: F401 - found by import
from onthedot.steps.work import Runner, Worked, work
from onthedot.telemetry import end_process, invocation, logger
from onthedot.wiring import attempts, held, world


@invocation
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Work on the messages; report those that are not acknowledged, so that they come again."""
    records = event["Records"]
    runner = attempts(timedelta(milliseconds=context.get_remaining_time_in_millis()))
    worked = world().side_by_side(lambda record: _work(record, context, runner), records)
    if any(result.stuck for result in worked):
        end_process()
    return {
        "batchItemFailures": [
            {"itemIdentifier": record["messageId"]}
            for record, result in zip(records, worked, strict=True)
            if not result.acknowledged
        ]
    }


def _work(record: dict[str, Any], context: Any, runner: Runner) -> Worked:
    def hold(seconds: int) -> None:
        held("job").hold(record["receiptHandle"], seconds)

    if context.get_remaining_time_in_millis() < _needed_milliseconds():
        hold(0)
        return Worked(acknowledged=False)
    try:
        return work(world(), record["body"], runner, hold)
    except Exception:
        logger.exception("message_failed")
        return Worked(acknowledged=False)


def _needed_milliseconds() -> float:
    timing = world().timing
    return (timing.max_timeout + timing.margin).total_seconds() * 1000
