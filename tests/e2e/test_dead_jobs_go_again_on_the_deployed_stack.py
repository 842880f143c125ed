"""Dead jobs on the deployed stack: listed and retried by handler, which its index passes over as AWS's does."""

import time
from typing import Any

import pytest
from tests.e2e.deployed import Deployed

pytestmark = pytest.mark.e2e

PATIENCE_SECONDS = 60
MINE, OTHERS = "e2e.nobody-mine", "e2e.nobody-others"
"""Names that no handler has: the one attempt of each job fails."""


def create(stack: Deployed, name: str, **request: Any) -> None:
    stack.ask("POST", "jobs", body={"id": name, "retry": {"max_attempts": 1}, **request}, status=201)


def dead(stack: Deployed, handler: str) -> dict[str, str]:
    """Return when each dead job of a handler died."""
    items = stack.ask("GET", "jobs", query={"state": "dead", "handler": handler})["items"]
    return {item["id"]: item["finished_at"] for item in items}


def until_dead(stack: Deployed, handler: str, names: set[str]) -> dict[str, str]:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (found := dead(stack, handler)).keys() != names:
        assert time.monotonic() < deadline, f"not all dead after {PATIENCE_SECONDS} s: {found}"
        time.sleep(0.5)
    return found


def test_the_dead_of_a_handler_go_again_and_no_other(stack: Deployed) -> None:
    mine, others = {f"dead-mine-{n}" for n in range(3)}, {f"dead-others-{n}" for n in range(3)}
    for one, other in zip(sorted(mine), sorted(others), strict=True):
        create(stack, other, handler=OTHERS)
        create(stack, one, handler=MINE)
    first, left = until_dead(stack, MINE, mine), until_dead(stack, OTHERS, others)
    body = {"handler": MINE}
    assert stack.ask("POST", "dead", "retry", body=body, query={"dry_run": "true"}) == {"count": 3, "more": False}
    assert stack.ask("POST", "dead", "retry", body=body) == {"count": 3, "more": False}
    time.sleep(1)
    again = until_dead(stack, MINE, mine)
    assert all(again[name] > first[name] for name in mine), "each has died once more"
    assert dead(stack, OTHERS) == left
    stack.ask("POST", "jobs", "dead-others-0", "retry")


def test_a_group_is_cancelled_and_one_of_it_goes_again(stack: Deployed) -> None:
    for number in range(3):
        create(stack, f"group-{number}", handler="example.echo", delay=3_600, group="e2e-group")
    query = {"group": "e2e-group"}
    assert stack.ask("DELETE", "jobs", query=query | {"dry_run": "true"}) == {"count": 3, "more": False}
    assert stack.ask("DELETE", "jobs", query=query) == {"count": 3, "more": False}
    assert stack.ask("DELETE", "jobs", query=query) == {"count": 0, "more": False}
    stack.ask("POST", "jobs", "group-1", "retry")
    deadline = time.monotonic() + PATIENCE_SECONDS
    while stack.ask("GET", "jobs", "group-1")["state"] != "succeeded":
        assert time.monotonic() < deadline
        time.sleep(0.5)
    assert stack.ask("GET", "jobs", "group-0")["state"] == "cancelled"
