"""Sends an HTTPS request to a public address: `{url, method?, headers?, body?, secret_name?}`; see docs/handlers.md."""

from typing import Any

from onthedot import Job, handler
from onthedot.wiring import deliveries


@handler("http")
def http(job: Job) -> dict[str, Any]:
    """Send the request, and return the answer's status and body."""
    return deliveries().deliver(job)
