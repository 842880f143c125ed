"""Puts an event on a bus: `{arn, source, detail_type, detail?}`; see docs/handlers.md."""

from typing import Any

from onthedot import Job, handler
from onthedot.outgoing.events import put_event
from onthedot.wiring import targets


@handler("eventbridge")
def eventbridge(job: Job) -> dict[str, Any]:
    """Put the event, and return its id."""
    return put_event(job, targets())
