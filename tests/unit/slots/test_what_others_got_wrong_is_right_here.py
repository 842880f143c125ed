"""Each case is a fault that people met with another scheduler; its windows and slots stand in `tests/cases`."""

import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.support.proving import QUICK_SECONDS
from tests.support.timetables import MINUTE, RULES, cron, instant, texts

from onthedot.rules.calendar import FIRST_YEAR
from onthedot.rules.cron import read_cron
from onthedot.rules.every import read_every
from onthedot.rules.inputs import Malformed, Refused
from onthedot.rules.instants import shown
from onthedot.rules.slots import Timetable, next_slots, slots, slots_within
from onthedot.rules.spread import run_at
from onthedot.rules.zones import find

CASES = Path(__file__).parents[2] / "cases" / "timetables.yaml"
WINDOWS = yaml.safe_load(CASES.read_text("utf-8"))


def _named(case: dict[str, Any]) -> str:
    return f"{case['id']} {case['cron']} {case['zone']}"


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("case", [case for case in WINDOWS if "refused" not in case], ids=_named)
def test_a_window_has_exactly_these_slots(case: dict[str, Any], rule: str) -> None:
    expected = case["slots"] if "slots" in case else case["rules"][rule]
    assert texts(cron(case["cron"], case["zone"], rule), case["from"], case["to"]) == expected


@pytest.mark.parametrize("case", [case for case in WINDOWS if "refused" in case], ids=_named)
def test_what_others_guessed_at_is_refused(case: dict[str, Any]) -> None:
    with pytest.raises(Malformed, match=case["refused"]):
        read_cron(case["cron"])


@pytest.mark.parametrize("rule", RULES)
def test_t01_the_day_after_a_gap_is_as_any_other(rule: str) -> None:
    [slot] = next_slots(cron("30 2 * * *", "Europe/Berlin", rule), instant("2027-03-28T02:00:00"), 1)
    assert shown(slot.instant) == "2027-03-29T00:30:00Z"


def test_t06_a_missing_midnight_costs_nobody_50_ms() -> None:
    timetable = cron("0 1 4 11 *", "America/Sao_Paulo")
    started = time.process_time()
    next_slots(timetable, instant("2018-11-04T02:59:59"), 1)
    assert time.process_time() - started < QUICK_SECONDS


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    ("zone", "change"),
    [
        ("Europe/Helsinki", "2026-10-25T01:00"),
        ("America/New_York", "2027-03-14T07:00"),
        ("Australia/Lord_Howe", "2027-04-03T15:00"),
        ("Africa/Cairo", "2026-10-29T21:00"),
    ],
)
def test_t10_the_next_slot_is_later_at_every_minute_around_a_change(zone: str, change: str, rule: str) -> None:
    """A scheduler that met its own slot again spun at full speed while every other job starved."""
    first = instant(change) - timedelta(hours=24)
    for text in ("30 * * * *", "30 0-3,23 * * *"):
        timetable = cron(text, zone, rule)
        for at in (first + minute * MINUTE for minute in range(48 * 60)):
            assert next_slots(timetable, at, 1)[0].instant > at


def test_t11_local_times_follow_what_governments_decided_in_2026() -> None:
    for zone, right in (
        ("America/Vancouver", "2026-11-15T16:00:00Z"),
        ("America/Edmonton", "2026-11-15T15:00:00Z"),
        ("Africa/Casablanca", "2026-11-15T09:00:00Z"),
    ):
        assert texts(cron("0 9 * * *", zone), "2026-11-15", "2026-11-16") == [right]


def test_t15_a_rhythm_of_a_day_is_24_hours() -> None:
    zone = find("Europe/Berlin")
    assert zone
    anchor = instant("2027-03-27T08:00:00")
    timetable = Timetable(read_every(86_400_000, int(anchor.timestamp() * 1000)), zone)
    assert texts(timetable, "2027-03-27", "2027-03-30") == [
        "2027-03-27T08:00:00Z",
        "2027-03-28T08:00:00Z",
        "2027-03-29T08:00:00Z",
    ]


def test_t16_a_rhythm_never_drifts() -> None:
    zone = find("UTC")
    assert zone
    anchor = instant("2027-01-01")
    timetable = Timetable(read_every(900_000, int(anchor.timestamp() * 1000)), zone)
    day = list(slots(timetable, anchor, anchor + timedelta(days=1)))
    assert len(day) == 96
    assert shown(day[0].instant) == "2027-01-01T00:15:00Z"
    assert shown(day[-1].instant) == "2027-01-02T00:00:00Z"
    assert texts(timetable, "2027-01-01T02:00:01", "2027-01-01T02:45:01") == [
        "2027-01-01T02:15:00Z",
        "2027-01-01T02:30:00Z",
        "2027-01-01T02:45:00Z",
    ]


