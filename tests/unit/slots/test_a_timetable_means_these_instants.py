"""The parts of a timetable, each alone: marks, rules, rhythms, bounds, excluded dates, notes, spread, warnings."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.expressions import crons
from tests.support.timetables import cron, days, instant, locals_of, rrule, texts, window

from onthedot.rules.clock_changes import touches, warnings
from onthedot.rules.cron import read_cron
from onthedot.rules.every import read_every
from onthedot.rules.inputs import Malformed, Refused
from onthedot.rules.instants import shown
from onthedot.rules.rrule import read_rrule
from onthedot.rules.slots import Timetable, next_slots
from onthedot.rules.spread import run_at
from onthedot.rules.zones import SlotsOnGap, SlotsOnRepeat, find

BERLIN, UTC_ZONE = find("Europe/Berlin"), find("UTC")
NOW = instant("2027-01-01")
NINE = datetime(2027, 1, 4, 9)  # noqa: DTZ001 - it is local


def _dates(text: str, start: str = "2027-01-01", end: str = "2027-07-01") -> list[str]:
    return [f"{slot.local:%m-%d}" for slot in window(cron(text), start, end)]


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("0 0 L * *", ["01-31", "02-28", "03-31", "04-30", "05-31", "06-30"]),
        ("0 0 LW * *", ["01-29", "02-26", "03-31", "04-30", "05-31", "06-30"]),
        ("0 0 1W * *", ["01-01", "02-01", "03-01", "04-01", "05-03", "06-01"]),  # 1 May is a Saturday
        ("0 0 31W * *", ["01-29", "03-31", "05-31"]),  # 31 January is a Sunday
        ("0 0 15W 5,8 *", ["05-14"]),  # 15 May is a Saturday
        ("0 0 * * 5L", ["01-29", "02-26", "03-26", "04-30", "05-28", "06-25"]),
        ("0 0 * * MON#5", ["03-29", "05-31"]),
        ("0 0 13 2,3 FRI#1", ["02-05", "02-13", "03-05", "03-13"]),
        ("0 0 L,15 2 *", ["02-15", "02-28"]),
    ],
)
def test_marks_name_days_by_what_their_month_looks_like(text: str, dates: list[str]) -> None:
    assert _dates(text) == dates


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("5-1 * * * *", "goes backwards"),
        ("0 22-2 * * *", "goes backwards"),
        ("0 0 * * 5-0", "Sunday at the end of a range is 7"),
        ("1-2-3 * * * *", "double range"),
        ("*/0 * * * *", "step of 0"),
        ("1,,2 * * * *", "missing"),
        ("0 0 L-3 * *", "neither a number"),
        ("0 0 * * L", "neither a number"),
        ("0 0 * * 1#6", "k from 1 to 5"),
        ("0 0 1#2 * *", "in the day of week only"),
        ("0 0 0 * *", "not within 1 to 31"),
        ("0 0 * 13 *", "not within 1 to 12"),
        ("0 0 * * 8", "not within 0 to 7"),
        ("0 0 * MON *", "neither a number"),
        ("H 0 * * *", "neither a number"),
        ("0 0 * * \N{NO-BREAK SPACE}1", "no cron expression has"),
        ("0 0 * *\n*", "no cron expression has"),
        ("0 " * 300, "longer than"),
    ],
)
def test_a_refusal_says_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(Malformed, match=message):
        read_cron(text)


def test_a_step_beyond_its_field_means_the_first_value_and_is_warned_of() -> None:
    assert read_cron("*/90 6/30 * * *").times == (6 * 3600,)
    assert len(warnings(cron("*/90 6/30 * * *"), NOW)) == 2
    assert warnings(cron("*/30 6-7/1 * * *"), NOW) == []


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("FREQ=DAILY;INTERVAL=10;COUNT=3", ["01-04", "01-14", "01-24"]),
        ("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR;COUNT=4", ["01-04", "01-08", "01-18", "01-22"]),
        ("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,SU;WKST=SU;COUNT=4", ["01-04", "01-17", "01-18", "01-31"]),
        ("FREQ=MONTHLY;BYDAY=-1FR;COUNT=4", ["01-29", "02-26", "03-26", "04-30"]),
        ("FREQ=MONTHLY;BYDAY=-5FR,-2MO;BYMONTH=4,5;COUNT=4", ["04-02", "04-19", "05-24", "04-17"]),
        ("FREQ=YEARLY;BYDAY=-1FR,1FR;COUNT=3", ["12-31", "01-07", "12-29"]),
        ("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;COUNT=3", ["01-29", "02-26", "03-31"]),
        ("FREQ=MONTHLY;BYMONTHDAY=-1,31;COUNT=3", ["01-31", "02-28", "03-31"]),
        ("FREQ=YEARLY;BYMONTH=3,5;COUNT=3", ["03-04", "05-04", "03-04"]),
        ("FREQ=YEARLY;BYDAY=20MO;COUNT=1", ["05-17"]),
        ("FREQ=DAILY;UNTIL=20270106", ["01-04", "01-05", "01-06"]),
        ("FREQ=DAILY;UNTIL=20270106T085959", ["01-04", "01-05"]),
        ("FREQ=DAILY;UNTIL=20270106T080000Z", ["01-04", "01-05", "01-06"]),
        ("RRULE:freq=monthly;byday=MO,1FR;COUNT=5", ["01-04", "01-11", "01-18", "01-25", "02-01"]),
    ],
)
def test_a_recurrence_keeps_the_time_of_its_start(text: str, dates: list[str]) -> None:
    found = window(rrule(text, "2027-01-04T09:00", "Europe/Berlin"), "2027-01-01", "2029-01-01")
    assert [f"{slot.local:%m-%d}" for slot in found] == dates
    assert {f"{slot.local:%H:%M}" for slot in found} == {"09:00"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("FREQ=HOURLY", "FREQ out of"),
        ("BYDAY=MO", "FREQ out of"),
        ("FREQ=DAILY;BYHOUR=9", "those known are"),
        ("FREQ=DAILY;FREQ=DAILY", "two parts"),
        ("FREQ=DAILY;COUNT=1;UNTIL=20270101", "both UNTIL and COUNT"),
        ("FREQ=DAILY;COUNT=0", "from 1 to"),
        ("FREQ=WEEKLY;BYMONTHDAY=1", "BYMONTHDAY with FREQ=WEEKLY"),
        ("FREQ=WEEKLY;BYDAY=1MO", "number before a weekday"),
        ("FREQ=MONTHLY;BYSETPOS=1", "BYSETPOS alone"),
        ("FREQ=MONTHLY;BYMONTHDAY=0", "without 0"),
        ("FREQ=DAILY;UNTIL=20270230", "UNTIL is"),
        ("FREQ=DAILY;UNTIL=2027", "UNTIL is"),
        ("FREQ=DAILY;WKST=XX", "WKST is"),
        ("DTSTART:20270101T090000\nRRULE:FREQ=DAILY", "one line"),
        ("", "nothing"),
    ],
)
def test_a_recurrence_of_another_form_is_refused(text: str, message: str) -> None:
    assert BERLIN
    with pytest.raises(Malformed, match=message):
        read_rrule(text, NINE, BERLIN)


@pytest.mark.parametrize("text", ["FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=DAILY;UNTIL=20260101"])
def test_a_recurrence_without_a_date_is_refused(text: str) -> None:
    assert BERLIN
    with pytest.raises(Refused, match="never matches"):
        read_rrule(text, NINE, BERLIN)


def test_a_rhythm_begins_at_its_anchor_and_jumps_over_excluded_dates() -> None:
    """The excluded date of a change is 23 hours long: a jump of 24 would lose the first hour of the next."""
    assert BERLIN
    anchor = int(instant("2027-03-27T22:30").timestamp() * 1000)
    timetable = Timetable(read_every(1_800_000, anchor), BERLIN, exclude=days("2027-03-28"))
    assert locals_of(timetable, "2027-03-27", "2027-03-28T22:30") == ["03-27 23:30", "03-29 00:00"]
    assert texts(Timetable(read_every(1_800_000, anchor), BERLIN), "2027-03-27", "2027-03-27T23:01") == [
        "2027-03-27T22:30:00Z",
        "2027-03-27T23:00:00Z",
    ]


def test_a_rhythm_is_at_least_a_minute() -> None:
    with pytest.raises(Refused, match="under 60 seconds"):
        read_every(59_999, 0)


def test_bounds_take_the_first_and_leave_the_last() -> None:
    bounded = cron("0 0 * * *", starts_at=instant("2027-01-02"), ends_at=instant("2027-01-04"))
    assert texts(bounded, "2026-01-01", "2028-01-01") == [
        "2027-01-02T00:00:00Z",
        "2027-01-03T00:00:00Z",
    ]


def test_dates_are_excluded_before_a_gap_moves_a_time() -> None:
    """23:30 of Saturday does not exist and is made up on Sunday; it is Saturday's all the same."""
    for excluded, left in (("2027-03-27", ["03-28 23:30"]), ("2027-03-28", ["03-28 00:00"])):
        timetable = cron("30 23 * * *", "America/Nuuk", exclude=days(excluded))
        assert locals_of(timetable, "2027-03-27T12:00", "2027-03-29T12:00") == left


