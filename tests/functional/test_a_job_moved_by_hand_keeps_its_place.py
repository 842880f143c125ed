"""A job of a slot that somebody has moved stays where it was put, whatever becomes of its schedule meanwhile."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.support.lab import Lab
from tests.support.schedules import ran_slots

SLOT = "2027-01-04T08:05:00Z"


def edit(lab: Lab) -> list[Any]:
    return [lab.call("PATCH", "/schedules/s", {"payload": 1})]


def retime(lab: Lab) -> list[Any]:
    return [lab.call("PATCH", "/schedules/s", {"cron": "*/5 * * * *", "exclude": ["2027-01-04"]})]


def pause_and_resume(lab: Lab) -> list[Any]:
    return [lab.call("POST", f"/schedules/s/{call}") for call in ("pause", "resume")]


@pytest.mark.parametrize("change", [edit, retime, pause_and_resume])
def test_it_runs_when_it_was_moved_to_and_only_then(lab: Lab, change: Callable[[Lab], list[Any]]) -> None:
    """A report was moved to the evening; somebody corrected its recipients, and it went out in the morning."""
    assert lab.call("PUT", "/schedules/s", {"handler": "test.record", "cron": "5 * * * *"}).status == 201
    lab.advance(seconds=1)
    assert lab.call("PATCH", f"/jobs/s@{SLOT}", {"run_at": "2027-01-04T08:30:00Z"}).status == 200
    assert {answer.status for answer in change(lab)} == {200}
    lab.advance(minutes=20)
    assert SLOT not in ran_slots("s")
    lab.advance(minutes=11)
    assert ran_slots("s").count(SLOT) == 1
