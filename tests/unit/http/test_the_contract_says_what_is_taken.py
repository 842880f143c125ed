"""What the contract takes is not malformed, and what it does not is refused: as far as a schema can say it."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter
from tests.unit.http.memory import Api

from onthedot.http.forms import Delay, Rhythm
from onthedot.http.routes import contract
from onthedot.rules.inputs import Malformed, horizon, read_duration, read_time

DOCUMENT: dict[str, Any] = json.loads(contract())
SCHEMAS: dict[str, Any] = DOCUMENT["components"]["schemas"]
TIME = Draft202012Validator(SCHEMAS["JobRequest"]["properties"]["run_at"])
DELAY = Draft202012Validator(SCHEMAS["JobRequest"]["properties"]["delay"])
TWO_DIGITS = st.sampled_from(["00", "01", "02", "04", "09", "10", "12", "13", "23", "24", "29", "30", "31", "32", "60"])
TIMES = st.tuples(
    *[st.sampled_from(["0000", "0001", "0100", "2027", "2028", "9999"]), *[TWO_DIGITS] * 5],
    st.sampled_from(["", ".5", ".", ".1234567", "Z", "z", "+01:00", "-23:59", "+24:00", "+0100", " ", "Z\n"]),
).map(lambda parts: "{}-{}-{}T{}:{}:{}{}".format(*parts))
SPANS = st.lists(st.sampled_from([*"PT+WDHMS", "1", "2.5", "3,5", "P", "1D", "1H", "T", "\n"]), max_size=7).map("".join)


def takes(read: Any, text: str) -> bool:
    try:
        read(text)
    except Malformed:
        return False
    return True


@settings(max_examples=300)
@given(TIMES)
@example("2027-02-28T23:59:59.999+23:59")
def test_a_time_has_one_form(text: str) -> None:
    """The contract called every text a time; a client's tests, made from it, were all refused."""
    leap_day = "-02-29" in text
    assert TIME.is_valid(text) is takes(read_time, text) or leap_day


@settings(max_examples=300)
@given(SPANS)
@example("P1W2DT3H4M5.6S")
@example("P1.5DT2H")
@example("PT")
def test_a_duration_has_one_form(text: str) -> None:
    assert DELAY.is_valid(text) is takes(read_duration, text)


@pytest.mark.parametrize(
    ("model", "field", "least", "too_little"),
    [
        ("JobRequest", "delay", 0, -0.001),
        ("JobRequest", "timeout", 1, 0.999),
        ("JobRequest", "start_within", 0.001, 0),
        ("RetryRequest", "first", 0.001, 0),
        ("RetryRequest", "max", 0.001, 0),
        ("ScheduleRequest", "every", 60, 59),
        ("ScheduleRequest", "catch_up_window", 1, 0),
        ("ScheduleRequest", "grace", 0, -1),
        ("PreviewRequest", "count", 1, 0),
    ],
)
def test_each_least_is_the_one_of_its_rule(model: str, field: str, least: float, too_little: float) -> None:
    """All durations were said to begin at 0, which most of them refuse."""
    judged = Draft202012Validator(SCHEMAS[model]["properties"][field])
    assert judged.is_valid(least)
    assert not judged.is_valid(too_little)


def test_only_a_delay_is_rounded_up_onto_a_whole_second() -> None:
    """What waits must not be early; what is bounded must not reach its bound by rounding."""
    assert (TypeAdapter(Delay).validate_python(59.9996), TypeAdapter(Rhythm).validate_python(59.9996)) == (
        60_000,
        59_999,
    )


def test_the_most_is_the_longest_ten_years() -> None:
    """It was the shortest, and a delay of a day more was taken all the same from a year with three leap days ahead."""
    now = datetime(2027, 1, 4, tzinfo=UTC)
    most = (horizon(now) - now).total_seconds()
    for name in ("delay", "start_within"):
        judged = Draft202012Validator(SCHEMAS["JobRequest"]["properties"][name])
        assert (judged.is_valid(most), judged.is_valid(most + 0.001)) == (True, False)


@pytest.mark.parametrize(
    ("model", "body", "valid"),
    [
        ("JobRequest", {"handler": "h", "delay": 1, "run_at": "2027-03-28T01:00:00Z"}, False),
        ("RescheduleRequest", {"payload": 1}, False),
        ("RescheduleRequest", {"delay": 1}, True),
        ("ScheduleRequest", {"handler": "h"}, False),
        ("ScheduleRequest", {"handler": "h", "cron": "* * * * *", "every": 60}, False),
        ("ScheduleRequest", {"handler": "h", "cron": "* * * * *", "anchor": "2027-03-28T01:00:00Z"}, False),
        ("SchedulePatch", {"handler": None}, False),
        ("SchedulePatch", {"cron": None, "every": 60}, True),
        ("PreviewRequest", {"cron": "* * * * *", "from": "2027-03-28T01:00:00Z"}, False),
        ("PreviewRequest", {"cron": "* * * * *", "from": "2027-03-28T01:00:00Z", "count": 5}, True),
        ("PreviewRequest", {"cron": "* * * * *", "from": "2027-03-28T01:00:00Z", "count": 5, "spread": 5}, False),
    ],
)
def test_what_lies_between_fields_is_said(model: str, body: dict[str, Any], valid: bool) -> None:
    schema = {"$ref": f"#/components/schemas/{model}", "components": DOCUMENT["components"]}
    assert Draft202012Validator(schema).is_valid(body) is valid


def test_a_schedule_that_cannot_be_read_is_shown_as_the_contract_says() -> None:
    """Its answer lacked the handler, which the contract promised of every schedule."""
    assert "handler" not in SCHEMAS["Schedule"]["required"]
    assert "handler" not in SCHEMAS["Version"]["required"]
    assert "oneOf" not in SCHEMAS["Schedule"]


def test_what_a_schedule_may_answer_is_said(api: Api) -> None:
    """Nobody knew that an edit of a broken schedule is a 409, nor that a name which no path can hold is a 404."""
    operations = DOCUMENT["paths"]["/schedules/{name}"]
    assert "409" in operations["patch"]["responses"]
    assert "404" in operations["put"]["responses"]
    assert api.call("PUT", "/schedules/a\r", {"handler": "h", "cron": "* * * * *"}).status == 404


@pytest.mark.parametrize("event", [{}, {"httpMethod": None, "path": None}, {"httpMethod": "GET", "headers": None}])
def test_an_event_that_lacks_what_every_event_has_is_answered(api: Api, event: dict[str, Any]) -> None:
    """An event made by hand without a method ended the function with a KeyError."""
    assert api.send(event).status == 404


@pytest.mark.parametrize("values", [[], None, [""]])
def test_a_parameter_without_a_value_is_refused(api: Api, values: list[str] | None) -> None:
    """A parameter with an empty list of values ended in an IndexError, and a 500."""
    event = {"httpMethod": "GET", "path": "/jobs", "multiValueQueryStringParameters": {"limit": values}}
    assert api.send(event).body["errors"] == [{"field": "limit", "message": "must be a number from 1 to 100"}]
