"""A preview shows what a timetable means and what an outage would do to it; whatever is asked, it never crashes."""

import json
from typing import Any, cast

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.http.memory import event

from onthedot.http.preview import preview
from onthedot.http.preview_models import Preview, PreviewRequest
from onthedot.http.requests import Request, request_of
from onthedot.http.shapes import fields_of
from onthedot.rules.errors import Fault, Invalid, Kind
from onthedot.steps.ports import World

BERLIN = {"cron": "30 2 * * *", "zone": "Europe/Berlin", "from": "2027-03-27T00:00:00", "to": "2027-03-30T00:00:00"}
WINDOW = {"from": "2027-01-01T00:00:00Z", "to": "2027-01-02T00:00:00Z"}
HOURLY = {"cron": "0 * * * *", **WINDOW}
M, R = Kind.MALFORMED, Kind.REFUSED


def request(body: dict[str, Any]) -> Request:
    return request_of(event("POST", "/preview", body), {}, [], takes_body=True)


def answered(**body: Any) -> dict[str, Any]:
    answer = preview(cast(World, None), request(body))
    assert answer.status == 200
    view = json.loads(answer.text)
    jsonschema.validate(view, Preview.model_json_schema())
    return cast(dict[str, Any], view)


def faults(**body: Any) -> list[Fault]:
    with pytest.raises(Invalid) as caught:
        preview(cast(World, None), request(body))
    assert len({(fault.field, fault.message) for fault in caught.value.faults}) == len(caught.value.faults)
    return list(caught.value.faults)


def slots(**body: Any) -> list[str]:
    return [slot["slot"] for slot in answered(**body)["slots"]]


def test_a_gap_is_shown_with_its_note_and_its_warning() -> None:
    view = answered(**BERLIN)
    assert view["slots"][1] == {
        "slot": "2027-03-28T01:00:00Z",
        "local_slot": "2027-03-28T03:00:00+02:00",
        "run_at": "2027-03-28T01:00:00Z",
        "note": "02:30 does not exist on 2027-03-28; this is instead",
    }
    assert view["slots"][0] == {
        "slot": "2027-03-27T01:30:00Z",
        "local_slot": "2027-03-27T02:30:00+01:00",
        "run_at": "2027-03-27T01:30:00Z",
    }
    assert view["runs"][0] == {"slot": "2027-03-27T01:30:00Z", "at": "2027-03-27T01:30:00Z"}
    assert view["skipped"] == []
    assert len(view["slots"]) == len(view["runs"]) == 3
    assert "2027-03-28" in view["warnings"][0]


def test_the_window_begins_with_its_first_instant_and_ends_before_its_last() -> None:
    facts = {"cron": "0 0 * * *", "from": "2027-01-01T00:00:00Z"}
    assert slots(**facts, to="2027-01-02T00:00:00Z") == ["2027-01-01T00:00:00Z"]
    assert slots(**facts, to="2027-01-01T00:00:00Z") == []
    assert slots(**facts, count=2) == ["2027-01-01T00:00:00Z", "2027-01-02T00:00:00Z"]
    assert slots(**facts, count=5, ends_at="2027-01-02T00:00:00Z") == ["2027-01-01T00:00:00Z"]


def test_from_plays_the_part_of_the_creation() -> None:
    start = "2027-01-01T12:34:56.700Z"
    assert slots(every=3600, count=2, **{"from": start}) == [start, "2027-01-01T13:34:56.700Z"]
    daily = {"rrule": "FREQ=DAILY", "count": 1, "from": "2027-01-01T12:34:56Z"}
    assert slots(**daily) == ["2027-01-01T12:34:56Z"]
    far = {"cron": "0 0 1 1 *", "count": 1, "from": "2090-06-01T00:00:00Z"}
    assert slots(**far, starts_at="2099-01-01T00:00:00Z") == ["2099-01-01T00:00:00Z"]


def test_a_spread_moves_the_run_and_not_the_slot() -> None:
    one, other = (answered(**HOURLY, spread=600, name=name)["slots"][0] for name in ("one", "other"))
    assert one["slot"] == other["slot"] == "2027-01-01T00:00:00Z"
    assert "2027-01-01T00:00:00Z" < one["run_at"] < "2027-01-01T00:10:00Z"
    assert one["run_at"] != other["run_at"]


