"""A schedule means what was written, every fault in it is told at once, and no input makes its rules crash."""

import json
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onthedot.rules.definitions import DEFAULTS, READERS, TIMING, Definition, Overlap, define, edited, read_stored
from onthedot.rules.errors import Fault, Kind
from onthedot.rules.inputs import Malformed
from onthedot.rules.instants import shown
from onthedot.rules.jobs import Retry
from onthedot.rules.missed import Missed, MissedRule
from onthedot.rules.slots import next_slots
from onthedot.rules.zones import SlotsOnGap, SlotsOnRepeat

BORN = datetime(2027, 1, 1, 12, 0, 0, 250_000, tzinfo=UTC)
MALFORMED, REFUSED = Kind.MALFORMED, Kind.REFUSED


def judged(**raw: Any) -> tuple[Definition | None, list[Fault]]:
    faults: list[Fault] = []
    return define("s", read_stored({"handler": "h", **raw}), BORN, faults, said_at=BORN), faults


def defined(**raw: Any) -> Definition:
    definition, faults = judged(**raw)
    assert definition, faults
    return definition


def named(**raw: Any) -> dict[str, Kind]:
    definition, faults = judged(**raw)
    assert definition is None
    assert len({(fault.field, fault.message) for fault in faults}) == len(faults)
    return {fault.field: fault.kind for fault in faults}


def first_slots(count: int = 3, **raw: Any) -> list[str]:
    return [shown(slot.instant) for slot in next_slots(defined(**raw).timetable, BORN, count)]


def test_what_is_left_out_has_its_default() -> None:
    definition = defined(cron="0 9 * * *")
    timetable = definition.timetable
    assert (timetable.zone.key, timetable.on_gap, timetable.on_repeat) == ("UTC", "after", "first")
    assert (timetable.starts_at, timetable.ends_at, timetable.exclude, timetable.name) == (None, None, frozenset(), "s")
    assert timetable.spread == timedelta(0)
    assert definition.missed == MissedRule()
    assert (definition.overlap, definition.pause_after) == (Overlap.ALLOW, None)
    assert (definition.group, definition.timeout, definition.retry, definition.start_within) == (None,) * 4


def test_the_defaults_that_are_shown_are_those_that_are_meant() -> None:
    assert defined(cron="0 9 * * *", **json.loads(json.dumps(dict(DEFAULTS)))) == defined(cron="0 9 * * *")
    assert {name: DEFAULTS[name] for name in ("zone", "grace", "catch_up_window", "catch_up_rate")} == {
        "zone": "UTC", "grace": 60, "catch_up_window": "P7D", "catch_up_rate": 60,
    }  # fmt: skip


def test_everything_that_is_written_is_meant() -> None:
    definition = defined(
        cron="30 2 * * *", zone="Europe/Berlin", on_gap="skip", on_repeat="both", spread="PT5M", missed="latest",
        grace=0, catch_up_window=3600.5, catch_up_limit=10_000, catch_up_rate=6_000, overlap="wait", group="g",
        starts_at="2027-03-01T00:00:00", ends_at="2027-11-01T00:00:00+01:00", exclude=["2027-05-01", "2027-05-01"],
        timeout="PT1M", retry={"max_attempts": 3, "first": 1.5, "factor": 2, "max": "PT1H"}, start_within=5,
        pause_after=3,
    )  # fmt: skip
    timetable = definition.timetable
    assert (timetable.on_gap, timetable.on_repeat) == (SlotsOnGap.SKIP, SlotsOnRepeat.BOTH)
    assert timetable.starts_at == datetime(2027, 2, 28, 23, tzinfo=UTC)
    assert timetable.ends_at == datetime(2027, 10, 31, 23, tzinfo=UTC)
    assert timetable.exclude == {date(2027, 5, 1)}
    assert timetable.spread == timedelta(minutes=5)
    hour = timedelta(seconds=3600.5)
    assert definition.missed == MissedRule(
        missed=Missed.LATEST, grace=timedelta(0), window=hour, limit=10_000, rate=6_000
    )
    assert (definition.handler, definition.group) == ("h", "g")
    assert (definition.overlap, definition.pause_after) == (Overlap.WAIT, 3)
    assert (definition.timeout, definition.start_within) == (timedelta(minutes=1), timedelta(seconds=5))
    assert definition.retry == Retry(max_attempts=3, first=1.5, factor=2, max=3600)


