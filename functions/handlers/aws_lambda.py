"""Hands a function an event, and does not wait for it: `{arn, payload?}`; see docs/handlers.md."""

from typing import Any

from onthedot import Job, handler
from onthedot.outgoing.calls import call_function
from onthedot.wiring import targets


@handler("lambda")
def aws_lambda(job: Job) -> dict[str, Any]:
    """Hand it the event, and return Lambda's status."""
    return call_function(job, targets())
