"""SQS delays by whole seconds: what rounding adds is a job's lateness, or its worker's wait, and never earliness."""

from datetime import UTC, datetime, timedelta

from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.support.proving import OFTEN

from onthedot.rules.agenda import Entry, arrives_at, delay_seconds, is_near, rest_of, wake_at
from onthedot.rules.instants import MILLISECOND
from onthedot.rules.timing import CLOCKS_APART, MOST_WORKER_WAIT, Timing

NOW = datetime(2027, 1, 4, 8, tzinfo=UTC)
SECOND = timedelta(seconds=1)
SPANS = st.integers(0, 900_000).map(lambda number: number * MILLISECOND)
WAITS = st.integers(0, MOST_WORKER_WAIT // MILLISECOND).map(lambda number: number * MILLISECOND)
HOPS = st.integers(0, 3_000).map(lambda number: number * MILLISECOND)


def entries(due: datetime, timing: Timing) -> list[Entry]:
    """Return what the message of a job says: one that its writer has sent, and one that drain has."""
    return [Entry(wake_at(due, NOW, timing), "job#a", "-"), Entry(due, "job#a", "-")]


@given(span=SPANS, wait=WAITS, hop=HOPS)
@example(span=timedelta(milliseconds=899_600), wait=timedelta(0), hop=timedelta(0))
@example(span=2 * SECOND, wait=SECOND, hop=timedelta(0))
@example(span=2 * SECOND - MILLISECOND, wait=SECOND, hop=timedelta(0))
@example(span=2 * SECOND + MILLISECOND, wait=SECOND, hop=timedelta(0))
@example(span=timedelta(minutes=15), wait=SECOND, hop=timedelta(0))
@settings(max_examples=300 * OFTEN, deadline=None)
def test_a_start_is_never_early_and_late_by_what_is_not_waited_for(
    span: timedelta, wait: timedelta, hop: timedelta
) -> None:
    """What is late is what SQS took beyond the wait, and what rounding added beyond it: from a second on, nothing."""
    timing, due = Timing(worker_wait=wait), NOW + span
    assert is_near(due, NOW)
    sent_for = NOW + delay_seconds(arrives_at(due, timing), NOW) * SECOND
    assert due - wait <= sent_for <= max(NOW, due - wait + SECOND - MILLISECOND)
    for entry in entries(due, timing):
        there = sent_for + hop
        assert there + rest_of(entry, there, timing) == max(there, due)


@given(span=SPANS, wait=WAITS, early=st.integers(1, 5_000))
@settings(max_examples=200 * OFTEN, deadline=None)
def test_a_worker_waits_for_what_is_its_own_and_no_longer(span: timedelta, wait: timedelta, early: int) -> None:
    """A message that a fast clock sent an hour too early kept a worker for an hour, and all that were due out."""
    timing, due = Timing(worker_wait=wait), NOW + span
    for entry in entries(due, timing):
        rest = rest_of(entry, due - early * MILLISECOND, timing)
        is_its_own = timedelta(0) < wait and early * MILLISECOND <= wait + CLOCKS_APART
        assert rest == (early * MILLISECOND if is_its_own else timedelta(0))


@given(span=SPANS, wait=WAITS, late=st.integers(0, 10**9))
@settings(max_examples=200 * OFTEN, deadline=None)
def test_nothing_waits_whose_time_has_come(span: timedelta, wait: timedelta, late: int) -> None:
    """What comes late has waited enough: a near job's second message is waited for until its wake."""
    timing, due = Timing(worker_wait=wait), NOW + span
    near, far = entries(due, timing)
    there = due + late * MILLISECOND
    assert rest_of(far, there, timing) == timedelta(0)
    assert rest_of(near, there, timing) == timedelta(0) or near.wake - timing.longest_wait <= there < near.wake