def test_a_slot_tells_what_a_clock_change_did_to_it() -> None:
    [gap] = window(cron("0,30 2 * * *", "Europe/Berlin"), "2027-03-28", "2027-03-29")
    assert gap.note == "02:00 to 02:30 do not exist on 2027-03-28; this is instead"
    first, second = window(cron("30 2 * * *", "Europe/Berlin", "every_match"), "2026-10-25", "2026-10-26")
    assert first.note == "02:30 comes twice; this is the first"
    assert second.note == "02:30 comes twice; this is the second"
    assert (first.fold, second.fold) == (0, 1)
    assert first.local == second.local


def test_a_date_that_a_zone_skips_is_not_made_up_and_a_jump_of_three_hours_is() -> None:
    assert texts(cron("0 9 30 12 *", "Pacific/Apia"), "2011-12-01", "2012-02-01") == []
    casey = cron("0 1 4 10 *", "Antarctica/Casey")  # 00:01 became 03:01 in 2020
    assert locals_of(casey, "2020-10-01", "2020-10-10") == ["10-04 03:01"]


@given(crons(), st.integers(0, 7200), st.text(max_size=8), st.datetimes(datetime(2026, 1, 1), datetime(2030, 1, 1)))  # noqa: DTZ001
def test_spread_never_reaches_the_next_slot(text: str, seconds: int, name: str, at: datetime) -> None:
    try:
        timetable = cron(text, "Europe/Berlin", spread=timedelta(seconds=seconds), name=name)
    except Refused:
        return
    for one, other in pairwise(next_slots(timetable, at.replace(tzinfo=UTC), 4)):
        start = run_at(timetable, one.instant)
        assert one.instant <= start < other.instant
        assert start - one.instant <= timedelta(seconds=seconds)


