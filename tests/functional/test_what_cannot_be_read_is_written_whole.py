"""A schedule that cannot be read is no ground to build on: it takes a PUT, runs nothing if paused, shows as broken."""

import json
from typing import Any

import pytest
from tests.support.handlers import RAN
from tests.support.lab import Lab
from tests.support.schedules import change, hold, put, row


def spoil(lab: Lab) -> None:
    """Let the schedule's zone leave the database."""
    [item] = [item for item in lab.items("SchedulesTable") if item["part"]["S"] == "schedule"]
    change(lab, "s", fields={"S": json.dumps(json.loads(item["fields"]["S"]) | {"zone": "Gone/Zone"})})


@pytest.mark.parametrize(
    "fields",
    [
        {"rrule": "FREQ=DAILY;COUNT=5"},
        {"cron": "0 9 * * *", "starts_at": "2027-02-01T00:00:00Z"},
        {"cron": "0 9 * * *"},
    ],
)
def test_a_patch_of_a_row_that_cannot_be_read_is_a_conflict(lab: Lab, fields: dict[str, Any]) -> None:
    """It took the epoch for the creation and the payload for null: five days of 1970, and nothing was left to run."""
    put("s", '{"team":7}', cron="0 9 * * *")
    change(lab, "s", fields={"S": "{"})
    assert lab.call("GET", "/schedules/s").body["payload"] == {"team": 7}
    answer = lab.call("PATCH", "/schedules/s", {"handler": "test.record", **fields})
    assert answer.status == 409
    assert "PUT" in answer.body["detail"]
    assert lab.call("GET", "/schedules/s").body["payload"] == {"team": 7}
    whole = lab.call("PUT", "/schedules/s", {"handler": "test.record", "payload": {"team": 8}, **fields})
    assert (whole.status, whole.body["state"], whole.body["payload"]) == (200, "active", {"team": 8})
    assert len(whole.body["next"]) >= 4


def test_a_broken_schedule_that_is_paused_runs_nothing(lab: Lab) -> None:
    """What was caught up, a job a minute, began to run again when the pause was ended of what nobody could read."""
    put("s", cron="* * * * *", missed="catch_up", catch_up_rate=1)
    lab.off.add("tick")
    lab.advance(minutes=20)
    lab.off.discard("tick")
    lab.tick()
    hold("s")
    ran = len(RAN)
    spoil(lab)
    assert lab.call("POST", "/schedules/s/resume").status == 409
    lab.advance(minutes=5)
    assert len(RAN) == ran
    assert row("s").paused


def test_the_list_and_the_schedule_tell_one_state(lab: Lab) -> None:
    """It was listed as active and shown as broken, until a dispatcher had written that down."""
    put("s", cron="0 9 * * *")
    put("t", cron="0 9 * * *")
    spoil_only = {"S": json.dumps({"handler": "test.record", "cron": "0 9 * * *", "zone": "Gone/Zone"})}
    change(lab, "s", fields=spoil_only)
    for name, state in (("s", "broken"), ("t", "active")):
        listed = lab.call("GET", "/schedules", state=state).body["items"]
        assert [(item["name"], item["state"]) for item in listed] == [(name, state)]
        assert lab.call("GET", f"/schedules/{name}").body["state"] == state