def test_an_outage_takes_slots_and_the_rule_says_which_run() -> None:
    down = {"from": "2027-01-01T00:30:00Z", "to": "2027-01-01T05:30:00Z"}
    view = answered(**HOURLY, down=down, catch_up_limit=2, catch_up_rate=1)
    assert view["runs"][:4] == [
        {"slot": "2027-01-01T00:00:00Z", "at": "2027-01-01T00:00:00Z"},
        {"slot": "2027-01-01T04:00:00Z", "at": "2027-01-01T05:30:00Z"},
        {"slot": "2027-01-01T05:00:00Z", "at": "2027-01-01T05:31:00Z"},
        {"slot": "2027-01-01T06:00:00Z", "at": "2027-01-01T06:00:00Z"},
    ]
    [skipped] = view["skipped"]
    assert skipped == {
        "from": "2027-01-01T01:00:00Z", "to": "2027-01-01T03:00:00Z", "count": 3, "reason": "over the catch-up limit",
    }  # fmt: skip
    local = {"from": "2027-01-01T01:30:00", "to": "2027-01-01T06:30:00"}
    tokyo = {"from": "2027-01-01T09:30:00", "to": "2027-01-01T14:30:00"}
    for zone, where in (("Africa/Lagos", local), ("Asia/Tokyo", tokyo)):
        assert answered(**HOURLY, down=where, zone=zone, missed="skip")["skipped"][0]["count"] == 5


def test_past_windows_work() -> None:
    facts = {"cron": "0 0 1 1 *", "zone": "Africa/Monrovia", "from": "1900-01-01T00:00:00", "count": 1}
    [slot] = answered(**facts)["slots"]
    assert slot["local_slot"] == "1900-01-01T00:00:08-00:43"
    assert slot["slot"] == "1900-01-01T00:43:08Z"


def test_a_thousand_slots_are_shown_and_no_more() -> None:
    minutes = {"cron": "* * * * *", "from": "2027-01-01T00:00:00Z"}
    assert len(slots(**minutes, to="2027-01-01T16:40:00Z")) == 1000
    assert len(slots(**minutes, count=1000)) == 1000
    assert [(fault.field, fault.kind) for fault in faults(**minutes, to="2027-01-01T16:41:00Z")] == [("to", R)]


DOWN = {"from": "2027-01-01T00:00:00Z", "to": "2027-01-02T00:00:00Z"}


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({}, {"cron": M, "from": M, "to": M}),
        ({**HOURLY, "count": 5}, {"count": R}),
        ({**HOURLY, "to": 5, "count": 5}, {"to": M, "count": R}),
        ({**HOURLY, "to": "2026-12-31T23:59:59Z"}, {"to": R}),
        ({**HOURLY, "from": "2027-01-01T00:00:00"}, {"from": M}),
        ({**HOURLY, "zone": "Europe/Berlin", "from": "2027-01-01T00:00:00+02:00"}, {"from": R}),
        ({**HOURLY, "to": "2201-01-01T00:00:00Z"}, {"to": R}),
        ({**HOURLY, "from": "1899-12-31T00:00:00Z"}, {"from": R}),
        ({**HOURLY, "from": "0001-01-01T00:00:00+14:00"}, {"from": R}),
        ({**BERLIN, "zone": "Mars/Olympus"}, {"zone": R}),
        ({**BERLIN, "zone": 5}, {"zone": M}),
        ({**BERLIN, "zone": "Mars/Olympus", "down": {"from": "2027-01-01T00:00:00", "to": "x"}},
         {"zone": R, "down.to": M}),
        ({"cron": "0 0 * * *", "from": "2027-01-01T00:00:00Z", "count": 0}, {"count": R}),
        ({"cron": "0 0 * * *", "from": "2027-01-01T00:00:00Z", "count": 1001}, {"count": R}),
        ({"cron": "0 0 * * *", "from": "2027-01-01T00:00:00Z", "count": 10**30}, {"count": R}),
        ({"cron": "0 0 * * *", "from": "2027-01-01T00:00:00Z", "count": "5"}, {"count": M}),
        ({**HOURLY, "down": {}}, {"down.from": M, "down.to": M}),
        ({**HOURLY, "down": []}, {"down": M}),
        ({**HOURLY, "down": {**DOWN, "for": 5}}, {"down.for": M}),
        ({**HOURLY, "down": {**DOWN, "to": "2026-12-31T00:00:00Z"}}, {"down.to": R}),
        ({**HOURLY, "down": {**DOWN, "to": "2028-02-05T00:00:00.001Z"}}, {"down.to": R}),
        ({**HOURLY, "cron": "* * * * *", "to": "2027-01-01T01:00:00Z",
          "down": {**DOWN, "to": "2027-12-31T00:00:00Z"}}, {"down": R}),
        ({**HOURLY, "starts_at": "2037-01-01T00:00:01Z"}, {"starts_at": R}),
        ({**HOURLY, "handler": "h"}, {"handler": M}),
        ({**HOURLY, "name": "a b"}, {"name": M}),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_field(body: dict[str, Any], named: dict[str, Kind]) -> None:
    assert {fault.field: fault.kind for fault in faults(**body)} == named