def test_spread_is_the_same_on_every_machine_and_differs_between_names() -> None:
    names = [f"report-{number}" for number in range(200)]
    timetables = [cron("0 9 * * *", spread=timedelta(minutes=10), name=name) for name in names]
    offsets = [run_at(timetable, instant("2027-01-01T09:00")) - instant("2027-01-01T09:00") for timetable in timetables]
    assert len(set(offsets)) > 190
    assert shown(run_at(timetables[7], instant("2027-01-01T09:00"))) == "2027-01-01T09:08:36.113Z"


def test_a_warning_names_the_dates_and_a_safer_time() -> None:
    gap, repeat = warnings(cron("30 2 * * *", "Europe/Berlin"), NOW)
    assert gap == (
        "02:30 does not exist in Europe/Berlin on 2027-03-28, 2028-03-26, 2029-03-25, 2030-03-31, 2031-03-30; "
        "the slot is then at the first instant after the gap (on_gap: after). A safer time is 03:30."
    )
    assert repeat == (
        "02:30 comes twice in Europe/Berlin on 2027-10-31, 2028-10-29, 2029-10-28, 2030-10-27, 2031-10-26; "
        "the slot is then at the first (on_repeat: first). A safer time is 03:30."
    )
    assert warnings(cron("30 3 * * *", "Europe/Berlin"), NOW) == []
    for text, safer in (("30 1 * * *", "00:30"), ("0,30 1,2 * * *", "03:00, 03:30, 04:00, 04:30")):
        told = warnings(cron(text, "Antarctica/Troll"), NOW)  # its clocks jump by two hours, from 01:00 on
        assert all(warning.endswith(f"A safer time is {safer}.") for warning in told)
        assert len(told) == 2


@pytest.mark.parametrize(
    "timetable",
    [
        cron("*/10 2 * * *", "Europe/Berlin"),
        cron("30 2 * * MON", "Europe/Berlin"),
        cron("30 2 * * *", "Asia/Tokyo"),
        cron("30 2 * * *", "Europe/Berlin", ends_at=instant("2027-03-01")),
        cron("30 2 * * *", "Europe/Berlin", exclude=days("2027-03-28"), ends_at=instant("2027-04-01")),
        rrule("FREQ=DAILY;COUNT=20", "2027-01-01T02:30", "Europe/Berlin"),
    ],
    ids=lambda timetable: timetable.expression.text,
)
def test_a_timetable_that_no_change_touches_is_not_warned_of(timetable: Timetable) -> None:
    assert warnings(timetable, NOW) == []


@pytest.mark.parametrize("text", ["30 2 * * *", "0 0 * * *", "59 23 * * 6", "15 1,2,3 1-7 * *"])
@pytest.mark.parametrize(
    "zone", ["Europe/Berlin", "America/Santiago", "Africa/Cairo", "Australia/Lord_Howe", "Asia/Gaza"]
)
def test_a_warning_is_given_for_exactly_the_slots_that_have_a_note(text: str, zone: str) -> None:
    found = find(zone)
    assert found
    timetable = Timetable(read_cron(text), found, SlotsOnGap.SHIFT, SlotsOnRepeat.BOTH)
    told = {touch.date for touch in touches(timetable, NOW)}
    noted = {slot.local.date() for slot in window(timetable, "2027-01-01", "2032-01-01") if slot.note}
    assert told == noted
