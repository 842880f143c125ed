"""GET /schedules/{name}/ledger and /versions: what became of every slot, and who wrote what, page by page."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.unit.http.memory import START, Api, event

from onthedot.rules.history import of_move
from onthedot.rules.instants import from_text, to_text
from onthedot.rules.jobs import State

MINUTELY = {"cron": "* * * * *", "handler": "report"}
LEDGER = "/schedules/s/ledger"


def put(api: Api, by: dict[str, Any] | None = None, **fields: Any) -> None:
    """Create or change the schedule, as somebody with this identity."""
    call = event("PUT", "/schedules/s", MINUTELY | fields)
    call["requestContext"]["identity"] = by
    assert api.send(call).status in {200, 201}


def later(api: Api, **span: float) -> None:
    """Let time pass, and have the schedule planned at its end, as a pause and its end do."""
    api.clock.time += timedelta(**span)


def ended(api: Api, slot: str, state: State, reason: str | None = None) -> None:
    """Give the job of a slot an outcome."""
    key = ("schedule#s", to_text(from_text(f"{slot}.000Z")))
    api.jobs.rows[key] = replace(api.jobs.rows[key], state=state, reason=reason)


def items(api: Api, **query: Any) -> list[dict[str, Any]]:
    answer = api.call("GET", LEDGER, query=query)
    assert answer.status == 200, answer.body
    found: list[dict[str, Any]] = answer.body["items"]
    cursor = answer.body.get("next_cursor")
    return found + (items(api, **query | {"cursor": cursor}) if cursor else [])


def lived(api: Api) -> None:
    """Let a schedule run, be paused, and run again: jobs from 00:01 to 00:03, none until 01:00, and two more."""
    put(api)
    later(api, minutes=3, seconds=30)
    api.call("POST", "/schedules/s/pause", {"reason": "an incident"})
    later(api, minutes=57)
    api.call("POST", "/schedules/s/resume")
    later(api, minutes=2)


def test_a_slot_has_its_job_and_slots_without_are_one_row(api: Api) -> None:
    lived(api)
    ended(api, "2027-01-01T00:01:00", State.SUCCEEDED)
    ended(api, "2027-01-01T00:02:00", State.SKIPPED, "late")
    rows = items(api)
    assert rows[0] == {
        "slot": "2027-01-01T00:01:00Z",
        "local_slot": "2027-01-01T00:01:00+00:00",
        "outcome": {"kind": "succeeded"},
        "job": "s@2027-01-01T00:01:00Z",
    }
    assert rows[1]["outcome"] == {"kind": "skipped", "reason": "late"}
    assert rows[2]["outcome"] == {"kind": "scheduled"}
    assert rows[3] == {
        "from": "2027-01-01T00:04:00Z",
        "to": "2027-01-01T01:00:00Z",
        "count": 57,
        "outcome": {"kind": "skipped", "reason": "its schedule was paused"},
    }
    assert [row["slot"] for row in rows[4:]] == ["2027-01-01T01:01:00Z", "2027-01-01T01:02:00Z"]


def test_one_slot_without_a_job_is_no_range(api: Api) -> None:
    lived(api)
    [row] = items(api, **{"from": "2027-01-01T00:10:00Z", "to": "2027-01-01T00:11:00Z"})
    assert row == {
        "slot": "2027-01-01T00:10:00Z",
        "local_slot": "2027-01-01T00:10:00+00:00",
        "outcome": {"kind": "skipped", "reason": "its schedule was paused"},
    }


@pytest.mark.parametrize("limit", range(1, 8))
def test_pages_neither_split_nor_repeat_a_row(api: Api, limit: int) -> None:
    lived(api)
    assert items(api, limit=str(limit)) == items(api)
    first = api.call("GET", LEDGER, query={"limit": str(limit)}).body
    assert len(first["items"]) == min(limit, 6)
    assert ("next_cursor" in first) == (limit < 6), "no next_cursor is the only sign of the end"


@pytest.mark.parametrize("limit", ["1", "2", "100"])
def test_a_slot_that_was_lost_before_a_move_is_missing_on_whatever_page(api: Api, limit: str) -> None:
    """Where a page began with it, nothing was known of the job before, and it passed for one that had moved."""
    lived(api)
    at = api.clock.time + timedelta(days=1)
    api.schedules.records.append(of_move(api.schedules.rows["s"], at, "later", at + timedelta(days=30)))
    del api.jobs.rows["schedule#s", "2027-01-01T00:02:00.000Z"]
    kinds = [row["outcome"]["kind"] for row in items(api, limit=limit)]
    assert (kinds[1], kinds.count("missing")) == ("missing", 1)
    [row] = items(api, **{"from": "2027-01-01T00:02:00Z", "to": "2027-01-01T00:02:30Z"})
    assert row["outcome"] == {"kind": "missing"}


@pytest.mark.parametrize(
    ("start", "end", "slots"),
    [
        ("2027-01-01T00:01:00Z", "2027-01-01T00:03:00Z", ["00:01", "00:02"]),
        ("2027-01-01T00:01:00.001Z", "2027-01-01T00:03:00.001Z", ["00:02", "00:03"]),
        ("2027-01-01T02:02:00+01:00", "2027-01-01t01:03:00z", ["01:02"]),
        ("2027-01-01T00:01:00Z", "2027-01-01T00:01:00Z", []),
        ("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", []),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z", []),
        ("2027-01-01T01:02:00Z", "9999-12-31T23:59:59Z", ["01:02"]),
        ("9999-12-31T23:59:59-14:00", None, []),
    ],
)
def test_a_window_begins_with_from_and_ends_before_to(api: Api, start: str, end: str | None, slots: list[str]) -> None:
    lived(api)
    rows = items(api, **{"from": start} | ({"to": end} if end else {}))
    assert [row["slot"][11:16] for row in rows] == slots


def test_what_is_older_than_the_retention_is_cut(api: Api) -> None:
    """A job that was cancelled before its slot is forgotten before its slot is: by then nobody asks for it."""
    put(api)
    ended(api, "2027-01-01T00:10:00", State.CANCELLED)
    later(api, minutes=10)
    [*_, row] = items(api)
    assert row["outcome"] == {"kind": "cancelled"}
    forgotten_at = START + api.world.timing.retention
    api.clock.time = forgotten_at
    api.jobs.rows.clear()
    [row] = items(api)
    assert (row["from"], row["outcome"]["kind"]) == ("2027-01-01T00:11:00Z", "pending")
    assert items(api, **{"from": "2026-12-01T00:00:00Z"}) == [row]


def test_a_cursor_that_was_kept_for_long_leads_no_further_back(api: Api) -> None:
    """It was given when the slots after it were not forgotten yet; now they would seem lost."""
    lived(api)
    cursor = api.call("GET", LEDGER, query={"limit": "1"}).body["next_cursor"]
    api.clock.time += api.world.timing.retention
    api.jobs.rows.clear()
    [row] = api.call("GET", LEDGER, query={"cursor": cursor}).body["items"]
    assert (row["from"], row["outcome"]["kind"]) == ("2027-01-01T01:13:00Z", "pending")


def test_every_fault_of_a_query_is_named_at_once(api: Api) -> None:
    put(api)
    query = {"from": "yesterday", "to": "2027-01-01T00:00:00", "limit": "101", "cursor": "x", "since": "1"}
    answer = api.call("GET", LEDGER, query=query)
    assert answer.status == 400
    assert {error["field"] for error in answer.body["errors"]} == {"from", "to", "limit", "cursor", "since"}


def test_a_window_that_ends_before_it_begins_is_422(api: Api) -> None:
    put(api)
    answer = api.call("GET", LEDGER, query={"from": "2027-01-01T01:00:00Z", "to": "2027-01-01T00:00:00Z"})
    assert (answer.status, answer.body["errors"]) == (422, [{"field": "to", "message": "is before from"}])


def test_a_cursor_is_good_for_its_window_only(api: Api) -> None:
    lived(api)
    cursor = api.call("GET", LEDGER, query={"limit": "1"}).body["next_cursor"]
    answer = api.call("GET", LEDGER, query={"cursor": cursor, "from": "2027-01-01T00:00:00Z"})
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, "cursor")


@pytest.mark.parametrize("part", ["ledger", "versions"])
@pytest.mark.parametrize("name", ["none", "no%20name", "x" * 65])
def test_of_what_never_was_nobody_knows(api: Api, part: str, name: str) -> None:
    answer = api.call("GET", f"/schedules/{name}/{part}")
    assert (answer.status, answer.headers["Content-Type"]) == (404, "application/problem+json")


@pytest.mark.parametrize("part", ["ledger", "versions"])
def test_a_deleted_schedule_is_known(api: Api, part: str) -> None:
    lived(api)
    before = api.call("GET", f"/schedules/s/{part}").body["items"]
    api.call("DELETE", "/schedules/s")
    after = api.call("GET", f"/schedules/s/{part}")
    assert (after.status, len(after.body["items"])) == (200, len(before))


ALICE = "arn:aws:iam::123456789012:user/alice"
DEPLOYER = "arn:aws:sts::123456789012:assumed-role/deployer/github-4711"


@pytest.mark.parametrize(
    ("identity", "who"),
    [
        ({"userArn": ALICE, "caller": "AIDA"}, ALICE),
        ({"userArn": DEPLOYER}, DEPLOYER),
        ({"userArn": None, "caller": "AROA:session"}, "AROA:session"),
        ({"userArn": None, "caller": None}, "unknown"),
        ({}, "unknown"),
        (None, "unknown"),
    ],
)
def test_who_wrote_a_schedule_is_who_signed_the_call(api: Api, identity: Any, who: str) -> None:
    put(api, identity)
    assert api.call("GET", "/schedules/s").body["changed_by"] == who
    assert [each["changed_by"] for each in api.call("GET", "/schedules/s/versions").body["items"]] == [who]


def test_who_paused_a_schedule_is_told(api: Api) -> None:
    put(api)
    call = event("POST", "/schedules/s/pause", {"reason": "r"})
    call["requestContext"]["identity"] = {"userArn": DEPLOYER}
    assert api.send(call).body["paused"] == {"since": "2027-01-01T00:00:00Z", "reason": "r", "by": DEPLOYER}


def test_versions_are_the_newest_first_as_they_were_written(api: Api) -> None:
    put(api, {"userArn": ALICE}, grace="PT2M")
    later(api, hours=1)
    put(api, {"userArn": DEPLOYER}, zone="Europe/London")
    written = {"handler": "report", "cron": "* * * * *", "created_at": "2027-01-01T00:00:00Z"}
    at = "2027-01-01T01:00:00Z"
    second = written | {"version": 2, "since": at, "changed_by": DEPLOYER, "zone": "Europe/London"}
    first = {"version": 1, "since": "2027-01-01T00:00:00Z", "until": at, "changed_by": ALICE, "grace": "PT2M"}
    assert api.call("GET", "/schedules/s/versions").body == {"items": [second, written | first]}


def test_versions_of_former_lives_stay_and_the_next_life_goes_on_from_them(api: Api) -> None:
    put(api)
    later(api, minutes=1)
    put(api, grace=5)
    later(api, minutes=1)
    api.call("DELETE", "/schedules/s")
    shown = api.call("GET", "/schedules/s/versions").body["items"]
    assert [(each["version"], each["until"][11:16]) for each in shown] == [(2, "00:02"), (1, "00:01")]
    later(api, minutes=1)
    put(api)
    shown = api.call("GET", "/schedules/s/versions").body["items"]
    assert [(each["version"], each["since"][11:16]) for each in shown] == [(3, "00:03"), (2, "00:01"), (1, "00:00")]


def test_a_version_that_ends_while_it_is_read_is_shown_once(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """The row was read, then an edit came, then the past was read: the version was in both."""
    put(api)
    later(api, minutes=1)
    stale = api.schedules.rows["s"]
    put(api, grace=5)
    monkeypatch.setattr(type(api.schedules), "get", lambda *_: stale)
    assert [each["version"] for each in api.call("GET", "/schedules/s/versions").body["items"]] == [1]


@pytest.mark.parametrize("path", ["/schedules/s/ledger", "/schedules/s/versions"])
def test_nobody_writes_a_ledger(api: Api, path: str) -> None:
    assert api.call("POST", path, {}).status == 405
