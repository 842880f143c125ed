"""Sends a message to a queue: `{arn, body, attributes?, group_id?}`; see docs/handlers.md."""

from typing import Any

from onthedot import Job, handler
from onthedot.outgoing.queues import send_message
from onthedot.wiring import targets


@handler("sqs")
def sqs(job: Job) -> dict[str, Any]:
    """Send the message, and return its id."""
    return send_message(job, targets())
