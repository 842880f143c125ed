"""What SQS gave up on: each message is judged once more, on the table of a start."""

from typing import Any

import handlers  # noqa: F401 - found by import
from onthedot.steps.rescue import rescue
from onthedot.telemetry import invocation, logger
from onthedot.wiring import held, policies, world


@invocation
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda passes both
    """Rescue the messages; report those that are not acknowledged, so that they come again."""
    unacknowledged = [record["messageId"] for record in event["Records"] if not _rescue(record)]
    return {"batchItemFailures": [{"itemIdentifier": message} for message in unacknowledged]}


def _rescue(record: dict[str, Any]) -> bool:
    def hold(seconds: int) -> None:
        held("job_dead_letter").hold(record["receiptHandle"], seconds)

    try:
        return rescue(world(), record["body"], policies(), hold)
    except Exception:
        logger.exception("message_failed")
        return False