def test_a_rhythm_begins_at_its_anchor_or_when_it_was_born() -> None:
    assert first_slots(2, every="PT1H") == ["2027-01-01T13:00:00.250Z", "2027-01-01T14:00:00.250Z"]
    assert first_slots(2, every=3600, anchor="2027-01-01T00:30:00Z") == ["2027-01-01T12:30:00Z", "2027-01-01T13:30:00Z"]
    local = first_slots(1, every=86_400, anchor="2027-01-01T09:00:00", zone="Asia/Tokyo")
    assert local == ["2027-01-02T00:00:00Z"]


def test_a_rule_begins_at_its_start_or_when_it_was_born() -> None:
    assert first_slots(2, rrule="FREQ=DAILY") == ["2027-01-02T12:00:00Z", "2027-01-03T12:00:00Z"]
    assert first_slots(1, rrule="FREQ=DAILY", zone="Asia/Kolkata") == ["2027-01-02T12:00:00Z"]
    assert first_slots(1, rrule="FREQ=DAILY", starts_at="2027-02-01T09:00:00", zone="Asia/Kolkata") == [
        "2027-02-01T03:30:00Z"
    ]
    assert first_slots(1, rrule="FREQ=DAILY", starts_at="2027-02-01T09:00:00+05:30") == ["2027-02-01T03:30:00Z"]


def test_a_time_in_utc_is_taken_in_every_zone() -> None:
    facts = {"rrule": "FREQ=DAILY", "starts_at": "2027-03-01T09:00:00Z", "zone": "Asia/Kolkata"}
    assert first_slots(1, **facts) == ["2027-03-01T09:00:00Z"]
    assert defined(**facts).timetable.zone.key == "Asia/Kolkata"
    anchored = {"every": 86_400, "anchor": "2027-03-27T08:00:00Z", "zone": "Europe/Berlin"}
    assert first_slots(2, **anchored) == ["2027-03-27T08:00:00Z", "2027-03-28T08:00:00Z"]


def test_a_start_that_the_clocks_jump_over_keeps_its_time_on_other_days() -> None:
    """The instant after the gap is 03:00; taken as the time of day, it would have moved every slot for ever."""
    facts = {"rrule": "FREQ=DAILY", "starts_at": "2027-03-28T02:30:00", "zone": "Europe/Berlin"}
    assert first_slots(2, **facts) == ["2027-03-28T01:00:00Z", "2027-03-29T00:30:00Z"]


def test_one_expression_is_given() -> None:
    assert named() == {"cron": MALFORMED}
    assert named(cron="0 9 * * *", every=60) == {"every": REFUSED}
    assert named(every=60, rrule="FREQ=DAILY") == {"rrule": REFUSED}
    assert named(cron="0 9 * * *", every=60, rrule="FREQ=DAILY") == {"every": REFUSED, "rrule": REFUSED}
    assert named(cron="0 9 * * *", anchor="2027-01-01T00:00:00Z") == {"anchor": REFUSED}
    assert named(anchor="2027-01-01T00:00:00Z") == {"cron": MALFORMED, "anchor": REFUSED}


TIMES = {"cron": "0 9 * * *", "zone": "Europe/Berlin"}


