"""Schedules of the deployed stack, made and looked at by its API."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.e2e.deployed import Deployed

PATIENCE_SECONDS = 60


def seconds_ahead(seconds: float) -> str:
    """Return the time in so many seconds."""
    return (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat()


def each_minute(stack: Deployed, name: str, first: str, **fields: Any) -> Any:
    """Create a schedule with a slot each minute from a time on."""
    body = {"handler": "example.echo", "every": 60, "anchor": first, **fields}
    return stack.ask("PUT", "schedules", name, body=body, status=201)


def slots_of(stack: Deployed, name: str) -> dict[str, Any]:
    """Return the jobs of a schedule, also of one that is gone, by their slots. Order: by slot."""
    items = stack.ask("GET", "jobs", query={"schedule": name, "limit": "100"})["items"]
    jobs = {job["slot"]: job for job in items}
    assert len(jobs) == len(items), "a slot has one job"
    return dict(sorted(jobs.items()))


def eventually(look: Callable[[], Any]) -> Any:
    """Look until there is something, and return it."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (found := look()):
        assert time.monotonic() < deadline, f"nothing after {PATIENCE_SECONDS} s"
        time.sleep(0.5)
    return found
