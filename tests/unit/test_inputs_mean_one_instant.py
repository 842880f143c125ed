"""A time or a duration means one instant or span, whatever the machine, or it is refused by its own fault."""

import os
import subprocess
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onthedot.http.json_text import Number
from onthedot.rules import zones
from onthedot.rules.inputs import (
    Malformed,
    Place,
    Refused,
    Time,
    after_delay,
    at_time,
    horizon,
    read_delay,
    read_duration,
    read_time,
    resolve,
)
from onthedot.rules.instants import from_text, shown, to_text
from onthedot.rules.zones import OnGap, OnRepeat

NOW = datetime(2027, 1, 1, tzinfo=UTC)


def meant(text: str, zone: str | None = None, on_gap: str = "refuse", on_repeat: str = "first") -> str:
    place = Place(zones.find(zone) if zone else None, OnGap(on_gap), OnRepeat(on_repeat))
    return shown(resolve(read_time(text), place))


@pytest.mark.parametrize("host", ["UTC", "Europe/London", "Asia/Tokyo", "nowhere"])
@pytest.mark.parametrize(
    ("text", "zone", "instant"),
    [
        ("2026-07-01T09:00:00", "Europe/London", "2026-07-01T08:00:00Z"),
        ("2026-07-01T09:00:00+05:30", None, "2026-07-01T03:30:00Z"),
        ("2026-07-01t09:00:00z", None, "2026-07-01T09:00:00Z"),
        ("2026-07-01T09:00:00-00:00", None, "2026-07-01T09:00:00Z"),
        ("2026-07-01T09:00:00+01:00", "Europe/London", "2026-07-01T08:00:00Z"),
        ("2027-01-01T23:59:59.9999999Z", None, "2027-01-01T23:59:59.999Z"),
        ("2027-01-01T00:00:00.1Z", None, "2027-01-01T00:00:00.100Z"),
        ("2050-07-01T09:00:00", "Europe/Berlin", "2050-07-01T07:00:00Z"),
    ],
)
def test_a_time_does_not_depend_on_the_host(
    monkeypatch: pytest.MonkeyPatch, host: str, text: str, zone: str | None, instant: str
) -> None:
    monkeypatch.setenv("TZ", host)
    monkeypatch.setenv("PYTHONTZPATH", "/nowhere")
    time.tzset()
    try:
        assert meant(text, zone) == instant
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_zone_does_not_depend_on_the_hosts_files(tmp_path: Path) -> None:
    wrong = tmp_path / "Europe" / "Berlin"
    wrong.parent.mkdir()
    wrong.write_bytes(files("tzdata").joinpath("zoneinfo", "Asia", "Tokyo").read_bytes())
    code = (
        "import sys; sys.path.insert(0, 'shared')\n"
        "from datetime import datetime; from onthedot.rules.zones import *\n"
        "print(instant_of(datetime(2027, 7, 1, 9), find('Europe/Berlin'), OnGap.REFUSE, OnRepeat.FIRST))"
    )
    environment = {**os.environ, "PYTHONTZPATH": str(tmp_path), "TZ": "Asia/Tokyo"}
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert found.stdout.strip() == "2027-07-01 07:00:00+00:00"


@pytest.mark.parametrize(
    "text",
    [
        "2016-12-31T23:59:60Z",
        "2027-01-01T24:00:00Z",
        "2027-02-30T00:00:00Z",
        "2027-13-01T00:00:00Z",
        "2027-01-01T23:60:00Z",
        "2027-01-01T23:59:61Z",
        "0000-01-01T00:00:00Z",
        "2026-07-01",
        "2026-07-01T09:00Z",
        "2026-07-01 09:00:00Z",
        "2026-07-01T09:00:00+24:00",
        "2026-07-01T09:00:00+01:60",
        "2026-07-01T09:00:00+0100",
        "2026-07-01T09:00:00,5Z",
        "2026-07-01T09:00:00Z\n",
        "2026-07-01T09:00:00Z[Europe/London]",
        "\uff12026-07-01T09:00:00Z",
        "now",
        "",
        1_790_000_000,
        None,
        True,
    ],
)
def test_what_is_no_time_is_malformed(text: object) -> None:
    with pytest.raises(Malformed):
        read_time(text)


def test_the_leap_second_is_named() -> None:
    with pytest.raises(Malformed, match="leap second"):
        read_time("2016-12-31T23:59:60Z")


