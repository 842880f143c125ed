"""Schedules end to end, on the deployed template with IAM enforced: run, edited, paused, resumed, deleted."""

import time
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from tests.e2e.deployed import Deployed
from tests.e2e.schedules import each_minute, eventually, seconds_ahead, slots_of

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("no_schedule_stays")]

TOO_LATE_SECONDS = 30
"""Two is what a free worker takes; a cold one on a busy machine takes ten."""
LARGE = "x" * 20_000
"""Stored apart from the schedule, once for its version."""


def first_ended(stack: Deployed, name: str) -> Any:
    """Wait for the outcome of a schedule's first slot and return its job."""

    def look() -> Any:
        first = next(iter(slots_of(stack, name).values()))
        return first if first["state"] not in ("scheduled", "running") else None

    return eventually(look)


def test_its_slots_run_on_the_dot_with_what_an_edit_made_of_them(stack: Deployed) -> None:
    made = each_minute(stack, "e2e-minutely", seconds_ahead(7), payload="small")
    planned = slots_of(stack, "e2e-minutely")
    stack.ask("PATCH", "schedules", "e2e-minutely", body={"payload": LARGE})
    assert list(slots_of(stack, "e2e-minutely")) == list(planned), "an edit of the payload moves no slot"
    job = first_ended(stack, "e2e-minutely")
    assert (job["state"], job["payload"], job["result"]["truncated"]) == ("succeeded", LARGE, True)
    assert (job["attempt"], len(job["attempts"])) == (1, 1)
    assert 0 <= job["late_seconds"] < TOO_LATE_SECONDS
    assert job["run_at"] == job["slot"] == made["next"][0]["slot"] == next(iter(planned))
    instants = [datetime.fromisoformat(slot) for slot in planned]
    assert {later - former for former, later in pairwise(instants)} == {timedelta(minutes=1)}
    assert len(instants) == 10, "ten minutes are planned ahead"


def test_pause_resume_and_delete_hold_until_the_slot(stack: Deployed) -> None:
    first = seconds_ahead(8)
    for name in ("e2e-paused", "e2e-resumed", "e2e-deleted"):
        each_minute(stack, name, first)
    for name in ("e2e-paused", "e2e-resumed"):
        stack.ask("POST", "schedules", name, "pause", body={"reason": "a look around"})
        assert slots_of(stack, name) == {}, "what was planned ahead is taken back"
    stack.ask("POST", "schedules", "e2e-resumed", "resume")
    stack.ask("DELETE", "schedules", "e2e-deleted")
    time.sleep(max(0, (datetime.fromisoformat(first) - datetime.now().astimezone()).total_seconds()) + 4)

    assert slots_of(stack, "e2e-paused") == {}
    assert stack.ask("GET", "schedules", "e2e-paused")["paused"]["reason"] == "a look around"
    resumed = first_ended(stack, "e2e-resumed")
    assert (resumed["state"], resumed["attempt"], len(resumed["attempts"])) == ("succeeded", 1, 1)
    assert 0 <= resumed["late_seconds"] < TOO_LATE_SECONDS
    deleted = slots_of(stack, "e2e-deleted").values()
    assert [(job["state"], job["attempts"]) for job in deleted] == [("cancelled", [])] * 10
    stack.ask("GET", "schedules", "e2e-deleted", status=404)


def test_who_resumes_goes_on_with_the_slots_to_come(stack: Deployed) -> None:
    first = seconds_ahead(2)
    each_minute(stack, "e2e-later", first)
    stack.ask("POST", "schedules", "e2e-later", "pause")
    time.sleep(3)
    following = stack.ask("POST", "schedules", "e2e-later", "resume")["next"][0]["slot"]
    planned = slots_of(stack, "e2e-later")
    assert next(iter(planned)) == following
    assert datetime.fromisoformat(following) > datetime.fromisoformat(first), "what passed in the pause is not made up"


def test_the_dispatcher_ends_a_pause_in_time(stack: Deployed) -> None:
    """It planned nothing at all: `shard` is a word that DynamoDB reserves, and moto does not mind it."""
    first = seconds_ahead(30)
    each_minute(stack, "e2e-until", first)
    stack.ask("POST", "schedules", "e2e-until", "pause", body={"until": seconds_ahead(2)})
    time.sleep(2)
    stack.tick()
    planned = eventually(lambda: slots_of(stack, "e2e-until"))
    assert len(planned) in (9, 10)
    assert stack.ask("GET", "schedules", "e2e-until")["state"] == "active"


def test_schedules_are_listed_and_previewed(stack: Deployed) -> None:
    each_minute(stack, "e2e-listed", seconds_ahead(3_600), group="e2e-schedules")
    listed = stack.ask("GET", "schedules", query={"group": "e2e-schedules", "limit": "100"})
    assert "e2e-listed" in [each["name"] for each in listed["items"]]
    ask = {"cron": "30 2 * * *", "zone": "Europe/Berlin", "from": "2027-03-27T00:00:00Z", "count": 2}
    preview = stack.ask("POST", "preview", body=ask)
    assert [slot["slot"] for slot in preview["slots"]] == ["2027-03-27T01:30:00Z", "2027-03-28T01:00:00Z"]
