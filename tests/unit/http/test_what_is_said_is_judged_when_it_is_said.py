"""A value is judged by the clock of the day on which it is said, by its own bounds, and before the table is asked."""

from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

import pytest
from tests.unit.http.memory import Api

SCHEDULE = {"handler": "h", "cron": "0 9 1 1 *"}
LONG_TIME = f"2027-02-01T00:00:00.{'0' * 450_000}Z"


def fields_of(answer: Any) -> list[str]:
    return sorted(fault["field"] for fault in answer.body["errors"])


def put(api: Api, **fields: Any) -> Any:
    return api.call("PUT", "/schedules/s", SCHEDULE | fields)


def test_how_far_ahead_counts_from_the_day_on_which_it_is_said(api: Api) -> None:
    """A schedule of five years could not be given an end in six: that is over ten years after its creation."""
    put(api)
    api.clock.time += timedelta(days=5 * 365)
    assert put(api, ends_at="2038-01-01T00:00:00Z").status == 200
    assert put(api, ends_at="2043-01-01T00:00:00Z").status == 422


def test_what_was_said_is_not_judged_again(api: Api) -> None:
    """Whoever read that schedule counted from its creation again, and took it for broken."""
    put(api)
    api.clock.time += timedelta(days=5 * 365)
    put(api, ends_at="2038-01-01T00:00:00Z")
    api.clock.time -= timedelta(days=4 * 365)
    shown = api.call("GET", "/schedules/s").body
    assert (shown["state"], len(shown["next"])) == ("active", 5)


@pytest.mark.parametrize(
    ("method", "path", "body", "field"),
    [
        ("PUT", "/schedules/s", SCHEDULE | {"starts_at": LONG_TIME}, "starts_at"),
        ("PUT", "/schedules/s", {"handler": "h", "every": 60, "anchor": LONG_TIME}, "anchor"),
        ("POST", "/jobs", {"handler": "h", "run_at": LONG_TIME}, "run_at"),
        ("POST", "/jobs", {"handler": "h", "delay": f"PT1.{'0' * 450_000}S"}, "delay"),
        ("POST", "/preview", {"cron": "0 9 * * *", "from": LONG_TIME, "count": 1}, "from"),
    ],
)
def test_a_time_of_half_a_megabyte_is_no_time(api: Api, method: str, path: str, body: Any, field: str) -> None:
    """It was stored as it was written, in a row larger than DynamoDB takes: 500, or a pause that never worked."""
    answer = api.call(method, path, body)
    assert answer.status == 400
    assert field in fields_of(answer)
    assert len(answer.text) < 2_000


def test_a_name_that_none_can_have_asks_no_table(api: Api) -> None:
    """DynamoDB refuses a key of over 2,048 bytes, and the caller got a 500 for it."""
    api.world = replace(api.world, schedules=cast(Any, None))
    answer = api.call("PUT", f"/schedules/{'n' * 2_049}", {"cron": "x y", "unknown": 1})
    assert answer.status == 400
    assert fields_of(answer) == ["cron", "handler", "name", "unknown"]


@pytest.mark.parametrize(("interval", "status"), [("1", 201), ("10000000", 201), ("10000001", 400), ("0", 400)])
def test_an_interval_is_taken_as_its_fault_says(api: Api, interval: str, status: int) -> None:
    """10,000,000 was refused as not within 1 to 10,000,000."""
    answer = api.call("PUT", "/schedules/s", {"handler": "h", "rrule": f"FREQ=DAILY;INTERVAL={interval}"})
    assert answer.status == status, answer.body
    if status == 400:
        assert "from 1 to 10000000" in answer.text


@pytest.mark.parametrize("body", [None, "", {}])
def test_a_resume_has_nothing_to_say(api: Api, body: Any) -> None:
    put(api)
    api.call("POST", "/schedules/s/pause", {})
    assert api.call("POST", "/schedules/s/resume", body).body["state"] == "active"


@pytest.mark.parametrize("query", [{}, {"dry_run": "true"}])
def test_what_a_resume_does_not_know_is_named(api: Api, query: dict[str, str]) -> None:
    """`at` was read over, and the schedule went on at once."""
    put(api)
    api.call("POST", "/schedules/s/pause", {})
    answer = api.call("POST", "/schedules/s/resume", {"at": "2027-02-01T00:00:00Z", "reason": "x"}, query)
    assert answer.status == 400
    assert fields_of(answer) == ["at", "reason"]
    assert {fault["message"] for fault in answer.body["errors"]} == {"is not known here; this call takes no fields"}
    assert api.call("GET", "/schedules/s").body["state"] == "paused"


def test_a_preview_with_a_spread_needs_the_name(api: Api) -> None:
    """It was made from an empty name: the schedule itself then ran at other times than its preview had shown."""
    request = {"cron": "0 9 * * *", "from": "2027-01-01T00:00:00Z", "count": 1, "spread": 600}
    answer = api.call("POST", "/preview", request)
    assert (answer.status, fields_of(answer)) == (400, ["name"])
    named = api.call("POST", "/preview", request | {"name": "s"})
    slot = put(api, cron="0 9 * * *", spread=600).body["next"][0]
    assert named.body["slots"][0]["run_at"] == slot["run_at"]
