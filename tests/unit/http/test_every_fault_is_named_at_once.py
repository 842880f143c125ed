"""A request is told everything that is wrong with it, those between fields too; one malformed field makes it a 400."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.http.memory import Api

from onthedot.rules.instants import shown


def faults(api: Api, **fields: Any) -> tuple[int, set[str]]:
    answer = api.call("POST", "/jobs", fields)
    assert not api.jobs.rows, "nothing is half done"
    return answer.status, {error["field"] for error in answer.body["errors"]}


def test_all_of_them_at_once(api: Api) -> None:
    status, fields = faults(
        api,
        handler="no name",
        delay=-1,
        run_at="2020-01-01T00:00:00Z",
        zone="Europe/Nowhere",
        on_gap="sometimes",
        id="",
        group="a b",
        retry={"max_attempts": 0, "first": 10, "max": 5, "factor": 0.5, "jitter": 1},
        timeout=0.5,
        start_within=0,
        payload="x" * 262_144,
        priority=1,
    )
    assert status == 400
    assert fields == {
        "handler", "delay", "run_at", "zone", "on_gap", "id", "group", "retry.max_attempts", "retry.max",
        "retry.factor", "retry.jitter", "timeout", "start_within", "payload", "priority",
    }  # fmt: skip


def test_what_lies_between_fields_is_named_beside_a_malformed_field(api: Api) -> None:
    assert faults(api, handler=1, delay=1, run_at="2028-01-01T00:00:00Z") == (400, {"handler", "delay"})
    assert faults(api, handler=1, retry={"first": 2, "max": 1}) == (400, {"handler", "retry.max"})
    assert faults(api, delay="soon", run_at="2020-01-01T00:00:00Z") == (400, {"handler", "delay", "run_at"})
    errors = api.create(delay="soon", run_at="2028-01-01T00:00:00Z").body["errors"]
    assert [error["field"] for error in errors] == ["delay", "delay"]


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"delay": -5}, "delay"),
        ({"delay": 10**18}, "delay"),
        ({"delay": 1, "run_at": "2028-01-01T00:00:00Z"}, "delay"),
        ({"run_at": "2020-01-01T00:00:00Z"}, "run_at"),
        ({"run_at": "9999-12-31T23:59:59Z"}, "run_at"),
        ({"run_at": "2028-01-01T00:00:00", "zone": "Europe/Nowhere"}, "zone"),
        ({"run_at": "2028-07-01T00:00:00+05:30", "zone": "Europe/London"}, "run_at"),
        ({"run_at": "2027-03-28T02:30:00", "zone": "Europe/Berlin"}, "run_at"),
        ({"zone": "utc"}, "zone"),
        ({"timeout": 90.001}, "timeout"),
        ({"timeout": 0.999}, "timeout"),
        ({"start_within": -1}, "start_within"),
        ({"retry": {"max_attempts": 51}}, "retry.max_attempts"),
        ({"retry": {"max_attempts": 10**30}}, "retry.max_attempts"),
        ({"retry": {"first": 0}}, "retry.first"),
        ({"retry": {"max": 10**12}}, "retry.max"),
        ({"retry": {"factor": 1e300}}, "retry.factor"),
    ],
)
def test_well_formed_and_refused_by_a_rule_is_a_422(api: Api, fields: dict[str, Any], named: str) -> None:
    assert faults(api, handler="h", **fields) == (422, {named})


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"delay": True}, "delay"),
        ({"delay": "10"}, "delay"),
        ({"delay": "P1M"}, "delay"),
        ({"delay": None}, "delay"),
        ({"run_at": "2026-07-01T09:00:00"}, "run_at"),
        ({"run_at": "2026-07-01", "zone": "Europe/London"}, "run_at"),
        ({"run_at": "2016-12-31T23:59:60Z"}, "run_at"),
        ({"run_at": "2027-01-01T24:00:00Z"}, "run_at"),
        ({"run_at": 1_800_000_000}, "run_at"),
        ({"zone": 1}, "zone"),
        ({"on_gap": "skip"}, "on_gap"),
        ({"on_repeat": "both"}, "on_repeat"),
        ({"id": ""}, "id"),
        ({"id": " "}, "id"),
        ({"id": "x" * 65}, "id"),
        ({"id": "x\n"}, "id"),
        ({"id": "-x"}, "id"),
        ({"id": "a@b"}, "id"),
        ({"id": "ä"}, "id"),
        ({"group": 1}, "group"),
        ({"timeout": True}, "timeout"),
        ({"timeout": []}, "timeout"),
        ({"retry": []}, "retry"),
        ({"retry": {"max_attempts": True}}, "retry.max_attempts"),
        ({"retry": {"max_attempts": 5.0}}, "retry.max_attempts"),
        ({"retry": {"factor": "2"}}, "retry.factor"),
        ({"Delay": 1}, "Delay"),
    ],
)
def test_a_wrong_type_form_or_pattern_is_a_400(api: Api, fields: dict[str, Any], named: str) -> None:
    assert faults(api, handler="h", **fields) == (400, {named})


def test_ids_are_case_sensitive_and_as_long_as_64(api: Api) -> None:
    for job_id in ["x", "X", "0", "a.b_c-d", "x" * 64]:
        assert api.create(id=job_id).status == 201
    assert len(api.jobs.rows) == 5


@pytest.mark.parametrize(
    ("fields", "run_at"),
    [
        ({}, "2027-01-01T00:00:00Z"),
        ({"delay": 0}, "2027-01-01T00:00:00Z"),
        ({"delay": 899.6}, "2027-01-01T00:14:59.600Z"),
        ({"delay": 86_400, "zone": "Europe/Berlin"}, "2027-01-02T00:00:00Z"),
        ({"delay": "PT10M"}, "2027-01-01T00:10:00Z"),
        ({"run_at": "2026-12-31T23:59:30Z"}, "2027-01-01T00:00:00Z"),
        ({"run_at": "2027-01-01T23:59:59.9999999Z"}, "2027-01-01T23:59:59.999Z"),
        ({"run_at": "2027-07-01T09:00:00", "zone": "Europe/London"}, "2027-07-01T08:00:00Z"),
        ({"run_at": "2027-07-01t09:00:00z"}, "2027-07-01T09:00:00Z"),
        ({"run_at": "2027-03-28T02:30:00", "zone": "Europe/Berlin", "on_gap": "after"}, "2027-03-28T01:00:00Z"),
        ({"run_at": "2027-03-28T02:30:00", "zone": "Europe/Berlin", "on_gap": "shift"}, "2027-03-28T01:30:00Z"),
        ({"run_at": "2027-10-31T02:30:00", "zone": "Europe/Berlin", "on_repeat": "last"}, "2027-10-31T01:30:00Z"),
        ({"zone": "Asia/Tokyo"}, "2027-01-01T00:00:00Z"),
    ],
)
def test_what_is_accepted_is_due_when_it_says(api: Api, fields: dict[str, Any], run_at: str) -> None:
    answer = api.create(**fields)
    assert (answer.status, answer.body["run_at"]) == (201, run_at)


def test_what_the_attempts_need_is_kept(api: Api) -> None:
    api.create(
        id="x", delay=60, timeout="PT1M30S", start_within=2.5, retry={"max_attempts": 50, "first": 0.001}, group="g"
    )
    [job] = api.jobs.rows.values()
    assert job.timeout is not None
    assert job.timeout.total_seconds() == 90
    assert job.start_before is not None
    assert shown(job.start_before) == "2027-01-01T00:01:02.500Z"
    assert job.retry is not None
    assert (job.retry.max_attempts, job.retry.first, job.retry.factor, job.retry.max) == (50, 0.001, None, None)
    assert api.call("GET", "/jobs/x").body["max_attempts"] == 50


@pytest.mark.parametrize(
    ("body", "status", "named"),
    [
        ({}, 400, {"run_at"}),
        ({"payload": 1}, 400, {"run_at"}),
        ({"delay": -1}, 422, {"delay"}),
        ({"delay": 1, "run_at": "2028-01-01T00:00:00Z"}, 422, {"delay"}),
        ({"delay": "x", "group": "g", "payload": "x" * 262_144}, 400, {"delay", "group", "payload"}),
        ({"delay": 1, "payload": "x" * 262_144}, 413, {"payload"}),
    ],
)
def test_a_reschedule_is_judged_alike(api: Api, body: dict[str, Any], status: int, named: set[str]) -> None:
    api.create(id="x", delay=60)
    answer = api.call("PATCH", "/jobs/x", body)
    assert (answer.status, {error["field"] for error in answer.body["errors"]}) == (status, named)
    assert api.call("GET", "/jobs/x").body["run_at"] == "2027-01-01T00:01:00Z"


def test_a_flood_of_unknown_fields_is_answered_in_bounds(api: Api) -> None:
    answer = api.call("POST", "/jobs", {"x" * 1_000 + str(number): 1 for number in range(4_000)})
    assert answer.status == 400
    assert len(answer.text) < 20_000
    assert "3980 more" in answer.text


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=6,
)
FIELDS = [
    "handler",
    "payload",
    "delay",
    "run_at",
    "zone",
    "on_gap",
    "on_repeat",
    "id",
    "group",
    "retry",
    "timeout",
    "start_within",
]


@settings(deadline=None)
@given(
    st.dictionaries(st.sampled_from(FIELDS), VALUES),
    st.dictionaries(st.sampled_from(["max_attempts", "first", "factor", "max"]), VALUES),
)
def test_no_input_makes_it_crash(fields: dict[str, Any], retry: dict[str, Any]) -> None:
    api = Api()
    for body in (fields, fields | {"retry": retry}):
        for answer in (api.call("POST", "/jobs", body), api.call("PATCH", "/jobs/x", body)):
            assert answer.status in {200, 201, 400, 404, 409, 413, 422}
        assert api.call("POST", "/jobs/batch", {"jobs": [body, body]}).status == 200
    assert not api.crashes


def test_faults_of_the_query_do_not_hide_those_of_the_rest(api: Api) -> None:
    """One was told, mended, and then the next: each a round trip."""
    answer = api.call("POST", "/jobs", {"handler": 5}, {"foo": ["1"]})
    assert {error["field"] for error in answer.body["errors"]} == {"foo", "handler"}
    answer = api.call("GET", "/jobs", None, {"limit": ["0"], "foo": ["1"]})
    assert {error["field"] for error in answer.body["errors"]} == {"foo", "limit"}
