"""The forms of an instant."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.unit.making import NOW, SECOND, instants

from onthedot.rules.instants import (
    MILLISECOND,
    cut,
    from_text,
    seconds_up,
    shown,
    shown_locally,
    to_text,
    up_to_second,
)


@given(instants(), instants())
def test_text_order_is_time_order(one: datetime, other: datetime) -> None:
    assert (to_text(one) < to_text(other)) == (one < other)
    assert len(to_text(one)) == 24


@given(instants())
def test_an_instant_is_read_as_it_was_written(instant: datetime) -> None:
    assert from_text(to_text(instant)) == instant
    assert from_text(to_text(instant)).tzinfo is UTC


def test_one_instant_has_one_text_in_every_zone() -> None:
    assert to_text(NOW.astimezone(timezone(timedelta(hours=-7)))) == "2027-03-28T01:00:00.000Z"


@given(st.text())
@example("2027-03-28")
@example("2027-03-28T01:00:00Z")
@example("2027-03-28T01:00:00.000")
@example("2027-03-28T01:00:00.000+00:00")
@example("2027-03-28T01:00:00.0000Z")
@example("2027-03-28 01:00:00.000Z")
@example("2027-03-28t01:00:00.000z")
@example("20270328T010000.000Z")
@example("2027-W12-7T01:00:00.000Z")
@example("0001-01-01T00:00:00+14:00")
@example("9999-12-31T23:59:59-14:00")
@example("0001-01-01")
def test_every_other_text_is_refused(text: str) -> None:
    """The two at the ends of the calendar raised an OverflowError, which a worker does not take for `no job`."""
    with pytest.raises(ValueError, match=r".+"):
        from_text(text)


def test_people_see_milliseconds_only_when_there_are_some() -> None:
    assert shown(NOW) == "2027-03-28T01:00:00Z"
    assert shown(NOW + MILLISECOND) == "2027-03-28T01:00:00.001Z"


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_cut_instant_is_whole_milliseconds_and_never_later(instant: datetime) -> None:
    assert timedelta(0) <= instant - cut(instant) < MILLISECOND
    assert cut(instant).microsecond % 1000 == 0


@pytest.mark.parametrize(("milliseconds", "seconds"), [(0, 0), (1, 1), (999, 1), (1000, 1)])
def test_what_expires_is_kept_until_the_next_whole_second(milliseconds: int, seconds: int) -> None:
    assert up_to_second(NOW + milliseconds * MILLISECOND) == NOW + seconds * SECOND


@pytest.mark.parametrize(("milliseconds", "seconds"), [(-5000, 0), (0, 0), (1, 1), (1000, 1), (1001, 2)])
def test_waits_are_rounded_up(milliseconds: int, seconds: int) -> None:
    assert seconds_up(milliseconds * MILLISECOND) == seconds


@pytest.mark.parametrize(
    ("offset", "text"),
    [
        (timedelta(0), "2027-03-28T01:00:00+00:00"),
        (timedelta(hours=2), "2027-03-28T03:00:00+02:00"),
        (timedelta(hours=-3.5), "2027-03-27T21:30:00-03:30"),
        (timedelta(minutes=19, seconds=32), "2027-03-28T01:20:00+00:20"),
        (timedelta(minutes=-44, seconds=-29), "2027-03-28T00:16:00-00:44"),
    ],
)
def test_a_local_time_has_an_offset_of_whole_minutes_and_is_the_same_instant(offset: timedelta, text: str) -> None:
    assert shown_locally(NOW, offset) == text
    assert datetime.fromisoformat(text) == NOW
    assert shown_locally(NOW + 5 * MILLISECOND, offset) == f"{text[:19]}.005{text[19:]}"