def test_an_outage_of_400_days_is_not_too_long() -> None:
    assert answered(**HOURLY, down={**DOWN, "to": "2028-02-05T00:00:00Z"})["skipped"][0]["count"] == 23


def test_one_fault_hides_no_other() -> None:
    found = faults(
        cron="x", anchor="2027-01-01T00:00:00Z", zone="Mars/Olympus", to="2026-01-01T00:00:00Z", count=0, spread=-1,
        grace=-1, exclude=["x"], down={"from": "2027-01-01T00:00:00Z", "to": "2026-01-01T00:00:00Z"},
        **{"from": "2027-01-01T00:00:00Z"},
    )  # fmt: skip
    assert {fault.field for fault in found} == {
        "cron", "anchor", "zone", "to", "count", "spread", "name", "grace", "exclude.0", "down.to",
    }  # fmt: skip


def test_what_depends_on_a_wrong_from_is_not_judged() -> None:
    body = {"rrule": "FREQ=DAILY;UNTIL=20260101", "starts_at": "2090-01-01T00:00:00Z", "count": 1}
    assert {fault.field for fault in faults(rrule=body["rrule"], count=1)} == {"from"}
    assert {fault.field for fault in faults(cron="0 0 * * *", starts_at=body["starts_at"], count=1)} == {"from"}


def test_faults_of_the_query_are_told_beside_them() -> None:
    with pytest.raises(Invalid) as caught:
        preview(
            cast(World, None),
            request_of(event("POST", "/preview", {"cron": 1}, {"zone": "UTC"}), {}, [], takes_body=True),
        )
    assert {fault.field for fault in caught.value.faults} == {"zone", "cron", "from", "to"}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=6,
)
TIMES = st.sampled_from(
    ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59", "2027-03-28T02:30:00", "1900-01-01T00:00:00Z",
     "2200-12-31T23:59:59", "2027-01-01T00:00:00.001+01:00", "2026-12-31T00:00:00Z", "2027-01-01T00:00:00"]
)  # fmt: skip
SPANS = st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from(["PT1M", "-P1D", "P9999W"])
LIKELY = {
    "cron": st.sampled_from(["0 0 29 2 *", "* * * * *", "*/5 2-3 * * *", "0 0 30 2 *", "", "0 0 1 1 *"]),
    "every": SPANS | st.integers(60, 100_000),
    "rrule": st.sampled_from(["FREQ=DAILY", "FREQ=YEARLY;COUNT=4000", "FREQ=WEEKLY;UNTIL=20300101T000000Z", ";", ""]),
    "zone": st.sampled_from(["UTC", "Europe/Berlin", "Pacific/Apia", "Africa/Monrovia", "../UTC", ""]),
    "exclude": st.lists(st.dates().map(str), max_size=3),
    "count": st.integers(1, 20) | st.integers(),
    "down": st.fixed_dictionaries({"from": TIMES, "to": TIMES}),
    **dict.fromkeys(["from", "to", "starts_at", "ends_at", "anchor"], TIMES),
    **dict.fromkeys(["spread", "grace", "catch_up_window"], SPANS),
}
NAMES = list(fields_of(PreviewRequest))


@settings(max_examples=300)
@given(st.fixed_dictionaries({}, optional={name: LIKELY.get(name, VALUES) | VALUES for name in NAMES}))
def test_no_input_makes_it_crash(body: dict[str, Any]) -> None:
    _shows_or_refuses(body)


@settings(max_examples=300)
@given(
    st.sampled_from(["cron", "every", "rrule"]).flatmap(lambda name: st.fixed_dictionaries({name: LIKELY[name]})),
    st.fixed_dictionaries(
        {"from": TIMES, "zone": st.sampled_from(["UTC", "Europe/Berlin", "Pacific/Apia", "Africa/Monrovia"])},
        optional={name: LIKELY[name] for name in ("to", "count", "starts_at", "ends_at", "exclude", "down")},
    ),
)
def test_no_likely_input_makes_it_crash(expression: dict[str, Any], rest: dict[str, Any]) -> None:
    _shows_or_refuses(expression | rest)


def _shows_or_refuses(body: dict[str, Any]) -> None:
    try:
        view = json.loads(preview(cast(World, None), request(body)).text)
    except Invalid:
        return
    assert len(view["slots"]) <= 1000
    assert len(view["slots"]) == len(view["runs"]) + sum(part["count"] for part in view["skipped"])
