"""The shapes of schedules: each field is checked by itself, and says the same at the wire and where it is stored."""

from typing import Any

import pytest
from pydantic import BaseModel

from onthedot.http.flags import DryRunQuery
from onthedot.http.preview_models import PreviewRequest
from onthedot.http.schedule_models import (
    PauseRequest,
    ScheduleJobsQuery,
    SchedulePatch,
    ScheduleQuery,
    ScheduleRequest,
)
from onthedot.http.shapes import check, fields_of
from onthedot.rules.definitions import READERS, edited, read_stored
from onthedot.rules.errors import Fault, Kind

EVERYTHING = {
    "cron": "0 9 * * *", "every": "PT1H", "anchor": "2027-01-01T00:00:00", "rrule": "FREQ=DAILY", "zone": "UTC",
    "on_gap": "shift", "on_repeat": "both", "starts_at": "2027-01-01t00:00:00.1239+01:00",
    "ends_at": "2028-01-01T00:00:00Z",
    "exclude": ["2027-05-01"], "spread": 0.5, "missed": "latest", "grace": 0, "catch_up_window": "P1D",
    "catch_up_limit": 5, "catch_up_rate": 6, "handler": "h", "overlap": "wait", "group": "g",
    "retry": {"max_attempts": 3, "first": 1.5, "factor": 2, "max": "PT1H"}, "timeout": 30, "start_within": "PT5M",
    "pause_after": 3,
}  # fmt: skip

SPANS = ["every", "spread", "grace", "catch_up_window", "timeout", "start_within"]


def checked(model: type[BaseModel], value: Any) -> tuple[dict[str, Any], set[str]]:
    faults: list[Fault] = []
    fields = check(model, value, "", faults)
    assert all(fault.kind is Kind.MALFORMED for fault in faults)
    return fields, {fault.field for fault in faults}


def test_the_wire_and_the_store_make_the_same_fields() -> None:
    assert READERS.keys() == EVERYTHING.keys()
    assert set(fields_of(ScheduleRequest)) == {*READERS, "payload"}
    fields, faults = checked(ScheduleRequest, EVERYTHING)
    assert not faults
    assert fields == read_stored(EVERYTHING)


@pytest.mark.parametrize("name", [*READERS])
def test_what_is_no_value_of_a_field_is_told_of(name: str) -> None:
    wrong: dict[str, list[Any]] = {
        "exclude": [None, "2027-01-01", {}],
        "retry": [None, [], {"max_attempts": 1.5}, {"first": "x"}],
        "catch_up_limit": [None, True, 1.5, "5"],
        "catch_up_rate": [None, True, 60.0, "5"],
        "pause_after": [None, True, "5"],
        **{each: [None, True, "x", []] for each in SPANS},
    }
    for value in wrong.get(name, [None, 5, True, [], {}]):
        fields, faults = checked(ScheduleRequest, {"handler": "h", "cron": "0 9 * * *", name: value})
        assert {fault.split(".")[0] for fault in faults} == {name}
        assert fields.keys() <= {"handler", "cron", "retry"}


def test_a_handler_is_needed_and_a_name_is_not_known_in_the_body() -> None:
    assert checked(ScheduleRequest, {"cron": "0 9 * * *", "name": "s"})[1] == {"handler", "name"}


def test_an_edit_may_take_back_every_field_but_the_handler() -> None:
    assert set(fields_of(SchedulePatch)) == set(fields_of(ScheduleRequest))
    assert checked(SchedulePatch, {}) == ({}, set())
    nothing = dict.fromkeys(fields_of(ScheduleRequest))
    rest = {name: value for name, value in nothing.items() if name != "handler"}
    assert checked(SchedulePatch, nothing) == (rest, {"handler"})
    assert checked(SchedulePatch, {"cron": 5, "grace": "x", "retry": [], "Grace": None})[1] == {
        "cron", "grace", "retry", "Grace",
    }  # fmt: skip


def test_an_edited_schedule_is_checked_as_a_whole() -> None:
    stored = {"handler": "h", "cron": "0 9 * * *", "grace": 5}
    cases: list[tuple[dict[str, Any], set[str]]] = [
        ({"grace": None, "payload": None}, set()),
        ({"handler": None}, {"handler"}),
        ({"Grace": None, "grace": "x"}, {"Grace", "grace"}),
    ]
    for patch, named in cases:
        fields, faults = checked(ScheduleRequest, edited(stored, patch))
        assert faults == named
        assert ("payload" in fields) == ("payload" in patch)


def test_from_is_a_field_like_any_other() -> None:
    assert set(checked(ScheduleJobsQuery, {"from": "2027-01-01T00:00:00Z", "limit": "5"})[0]) == {"from", "limit"}
    assert checked(ScheduleJobsQuery, {"from_": "2027-01-01T00:00:00Z"})[1] == {"from_"}
    assert "from" in PreviewRequest.model_json_schema()["required"]


def test_a_pause_has_a_reason_of_500_characters() -> None:
    assert checked(PauseRequest, {})[1] == set()
    assert (
        checked(PauseRequest, {"reason": "ü" * 500, "until": "2027-01-01T00:00:00Z", "on_resume": "missed"})[1] == set()
    )
    assert checked(PauseRequest, {"reason": "x" * 501, "until": 5, "on_resume": "run"})[1] == {
        "reason", "until", "on_resume",
    }  # fmt: skip


def test_queries_are_texts() -> None:
    assert checked(DryRunQuery, {"dry_run": "true"})[0] == {"dry_run": True}
    assert checked(DryRunQuery, {"dry_run": "false"})[0] == {"dry_run": False}
    assert checked(DryRunQuery, {"dry_run": "1"})[1] == {"dry_run"}
    query = {"limit": "100", "cursor": "x", "prefix": "nightly.", "group": "g", "state": "paused"}
    assert checked(ScheduleQuery, query)[1] == set()
    assert checked(ScheduleQuery, {"limit": "101", "prefix": "", "state": "dead"})[1] == {"limit", "prefix", "state"}