def test_a_local_time_without_a_zone_is_malformed() -> None:
    with pytest.raises(Malformed, match="offset"):
        meant("2026-07-01T09:00:00")


@pytest.mark.parametrize("text", ["2026-07-01T09:00:00+05:30", "2026-07-01T09:00:00Z", "2027-03-28T02:30:00+01:00"])
def test_an_offset_that_the_zone_does_not_have_is_refused(text: str) -> None:
    with pytest.raises(Refused, match="offset"):
        meant(text, "Europe/Berlin")


@pytest.mark.parametrize(
    ("text", "zone", "after", "shift"),
    [
        ("2027-03-28T02:30:00", "Europe/Berlin", "2027-03-28T01:00:00Z", "2027-03-28T01:30:00Z"),
        ("2027-03-28T02:00:00", "Europe/Berlin", "2027-03-28T01:00:00Z", "2027-03-28T01:00:00Z"),
        ("2027-03-28T02:59:59.999", "Europe/Berlin", "2027-03-28T01:00:00Z", "2027-03-28T01:59:59.999Z"),
        ("2027-10-03T02:10:00", "Australia/Lord_Howe", "2027-10-02T15:30:00Z", "2027-10-02T15:40:00Z"),
        ("2011-12-30T12:00:00", "Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-30T22:00:00Z"),
    ],
)
def test_a_time_that_does_not_exist(text: str, zone: str, after: str, shift: str) -> None:
    with pytest.raises(Refused, match="on_gap"):
        meant(text, zone)
    assert meant(text, zone, on_gap="after") == after
    assert meant(text, zone, on_gap="shift") == shift


def test_a_time_that_comes_twice() -> None:
    assert meant("2027-10-31T02:30:00", "Europe/Berlin") == "2027-10-31T00:30:00Z"
    assert meant("2027-10-31T02:30:00", "Europe/Berlin", on_repeat="last") == "2027-10-31T01:30:00Z"
    assert meant("2027-10-31T02:30:00+01:00", "Europe/Berlin") == "2027-10-31T01:30:00Z"


@pytest.mark.parametrize(
    "name", ["europe/berlin", "Europe/Nowhere", "", "../zones", "/etc/localtime", "Europe", "EUROPE"]
)
def test_only_the_names_of_the_database_are_zones(name: str) -> None:
    assert zones.find(name) is None


def test_every_name_of_the_database_is_a_zone_with_that_name() -> None:
    for name in zones.names():
        zone = zones.find(name)
        assert zone is not None
        assert zone.key == name


@pytest.mark.parametrize(
    ("delay", "run_at"),
    [
        (0, "2027-01-01T00:00:00Z"),
        (900, "2027-01-01T00:15:00Z"),
        (901, "2027-01-01T00:15:01Z"),
        (3600, "2027-01-01T01:00:00Z"),
        (2_592_000, "2027-01-31T00:00:00Z"),
        (Number("899.6"), "2027-01-01T00:14:59.600Z"),
        (Number("2147483.648"), "2027-01-25T20:31:23.648Z"),
        (Number("0.0001"), "2027-01-01T00:00:00.001Z"),
        (Number("59.9996"), "2027-01-01T00:01:00Z"),
        (Number("1.0010000000000000000000000000000000001"), "2027-01-01T00:00:01.002Z"),
        (Number("-0"), "2027-01-01T00:00:00Z"),
        (Number("1e2"), "2027-01-01T00:01:40Z"),
        ("PT10M", "2027-01-01T00:10:00Z"),
        ("P1DT2H30M0.5S", "2027-01-02T02:30:00.500Z"),
        ("P1W", "2027-01-08T00:00:00Z"),
        ("PT0.5H", "2027-01-01T00:30:00Z"),
        ("PT0S", "2027-01-01T00:00:00Z"),
    ],
)
def test_a_delay_is_elapsed_time_and_never_shorter_than_asked(delay: object, run_at: str) -> None:
    assert shown(after_delay(read_delay(delay), NOW)) == run_at


def test_a_day_is_24_hours_whatever_the_clocks_do() -> None:
    now = from_text("2027-03-27T11:00:00.000Z")
    assert shown(after_delay(read_delay(86_400), now)) == "2027-03-28T11:00:00Z"
    assert shown(after_delay(read_delay("P1D"), now)) == "2027-03-28T11:00:00Z"


