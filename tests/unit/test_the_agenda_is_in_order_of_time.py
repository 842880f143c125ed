"""Where a job stands on the agenda, and how far the agenda was read."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.making import NOW, SECOND, entries, instants, names

from onthedot.rules.agenda import (
    GROUP_PARTITIONS,
    Entry,
    delay_seconds,
    group_partition,
    group_partitions,
    horizon,
    is_near,
    overdue_until,
    resume_after,
    shard_of,
    wake_at,
)
from onthedot.rules.instants import MILLISECOND, to_text
from onthedot.rules.timing import MAX_DELAY, Timing

TIMING = Timing()


@given(entries(), entries())
def test_what_wakes_first_stands_first(one: Entry, other: Entry) -> None:
    if one.wake != other.wake:
        assert (str(one) < str(other)) == (one.wake < other.wake)


@given(entries(), entries())
def test_no_two_jobs_stand_at_the_same_place(one: Entry, other: Entry) -> None:
    """A cursor would split a tie, and lose what stands behind it."""
    assert (str(one) == str(other)) == (one == other)


@given(entries())
def test_an_entry_is_read_as_it_was_written(entry: Entry) -> None:
    assert Entry.parse(str(entry)) == entry


@pytest.mark.parametrize("text", ["", "2027", "#", "x#job#a#-", "2027-03-28T01:00:00.000Z#job#a"])
def test_what_is_no_entry_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        Entry.parse(text)


@pytest.mark.parametrize(
    ("schedule", "shards"),
    [
        ("job#a", {1: "0", 4: "0", 7: "1", 256: "176"}),
        ("job#report-2027", {1: "0", 4: "0", 7: "2", 256: "164"}),
        ("schedule#monday-mail", {1: "0", 4: "2", 7: "5", 256: "186"}),
        ("schedule#Ä", {1: "0", 4: "0", 7: "1", 256: "112"}),
    ],
)
def test_a_shard_never_changes(schedule: str, shards: dict[int, str]) -> None:
    """These are the first release's. Jobs already written stand in the shard that they had."""
    assert {number: shard_of(schedule, number) for number in shards} == shards


@given(names(), st.integers(1, 256))
def test_every_job_has_one_of_the_shards(name: str, shards: int) -> None:
    assert shard_of(f"job#{name}", shards) in {str(number) for number in range(shards)}


def test_a_groups_partitions_never_change() -> None:
    """These are the first release's. Jobs already written stand in the partition that they had."""
    assert GROUP_PARTITIONS == 4
    assert group_partitions("batch") == ["batch#0", "batch#1", "batch#2", "batch#3"]
    assert group_partition("batch", "job#a", "-") == "batch#0"
    assert group_partition("batch", "job#b", "-") == "batch#1"
    assert group_partition("batch", "schedule#m", "2027-03-28T01:00:00.000Z") == "batch#1"


def test_a_large_group_is_spread_over_its_partitions() -> None:
    """One partition takes 1,000 writes a second (aws-traps 10)."""
    taken = [group_partition("batch", f"job#{number}", "-") for number in range(1000)]
    assert min(taken.count(partition) for partition in group_partitions("batch")) > 200


@pytest.mark.parametrize(
    ("span", "seconds"),
    [
        (timedelta(days=-1), 0),
        (timedelta(0), 0),
        (MILLISECOND, 1),
        (SECOND, 1),
        (SECOND + MILLISECOND, 2),
        (MAX_DELAY, 900),
        (MAX_DELAY + MILLISECOND, 900),
        (timedelta(days=1), 900),
    ],
)
def test_a_message_is_delayed_by_whole_seconds_that_sqs_takes(span: timedelta, seconds: int) -> None:
    assert delay_seconds(NOW + span, NOW) == seconds


@given(st.timedeltas(timedelta(days=-1), MAX_DELAY))
def test_a_delay_is_never_early_and_never_a_second_late(span: timedelta) -> None:
    late = timedelta(seconds=delay_seconds(NOW + span, NOW)) - max(span, timedelta(0))
    assert timedelta(0) <= late < SECOND


@pytest.mark.parametrize(
    ("run_at", "near", "wake"),
    [
        (NOW - SECOND, True, NOW + TIMING.recheck),
        (NOW, True, NOW + TIMING.recheck),
        (NOW + SECOND, True, NOW + SECOND + TIMING.recheck),
        (NOW + MAX_DELAY, True, NOW + MAX_DELAY + TIMING.recheck),
        (NOW + MAX_DELAY + MILLISECOND, False, NOW + MAX_DELAY + MILLISECOND),
        (NOW + timedelta(days=30), False, NOW + timedelta(days=30)),
    ],
)
def test_a_near_job_is_watched_over_and_a_far_one_is_handed_over_by_its_entry(
    run_at: datetime, near: bool, wake: datetime
) -> None:
    assert is_near(run_at, NOW) is near
    assert wake_at(run_at, NOW, TIMING) == wake


@given(instants(), st.timedeltas(timedelta(0), timedelta(days=3650)))
def test_a_new_entry_lies_beyond_what_any_drain_has_read(now: datetime, ahead: timedelta) -> None:
    """Else the watermark would have passed it, and only the sweep would see it."""
    if now.year < 9980:
        assert to_text(wake_at(now + ahead, now, TIMING)) > horizon(now, TIMING)


@pytest.mark.parametrize("seconds", [-86_400, 0, 200, 204])
def test_a_drain_reads_on_from_its_watermark(seconds: int) -> None:
    watermark = to_text(NOW + timedelta(seconds=seconds))
    assert resume_after(watermark, NOW, TIMING) == watermark


def test_a_first_drain_reads_everything() -> None:
    assert resume_after("", NOW, TIMING) == ""


def test_a_watermark_of_a_fast_clock_is_not_believed() -> None:
    """It would hide what is due until that clock's time has come."""
    watermark = to_text(NOW + TIMING.look_ahead + 2 * TIMING.max_skew + MILLISECOND)
    assert resume_after(watermark, NOW, TIMING) == overdue_until(NOW) == to_text(NOW - timedelta(minutes=15))
