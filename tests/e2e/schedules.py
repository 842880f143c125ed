"""Schedules of the deployed stack, made and looked at by its API; and some that nobody has planned for long."""

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.e2e.deployed import Deployed
from tests.support.schedules import put

from onthedot.rules.instants import to_text
from onthedot.rules.schedules import Schedule
from onthedot.steps.ports import World

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


def behind(world: World, name: str, slots: int, **fields: Any) -> tuple[Schedule, datetime]:
    """Create a schedule that had a slot each minute, so many until now, none of them planned; return it and now."""
    now = world.clock.now()
    first = now - (slots - 1) * timedelta(minutes=1)
    rule = {"every": 60, "catch_up_limit": 1_000, "catch_up_rate": 6_000, **fields}
    made = put(name, world=world, anchor=to_text(now + timedelta(hours=1)), **rule)
    after = replace(
        made,
        fields=made.fields | {"anchor": to_text(first)},
        planned_until=first - timedelta(seconds=1),
        next_at=first,
        stamp=world.clock.token(),
    )
    assert world.schedules.write(made, after, []) is None
    return after, now
