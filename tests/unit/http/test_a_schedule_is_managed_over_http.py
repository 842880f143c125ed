"""Schedules over HTTP: create, replace, change, show, list, pause, resume, delete; each answer is exact."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.unit.http.memory import Answer, Api, event

from onthedot.rules.jobs import State
from onthedot.rules.schedules import ScheduleState

DAILY = {"cron": "0 9 * * *", "zone": "Europe/London", "handler": "report"}
SHOWN = {
    "name": "daily",
    "cron": "0 9 * * *",
    "zone": "Europe/London",
    "on_gap": "after",
    "on_repeat": "first",
    "exclude": [],
    "spread": 0,
    "missed": "catch_up",
    "grace": 60,
    "catch_up_window": "P7D",
    "catch_up_limit": 100,
    "catch_up_rate": 60,
    "handler": "report",
    "payload": None,
    "overlap": "allow",
    "state": "active",
    "version": 1,
    "created_at": "2027-01-01T00:00:00Z",
    "changed_at": "2027-01-01T00:00:00Z",
    "changed_by": "unknown",
    "next": [
        {"slot": f"2027-01-0{day}T09:00:00Z", "local_slot": f"2027-01-0{day}T09:00:00+00:00"}
        | {"run_at": f"2027-01-0{day}T09:00:00Z"}
        for day in range(1, 6)
    ],
    "warnings": [],
}


def put(api: Api, name: str = "daily", **fields: Any) -> Answer:
    return api.call("PUT", f"/schedules/{name}", DAILY | fields)


def with_header(api: Api, method: str, path: str, body: Any, version: str) -> Answer:
    return api.send(event(method, path, body) | {"headers": {"if-match": version}})


def later(api: Api, **span: float) -> None:
    api.clock.time += timedelta(**span)


def test_a_new_schedule_is_201_and_shown_with_all_defaults(api: Api) -> None:
    answer = put(api)
    assert (answer.status, answer.body) == (201, SHOWN)
    assert answer.headers["ETag"] == '"1"'
    assert api.call("GET", "/schedules/daily").body == SHOWN


def test_what_was_written_is_shown_as_it_was_written(api: Api) -> None:
    written: dict[str, Any] = {
        "zone": "Europe/Kyiv",
        "grace": "PT2M",
        "catch_up_window": 86400.5,
        "spread": "PT10M",
        "starts_at": "2027-02-01T00:00:00",
        "ends_at": "2028-01-01t00:00:00Z",
        "exclude": ["2027-12-25", "2027-12-26"],
        "retry": {"first": "PT5S", "factor": 1.5},
        "timeout": 30,
        "start_within": "PT1H",
        "group": "team-7",
    }
    text = put(api, **written, payload={"b": 1, "a": [None, ""]}).text
    shown = json.loads(text)
    assert {name: shown[name] for name in written} == written
    assert '"payload":{"b":1,"a":[null,""]}' in text


@pytest.mark.parametrize("number", ["1.0", "1e2", "123456789012345678901234567890", "-0"])
def test_a_payload_comes_back_exactly(api: Api, number: str) -> None:
    body = f'{{"cron":"0 9 * * *","handler":"h","payload":{{"n":{number}}}}}'
    assert f'"payload":{{"n":{number}}}' in api.call("PUT", "/schedules/n", body).text
    assert f'"payload":{{"n":{number}}}' in api.call("GET", "/schedules/n").text


def test_the_same_put_again_is_no_edit(api: Api) -> None:
    put(api, payload={"a": 1, "b": 2})
    later(api, minutes=1)
    again = put(api, payload={"a": 1, "b": 2})
    assert (again.status, again.body["version"], again.body["changed_at"]) == (200, 1, "2027-01-01T00:00:00Z")


def test_another_put_is_the_next_version(api: Api) -> None:
    put(api, payload=1)
    later(api, minutes=1)
    edited = put(api, payload=2, cron="0 10 * * *")
    assert (edited.status, edited.body["version"], edited.body["payload"]) == (200, 2, 2)
    assert (edited.body["created_at"], edited.body["changed_at"]) == ("2027-01-01T00:00:00Z", "2027-01-01T00:01:00Z")
    assert edited.body["next"][0]["slot"] == "2027-01-01T10:00:00Z"


def test_a_put_leaves_out_what_it_does_not_name(api: Api) -> None:
    put(api, grace=5, payload=1)
    assert (put(api).body["grace"], put(api).body["payload"]) == (60, None)


def test_a_patch_changes_what_it_names(api: Api) -> None:
    put(api, grace=5, payload={"a": 1.0})
    text = api.call("PATCH", "/schedules/daily", {"missed": "latest"}).text
    assert '"payload":{"a":1.0}' in text
    assert {"missed": "latest", "grace": 5, "version": 2}.items() <= json.loads(text).items()


def test_null_takes_a_field_back_to_its_default_and_a_payload_to_null(api: Api) -> None:
    put(api, grace=5, group="g", payload=1)
    shown = api.call("PATCH", "/schedules/daily", {"grace": None, "group": None, "payload": None}).body
    assert (shown["grace"], "group" in shown, shown["payload"]) == (60, False, None)


def test_a_patch_may_change_the_kind_of_expression(api: Api) -> None:
    put(api)
    shown = api.call("PATCH", "/schedules/daily", {"cron": None, "every": "PT90S"}).body
    assert ("cron" in shown, shown["every"]) == (False, "PT90S")
    assert [each["slot"] for each in shown["next"]][:2] == ["2027-01-01T00:01:30Z", "2027-01-01T00:03:00Z"]


def test_an_empty_patch_is_no_edit(api: Api) -> None:
    put(api)
    assert api.call("PATCH", "/schedules/daily", {}).body["version"] == 1


@pytest.mark.parametrize(
    ("patch", "fields"),
    [
        ({"every": 60}, {"every"}),
        ({"cron": None}, {"cron"}),
        ({"handler": None}, {"handler"}),
        ({"grace": -1, "zone": "Mars", "nonsense": None}, {"grace", "zone", "nonsense"}),
    ],
)
def test_a_wrong_patch_names_every_fault_and_changes_nothing(api: Api, patch: Any, fields: set[str]) -> None:
    put(api)
    answer = api.call("PATCH", "/schedules/daily", patch)
    assert {fault["field"] for fault in answer.body["errors"]} == fields
    assert api.call("GET", "/schedules/daily").body["version"] == 1


def test_every_fault_of_a_put_is_named_at_once(api: Api) -> None:
    wrong = {"cron": "* * *", "every": 5, "anchor": "x", "handler": "a b", "timeout": 5000, "retry": {"max": 0}}
    answer = with_header(api, "PUT", "/schedules/a%20b", wrong | {"payload": "x" * 300_000}, "first")
    assert answer.status == 400
    named = {fault["field"] for fault in answer.body["errors"]}
    assert named == {"cron", "every", "anchor", "handler", "timeout", "retry.max", "payload", "name", "If-Match"}


def test_a_payload_that_is_too_large_is_413(api: Api) -> None:
    assert put(api, payload="x" * 262_143).status == 413
    assert put(api, payload="x" * 262_142).status == 201


@pytest.mark.parametrize("version", ["1", '"1"', 'W/"1"'])
def test_the_version_that_was_seen_may_be_changed(api: Api, version: str) -> None:
    put(api)
    assert with_header(api, "PATCH", "/schedules/daily", {"grace": 1}, version).body["version"] == 2


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
def test_a_lost_update_is_refused(api: Api, method: str) -> None:
    put(api)
    put(api, grace=1)
    body = None if method == "DELETE" else DAILY | {"grace": 2}
    answer = with_header(api, method, "/schedules/daily", body, "1")
    assert (answer.status, answer.body["status"]) == (412, 412)
    assert "version 2" in answer.body["detail"]
    assert api.call("GET", "/schedules/daily").body["grace"] == 1


def test_what_is_not_there_has_no_version(api: Api) -> None:
    assert with_header(api, "PUT", "/schedules/daily", DAILY, "1").status == 412
    assert with_header(api, "PATCH", "/schedules/daily", {}, "1").status == 404
    assert api.call("GET", "/schedules/daily").status == 404


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", ""),
        ("PATCH", ""),
        ("DELETE", ""),
        ("POST", "/pause"),
        ("POST", "/resume"),
        ("GET", "/jobs"),
    ],
)
@pytest.mark.parametrize("name", ["gone", "a b", "x" * 65, "ü"])
def test_a_schedule_that_is_not_there_is_a_404(api: Api, method: str, path: str, name: str) -> None:
    answer = api.call(method, f"/schedules/{name}{path}", {} if method in {"PATCH", "POST"} else None)
    assert (answer.status, answer.body["status"]) == (404, 404)


def test_a_deleted_schedule_is_shown_once_more_and_gone(api: Api) -> None:
    put(api)
    deleted = api.call("DELETE", "/schedules/daily")
    assert (deleted.status, deleted.body["name"]) == (200, "daily")
    assert api.call("DELETE", "/schedules/daily").status == 404


def test_a_pause_is_shown_with_its_reason_and_has_no_next_slot(api: Api) -> None:
    put(api)
    shown = api.call("POST", "/schedules/daily/pause", {"reason": "holidays"})
    assert (shown.status, shown.body["state"], shown.body["next"]) == (200, "paused", [])
    pause = {"since": "2027-01-01T00:00:00Z", "reason": "holidays", "by": "unknown"}
    assert shown.body["paused"] == pause


def test_a_pause_needs_no_body_and_a_second_one_keeps_its_start(api: Api) -> None:
    put(api)
    assert api.call("POST", "/schedules/daily/pause").status == 200
    later(api, hours=1)
    again = api.call("POST", "/schedules/daily/pause", {"reason": "longer", "on_resume": "missed"}).body["paused"]
    assert (again["since"], again["reason"]) == ("2027-01-01T00:00:00Z", "longer")


def test_a_pause_with_an_end_shows_what_comes_after_it_and_is_over_then(api: Api) -> None:
    """A slot at the very end of a pause is the first that runs again."""
    put(api)
    shown = api.call("POST", "/schedules/daily/pause", {"until": "2027-01-03T09:00:00Z"}).body
    assert shown["next"][0]["slot"] == "2027-01-03T09:00:00Z"
    later(api, days=2, hours=9)
    shown = api.call("GET", "/schedules/daily").body
    assert (shown["state"], "paused" in shown) == ("active", False)


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"until": "2027-01-01T00:00:00Z"}, 422, "until"),
        ({"until": "2037-01-01T00:00:00.001Z"}, 422, "until"),
        ({"until": "2027-06-01T00:00:00"}, 400, "until"),
        ({"until": None}, 400, "until"),
        ({"reason": "x" * 501}, 400, "reason"),
        ({"on_resume": "now"}, 400, "on_resume"),
        ({"since": "2027-06-01T00:00:00Z"}, 400, "since"),
    ],
)
def test_a_wrong_pause_changes_nothing(api: Api, body: Any, status: int, field: str) -> None:
    put(api)
    answer = api.call("POST", "/schedules/daily/pause", body)
    assert (answer.status, [fault["field"] for fault in answer.body["errors"]]) == (status, [field])
    assert api.call("GET", "/schedules/daily").body["state"] == "active"


def test_to_resume_what_is_not_paused_changes_nothing(api: Api) -> None:
    put(api)
    resumed = api.call("POST", "/schedules/daily/resume")
    assert (resumed.status, resumed.body) == (200, SHOWN)


def test_an_edit_leaves_a_pause_alone(api: Api) -> None:
    put(api)
    api.call("POST", "/schedules/daily/pause", {"reason": "r"})
    assert put(api, grace=1).body["paused"]["reason"] == "r"
    assert api.call("POST", "/schedules/daily/resume").body["state"] == "active"


def test_a_broken_schedule_says_why_and_is_mended_by_an_edit(api: Api) -> None:
    put(api)
    api.schedules.rows["daily"] = replace(
        api.schedules.rows["daily"], state=ScheduleState.BROKEN, broken="zone is gone", next_at=None
    )
    shown = api.call("GET", "/schedules/daily").body
    assert (shown["state"], shown["broken"], shown["next"][:1] != []) == ("broken", "zone is gone", False)
    refused = api.call("POST", "/schedules/daily/pause")
    assert (refused.status, "zone is gone" in refused.body["detail"]) == (409, True)
    mended = put(api)
    assert (mended.status, mended.body["state"], mended.body["version"]) == (200, "active", 2)


def test_one_that_nobody_could_read_is_shown_as_broken(api: Api) -> None:
    put(api)
    api.schedules.rows["daily"] = replace(api.schedules.rows["daily"], fields={"cron": "nonsense", "colour": 1})
    shown = api.call("GET", "/schedules/daily").body
    assert (shown["state"], "colour" in shown["broken"]) == ("broken", True)


def test_what_has_no_further_slot_has_ended(api: Api) -> None:
    shown = put(api, ends_at="2027-01-01T08:00:00Z").body
    assert (shown["state"], shown["next"], shown["warnings"]) == ("ended", [], ["it has no further slot"])


def test_what_is_planned_to_its_end_has_not_ended_yet(api: Api) -> None:
    """A schedule of a few minutes was called ended while all its slots were still to come."""
    shown = put(api, cron="* * * * *", ends_at="2027-01-01T00:03:00Z").body
    assert (shown["state"], [each["slot"][11:16] for each in shown["next"]]) == ("active", ["00:01", "00:02"])


def test_a_fixed_time_is_answered_with_the_dates_that_touch_it(api: Api) -> None:
    gap, repeat = put(api, cron="30 1 * * *").body["warnings"]
    assert "2027-03-28" in gap
    assert "2027-10-31" in repeat
    assert "02:30" in repeat


def test_its_jobs_are_listed_newest_first(api: Api) -> None:
    put(api, cron="* * * * *", payload={"x": 1})
    answer = api.call("GET", "/schedules/daily/jobs", query={"limit": "4"})
    assert [job["id"] for job in answer.body["items"]] == [
        f"daily@2027-01-01T00:{minute:02}:00Z" for minute in (10, 9, 8, 7)
    ]
    seen = [job["slot"] for job in answer.body["items"]]
    while "next_cursor" in answer.body:
        query = {"limit": "4", "cursor": answer.body["next_cursor"]}
        answer = api.call("GET", "/schedules/daily/jobs", query=query)
        seen += [job["slot"] for job in answer.body["items"]]
    assert seen == [f"2027-01-01T00:{minute:02}:00Z" for minute in range(10, 0, -1)]


def test_its_jobs_are_narrowed_by_slot(api: Api) -> None:
    put(api, cron="* * * * *")
    query = {"from": "2027-01-01T00:03:00Z", "to": "2027-01-01T00:05:00Z"}
    answer = api.call("GET", "/schedules/daily/jobs", query=query)
    assert [job["slot"][14:16] for job in answer.body["items"]] == ["04", "03"]
    assert api.call("GET", "/schedules/daily/jobs", query={"from": query["to"], "to": query["from"]}).status == 422
    assert api.call("GET", "/schedules/daily/jobs", query={"from": "x", "limit": "0", "y": "1"}).status == 400


def test_schedules_are_listed_by_prefix_group_and_state(api: Api) -> None:
    for name in ("a-1", "a-2", "b-1"):
        put(api, name, group=name[0])
    api.call("POST", "/schedules/a-2/pause")

    def listed(**query: str) -> list[str]:
        return [item["name"] for item in api.call("GET", "/schedules", query=query).body["items"]]

    assert sorted(listed()) == ["a-1", "a-2", "b-1"]
    assert sorted(listed(prefix="a-")) == ["a-1", "a-2"]
    assert listed(group="b") == ["b-1"]
    assert listed(state="paused") == ["a-2"]
    assert sorted(listed(state="active")) == ["a-1", "b-1"]


def test_a_list_of_schedules_shows_each_once(api: Api) -> None:
    for number in range(12):
        put(api, f"s{number:02}")
    seen, query = [], {"limit": "5"}
    while True:
        answer = api.call("GET", "/schedules", query=query)
        seen += [item["name"] for item in answer.body["items"]]
        if "next_cursor" not in answer.body:
            break
        query = {"limit": "5", "cursor": answer.body["next_cursor"]}
    assert sorted(seen) == [f"s{number:02}" for number in range(12)]


@pytest.mark.parametrize(
    "query", [{"limit": "0"}, {"state": "gone"}, {"cursor": "x"}, {"prefix": "a b"}, {"handler": "h"}]
)
def test_a_wrong_list_is_refused(api: Api, query: dict[str, str]) -> None:
    assert api.call("GET", "/schedules", query=query).status == 400


def test_large_payloads_make_short_pages_and_no_answer_that_is_too_large(api: Api) -> None:
    names = [f"s{number:02}" for number in range(20)]
    for name in names:
        put(api, name, payload="\\" * 130_000)
    seen, query, pages = [], {"limit": "100"}, 0
    while True:
        answer, pages = api.call("GET", "/schedules", query=query), pages + 1
        assert len(json.dumps(answer.event)) < 6_291_456
        seen += [item["name"] for item in answer.body["items"]]
        if "next_cursor" not in answer.body:
            break
        query = {"limit": "100", "cursor": answer.body["next_cursor"]}
    assert sorted(seen) == names
    assert pages > 2


def test_a_rhythm_without_an_anchor_begins_at_the_creation_also_after_an_edit(api: Api) -> None:
    api.call("PUT", "/schedules/r", {"every": 3600, "handler": "h"})
    later(api, minutes=90)
    edited = api.call("PUT", "/schedules/r", {"every": 3600, "handler": "other"})
    assert edited.body["next"][0]["slot"] == "2027-01-01T02:00:00Z"
    assert str(api.schedules.rows["r"].next_at)[:16] == "2027-01-01 02:00"


def test_a_payload_whose_item_is_gone_is_left_out(api: Api) -> None:
    put(api, payload="x" * 1000)
    api.payloads.rows.clear()
    assert "payload" not in api.call("GET", "/schedules/daily").body


def test_a_deletion_cancels_what_is_planned_and_reads_no_history(api: Api) -> None:
    """It read every job that the schedule ever had: 43,200 for a month of minutes, longer than a caller may wait."""
    put(api, cron="* * * * *")
    [planned, *_] = api.jobs.rows.values()
    for minutes in range(1500):
        slot = f"2026-{1 + minutes // 1440:02}-01T{minutes // 60 % 24:02}:{minutes % 60:02}:00.000Z"
        old = replace(planned, slot=slot, state=State.SUCCEEDED, wake=None)
        api.jobs.rows[old.key] = old
    calls = api.indexes.calls
    api.call("DELETE", "/schedules/daily")
    states = [job.state for job in api.jobs.rows.values()]
    assert (states.count(State.CANCELLED), states.count(State.SUCCEEDED)) == (10, 1500)
    assert api.indexes.calls - calls == 1