@pytest.mark.parametrize(
    ("raw", "faults"),
    [
        ({"cron": "0 9 * *"}, {"cron": MALFORMED}),
        ({"cron": "0 0 30 2 *"}, {"cron": REFUSED}),
        ({"every": 59.999}, {"every": REFUSED}),
        ({"every": -60}, {"every": REFUSED}),
        ({"every": 10**999}, {"every": REFUSED}),
        ({"rrule": "FREQ=HOURLY"}, {"rrule": MALFORMED}),
        ({"rrule": "FREQ=DAILY;UNTIL=20200101"}, {"rrule": REFUSED}),
        ({"cron": "0 9 * * *", "zone": "europe/berlin"}, {"zone": REFUSED}),
        ({"cron": "0 9 * * *", "starts_at": "2027-03-01T00:00:00"}, {"starts_at": MALFORMED}),
        ({**TIMES, "starts_at": "2027-03-01T00:00:00+05:30"}, {"starts_at": REFUSED}),
        ({**TIMES, "starts_at": "2037-01-01T13:00:01"}, {"starts_at": REFUSED}),
        ({**TIMES, "ends_at": "9999-01-01T00:00:00"}, {"ends_at": REFUSED}),
        ({"every": 60, "anchor": "1899-12-31T23:59:59Z"}, {"anchor": REFUSED}),
        ({**TIMES, "ends_at": "0001-01-01T00:00:00+14:00"}, {"ends_at": REFUSED}),
        ({"every": 60, "anchor": "2037-01-01T12:00:01Z"}, {"anchor": REFUSED}),
        ({**TIMES, "starts_at": "2027-03-01T00:00:00", "ends_at": "2027-03-01T00:00:00"}, {"ends_at": REFUSED}),
        ({**TIMES, "exclude": ["2027-02-29", "2027-03-01", "1 May", 5, "2027-3-1"]},
         {f"exclude.{number}": MALFORMED for number in (0, 2, 3, 4)}),
        ({**TIMES, "exclude": ["2027-03-01"] * 1_001}, {"exclude": REFUSED}),
        ({**TIMES, "spread": 31 * 86_400 + 1}, {"spread": REFUSED}),
        ({**TIMES, "spread": -1}, {"spread": REFUSED}),
        ({**TIMES, "grace": -0.001}, {"grace": REFUSED}),
        ({**TIMES, "grace": 10**30}, {"grace": REFUSED}),
        ({**TIMES, "catch_up_window": 0.999}, {"catch_up_window": REFUSED}),
        ({**TIMES, "catch_up_limit": 0}, {"catch_up_limit": REFUSED}),
        ({**TIMES, "catch_up_limit": 10_001}, {"catch_up_limit": REFUSED}),
        ({**TIMES, "catch_up_rate": 0}, {"catch_up_rate": REFUSED}),
        ({**TIMES, "catch_up_rate": 6_001}, {"catch_up_rate": REFUSED}),
        ({**TIMES, "grace": 31 * 86_400.001}, {"grace": REFUSED}),
        ({**TIMES, "pause_after": 0}, {"pause_after": REFUSED}),
        ({**TIMES, "pause_after": 51}, {"pause_after": REFUSED}),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_field(raw: dict[str, Any], faults: dict[str, Kind]) -> None:
    assert named(**raw) == faults


def test_the_edges_of_the_ranges_are_within_them() -> None:
    defined(cron="0 9 * * *", spread=31 * 86_400, grace=31 * 86_400, catch_up_window=1, catch_up_limit=1)
    defined(cron="0 9 * * *", pause_after=1)
    defined(cron="0 9 * * *", pause_after=50)
    defined(cron="0 9 * * *", starts_at="2037-01-01T12:00:00Z", exclude=["2027-03-01"] * 1_000)
    defined(every=60, catch_up_rate=1, anchor="1900-01-01T00:00:00Z")


def test_how_far_ahead_a_time_lies_is_judged_when_it_is_said_and_never_again() -> None:
    """A schedule that was accepted broke when it was read: its clock's ten years had begun a moment earlier."""
    raw = {"handler": "h", "cron": "0 9 * * *", "ends_at": "2037-06-01T00:00:00Z"}
    assert named(**raw) == {"ends_at": REFUSED}
    assert define("s", read_stored(raw), BORN, []) is not None


def test_one_fault_hides_no_other() -> None:
    assert named(
        cron="x", rrule="FREQ=SOMETIMES", zone="Mars/Olympus", starts_at="9999-01-01T00:00:00Z", spread=10**9,
        ends_at="2027-01-01T00:00:00", exclude=["x"], grace=-1, catch_up_limit=0, overlap="wait", pause_after=0,
        anchor="2050-01-01T00:00:00Z",
    ).keys() == {
        "cron", "rrule", "zone", "starts_at", "spread", "exclude.0", "grace", "catch_up_limit", "pause_after",
        "anchor",
    }  # fmt: skip


def test_no_fault_is_told_that_follows_from_another() -> None:
    """Without a start or a zone nobody knows which dates a rule matches; but what is no rule is none anywhere."""
    late = {"rrule": "FREQ=DAILY;UNTIL=20200101", "zone": "Mars/Olympus"}
    assert named(**late, starts_at="2019-01-01T00:00:00") == {"zone": REFUSED}
    assert named(rrule=late["rrule"], starts_at="9999-01-01T00:00:00Z") == {"starts_at": REFUSED}
    assert named(rrule="FREQ=X", zone="Mars/Olympus") == {"rrule": MALFORMED, "zone": REFUSED}
    never = {"rrule": "FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30"}
    assert named(**never, starts_at="9999-01-01T00:00:00Z") == {"rrule": REFUSED, "starts_at": REFUSED}


def test_a_field_that_was_malformed_at_the_wire_counts_as_given() -> None:
    cases: list[tuple[dict[str, Any], list[str], set[str]]] = [
        ({}, ["cron"], {"cron"}),
        ({"every": 60}, ["cron"], {"cron", "every"}),
        ({"cron": "0 9 * * *", "starts_at": "2027-03-01T00:00:00"}, ["zone"], {"zone"}),
        ({"rrule": "FREQ=DAILY;UNTIL=20200101"}, ["starts_at"], {"starts_at"}),
        ({}, ["rrule", "anchor"], {"rrule", "anchor"}),
    ]
    for raw, faults, expected in cases:
        found = [Fault(name, "must be a text", MALFORMED) for name in [*faults, "handler"]]
        assert define("s", read_stored(raw), BORN, found) is None
        assert {fault.field for fault in found} == expected | {"handler"}


@pytest.mark.parametrize(
    "raw",
    [
        {"cron": 5},
        {"zone": None},
        {"every": "soon"},
        {"anchor": 1},
        {"exclude": "2027-01-01"},
        {"on_gap": "refuse"},
        {"on_repeat": []},
        {"missed": "all"},
        {"overlap": True},
        {"overlap": "sometimes"},
        {"pause_after": "3"},
        {"catch_up_limit": True},
        {"catch_up_rate": 1.5},
        {"retry": []},
        {"retry": {"max_attempts": "3"}},
        {"retry": {"jitter": 1}},
        {"payload": 1},
    ],
)
def test_what_is_stored_in_another_form_names_its_field(raw: dict[str, Any]) -> None:
    with pytest.raises(Malformed, match=next(iter(raw))):
        read_stored({"handler": "h", **raw})


def test_an_edit_names_what_it_changes_and_null_takes_back() -> None:
    stored = {"handler": "h", "cron": "0 9 * * *", "zone": "Asia/Tokyo", "grace": 5}
    assert edited(stored, {"grace": None, "group": "g"}) == {
        "handler": "h", "cron": "0 9 * * *", "zone": "Asia/Tokyo", "group": "g",
    }  # fmt: skip
    assert edited(stored, {"cron": None, "every": 60})["every"] == 60
    assert "cron" not in edited(stored, {"cron": None, "every": 60})
    assert edited(stored, {"payload": None, "Grace": None}) == {**stored, "payload": None, "Grace": None}


def test_what_restarts_a_timetable_is_a_field() -> None:
    assert READERS.keys() >= TIMING


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=6,
)
TIME_TEXTS = st.sampled_from(
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59", "9999-12-31T23:59:59-23:59",
     "2027-03-28T02:30:00", "1900-01-01T00:00:00", "2299-12-31T00:00:00Z", "2027-01-01T00:00:00.001+01:00"]
)  # fmt: skip
SPANS = st.integers() | st.floats(allow_nan=False) | st.sampled_from(["PT1M", "P1D", "-P1D", "P99999999999999W"])
LIKELY = {
    "cron": st.sampled_from(["0 0 29 2 *", "* * * * *", "*/5 2-3 * * *", "0 0 30 2 *", "", "@daily"]),
    "every": SPANS | st.integers(60, 100_000),
    "rrule": st.sampled_from(["FREQ=DAILY", "FREQ=YEARLY;COUNT=4000", "FREQ=WEEKLY;UNTIL=20300101T000000Z", ";", ""]),
    "zone": st.sampled_from(["UTC", "Europe/Berlin", "Pacific/Apia", "Africa/Monrovia", "../UTC", ""]),
    "starts_at": TIME_TEXTS,
    "ends_at": TIME_TEXTS,
    "anchor": TIME_TEXTS,
    "exclude": st.lists(st.dates().map(str) | st.text(max_size=3), max_size=3),
    "spread": SPANS,
    "grace": SPANS,
    "catch_up_window": SPANS,
    "timeout": SPANS,
    "start_within": SPANS,
    "catch_up_limit": st.integers(),
    "catch_up_rate": st.integers(),
    "retry": st.fixed_dictionaries({"first": SPANS, "max": SPANS, "factor": st.floats()}),
}


@settings(max_examples=300)
@given(st.fixed_dictionaries({}, optional={name: LIKELY.get(name, VALUES) | VALUES for name in READERS}))
def test_no_input_makes_it_crash(raw: Mapping[str, Any]) -> None:
    kept: dict[str, Any] = {}
    for name, value in raw.items():
        try:
            kept |= read_stored({name: value})
        except Malformed:
            continue
    faults: list[Fault] = []
    definition = define("s", kept, BORN, faults)
    assert (definition is None) == bool(faults)
    if definition:
        assert all(slot.instant > BORN for slot in islice(next_slots(definition.timetable, BORN, 3), 3))