@pytest.mark.parametrize(
    "delay",
    [
        -5,
        -1,
        Number("-0.001"),
        Number("-0.0001"),
        10**18,
        Number("1e18"),
        Number("1e308"),
        10**400,
        float("nan"),
        "P5300W",
        "-PT1S",
    ],
)
def test_a_negative_or_absurd_delay_is_refused_and_overflows_nothing(delay: object) -> None:
    with pytest.raises(Refused):
        after_delay(read_delay(delay), NOW)


@pytest.mark.parametrize(
    "delay",
    [
        "P1M",
        "P1Y",
        "P",
        "PT",
        "P1DT",
        "10",
        "10s",
        "pt1m",
        "PT1.5H1M",
        "PT1",
        "P-1D",
        "PT" + "9" * 100 + "S",
        True,
        None,
        [],
        {},
    ],
)
def test_what_is_no_duration_is_malformed(delay: object) -> None:
    with pytest.raises(Malformed):
        read_duration(delay)


def test_a_little_past_is_now_and_more_is_refused() -> None:
    def asked(text: str) -> str:
        return shown(at_time(read_time(text), Place(), NOW))

    assert asked("2026-12-31T23:59:30Z") == "2027-01-01T00:00:00Z"
    assert asked("2026-12-31T23:59:00Z") == "2027-01-01T00:00:00Z"
    assert asked("2037-01-01T00:00:00Z") == "2037-01-01T00:00:00Z"
    refused = ["2026-12-31T23:58:59.999Z", "2020-01-01T00:00:00Z", "2037-01-01T00:00:00.001Z", "9999-12-31T23:59:59Z"]
    for text in [*refused, "0001-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"]:
        with pytest.raises(Refused):
            asked(text)


def test_the_horizon_of_a_leap_day_is_the_first_of_march() -> None:
    assert shown(horizon(datetime(2028, 2, 29, tzinfo=UTC))) == "2038-03-01T00:00:00Z"


JSON_LIKE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.from_regex(r"-?[0-9]{1,30}\.[0-9]{1,30}([eE]-?[0-9]{1,3})?", fullmatch=True).map(Number),
    st.from_regex(r"[+-]?P([0-9]{1,12}([.,][0-9]{1,12})?[WDHMS]|T){0,4}", fullmatch=True),
    st.from_regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})?"),
    st.lists(st.integers()),
)


@settings(deadline=None)
@given(JSON_LIKE)
def test_whatever_is_asked_for_is_judged_and_never_crashes(value: object) -> None:
    with suppress(Malformed, Refused):
        assert NOW <= after_delay(read_delay(value), NOW) <= horizon(NOW)
    with suppress(Malformed, Refused):
        assert NOW <= at_time(read_time(value), Place(zones.find("Europe/Berlin"), OnGap.AFTER), NOW) <= horizon(NOW)


@settings(deadline=None)
@given(
    st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)),  # noqa: DTZ001 - a local time
    st.sampled_from(sorted(zones.names())),
    st.sampled_from(OnGap),
    st.sampled_from(OnRepeat),
)
def test_every_local_time_of_every_zone_is_an_instant_or_in_a_gap(
    local: datetime, zone: str, on_gap: OnGap, on_repeat: OnRepeat
) -> None:
    local = local.replace(microsecond=0)
    found = zones.find(zone)
    assert found is not None
    try:
        instant = resolve(Time(local, None), Place(found, on_gap, on_repeat))
    except Refused:
        assert on_gap is OnGap.REFUSE
        return
    assert to_text(instant) == to_text(from_text(to_text(instant)))
    if 1 < local.year < 9999 and on_gap is OnGap.REFUSE:
        assert instant.astimezone(found).replace(tzinfo=None, fold=0) == local


@pytest.mark.parametrize(
    ("written", "milliseconds"),
    [
        (Number("59.9996"), 59_999),
        ("PT59.9996S", 59_999),
        (Number("60.0004"), 60_001),
        (Number("59.9986"), 59_999),
        (Number("0.0004"), 1),
        (Number("-0.0004"), -1),
        (Number("60"), 60_000),
    ],
)
def test_what_is_finer_than_a_millisecond_reaches_no_bound(written: object, milliseconds: int) -> None:
    """A rhythm of 59.9996 s was taken for a minute, and answered as it was written: below the least of the contract."""
    assert read_duration(written) == milliseconds


def test_a_span_of_milliseconds_is_exact() -> None:
    for milliseconds in range(0, 5_000, 7):
        assert read_duration(Number(f"{milliseconds / 1000:.3f}")) == milliseconds
    assert timedelta(milliseconds=read_duration(Number("0.1"))) == timedelta(milliseconds=100)