@pytest.mark.parametrize("text", ["0 24 * * *", "60 0 * * *"])
def test_t18_there_is_no_hour_24_and_no_minute_60(text: str) -> None:
    with pytest.raises(Malformed, match="not within 0 to"):
        read_cron(text)


def test_t19_instants_far_away_overflow_nothing() -> None:
    timetable = cron("0 0 * * *", "Pacific/Kiritimati")
    edges = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    assert list(slots(timetable, edges[1] - timedelta(days=400), edges[1])) == []
    assert list(slots_within(timetable, edges[0], instant("0002-01-01"))) == []
    assert next_slots(timetable, edges[0], 1)[0].instant.year == FIRST_YEAR


def test_t20_the_next_slot_is_counted_from_the_slot() -> None:
    timetable = cron("0 12 * * *")
    [slot] = next_slots(timetable, instant("2027-01-05T11:59:59.998"), 1)
    assert shown(slot.instant) == "2027-01-05T12:00:00Z"
    assert shown(next_slots(timetable, slot.instant, 1)[0].instant) == "2027-01-06T12:00:00Z"


def test_c01_either_day_field_matches_61_days_of_2026_and_both_3() -> None:
    assert len(texts(cron("0 0 13 * 5"), "2026-01-01", "2027-01-01")) == 61
    both = texts(cron("0 0 13 * */5"), "2026-01-01", "2027-01-01")
    year = [date(2026, 1, 1) + timedelta(days=day) for day in range(365)]
    assert both == [f"{day}T00:00:00Z" for day in year if day.day == 13 and day.isoweekday() in (5, 7)]


@pytest.mark.parametrize("text", ["0 0 30 2 *", "0 0 31 4,6,9,11 *", "0 0 31 2 *", "0 0 30 2 */2", "0 0 */31 * 1#2"])
def test_c06_a_date_that_never_comes_is_refused_at_once(text: str) -> None:
    started = time.process_time()
    with pytest.raises(Refused, match="never"):
        read_cron(text)
    assert time.process_time() - started < QUICK_SECONDS


def test_c06_a_date_that_comes_is_found() -> None:
    assert shown(next_slots(cron("0 0 31 4,5 *"), instant("2027-01-01"), 1)[0].instant) == "2027-05-31T00:00:00Z"
    assert shown(next_slots(cron("0 0 30 2 1"), instant("2027-01-01"), 1)[0].instant) == "2027-02-01T00:00:00Z"


def test_c07_a_leap_day_on_a_sunday_is_found_over_a_hole_of_40_years() -> None:
    """29 February was on a Sunday in 2088, and is not again until 2128 since 2100 is no leap year."""
    started = time.process_time()
    [slot] = next_slots(cron("0 0 29 2 */7", "Europe/Berlin"), instant("2088-03-01"), 1)
    assert shown(slot.instant) == "2128-02-28T23:00:00Z"
    assert time.process_time() - started < QUICK_SECONDS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("*/30 * * * * *", "6 fields"),
        ("0 0 12 * * ?", "6 fields"),
        ("0 12 * * ? *", "6 fields"),
        ("* * * *", "4 fields"),
        ("@daily", "write 0 0"),
        ("@every 90m", "use every"),
        ("@reboot", "five fields"),
        ("0 12 * * * # note", "comment"),
        ("0 12 ? * 1", "of another cron"),
        ("", "0 fields"),
    ],
)
def test_c09_what_other_crons_read_is_refused_by_name(text: str, message: str) -> None:
    with pytest.raises(Malformed, match=message):
        read_cron(text)


def test_c09_spaces_and_tabs_mean_nothing() -> None:
    assert read_cron("\t0  12 * * *  ") == read_cron("0 12 * * *")


@pytest.mark.parametrize("text", ["CRON_TZ=Asia/Tokyo 0 9 * * *", "TZ=Asia/Tokyo 0 9 * * *"])
def test_c10_a_zone_inside_is_refused(text: str) -> None:
    with pytest.raises(Malformed, match="belongs in the field zone"):
        read_cron(text)


def test_c12_spread_is_stable_never_negative_and_keeps_the_slot() -> None:
    timetable = cron("0 * * * *", spread=timedelta(seconds=120), name="reports")
    slot = instant("2027-01-01T15:00:00")
    assert slot <= run_at(timetable, slot) < slot + timedelta(seconds=120)
    assert run_at(timetable, slot) == run_at(cron("0 * * * *", spread=2 * MINUTE, name="reports"), slot)
    assert shown(next_slots(timetable, slot, 1)[0].instant) == "2027-01-01T16:00:00Z"
