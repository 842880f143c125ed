"""A job whose result is its payload."""

from typing import Any

from onthedot import Job, handler


@handler("example.echo")
def echo(job: Job) -> Any:
    """Return the payload."""
    return job.payload
