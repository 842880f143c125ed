"""The wait between attempts grows, is spread by chance, and stops at its cap, however many attempts there were."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onthedot.rules.instants import MILLISECOND
from onthedot.rules.retry import LONGEST_WAIT, Backoff, next_at

X07 = Backoff(first=1, factor=2, max=3600)
NOW = datetime(2027, 1, 4, 8, tzinfo=UTC)
ALMOST_ONE = 0.999999


@pytest.mark.parametrize(
    ("attempt", "seconds"), [(1, 1), (2, 2), (12, 2048), (13, 3600), (47, 3600), (1024, 3600), (5000, 3600)]
)
def test_x07_the_cap_comes_before_the_power(attempt: int, seconds: float) -> None:
    """The power was taken first: an OverflowError at attempt 47 or 1024 ended chains of retries in silence."""
    assert X07.longest(attempt) == seconds


@pytest.mark.parametrize(
    ("backoff", "longest"),
    [
        (Backoff(first=1e-9, factor=1.0, max=3600), 1e-9),
        (Backoff(first=10, factor=1, max=10), 10),
        (Backoff(first=7200), 3600),
        (Backoff(first=5, factor=1000, max=1e9), 1e9),
    ],
)
def test_x07_its_kind_has_a_wait_after_every_attempt(backoff: Backoff, longest: float) -> None:
    assert [backoff.longest(attempt) for attempt in (5_000, 10_000)] == [longest, longest]


def test_the_default_is_that_of_the_contract() -> None:
    assert [Backoff().longest(attempt) for attempt in range(1, 12)] == [
        10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600,
    ]  # fmt: skip


@given(
    st.floats(0.001, 4e8), st.floats(1, 1_000), st.floats(0.001, 4e8), st.integers(1, 10_000), st.floats(0, ALMOST_ONE)
)
def test_with_full_jitter_it_lies_between_nothing_and_the_longest(
    first: float, factor: float, most: float, attempt: int, chance: float
) -> None:
    backoff = Backoff(first, factor, most)
    assert timedelta(0) <= backoff.wait(attempt, chance) <= timedelta(seconds=backoff.longest(attempt)) + MILLISECOND
    assert backoff.longest(attempt) <= max(most, 0)
    assert backoff.longest(attempt) <= backoff.longest(attempt + 1), "it never shrinks"


@pytest.mark.parametrize(("chance", "seconds"), [(0, 0), (0.5, 20), (0.25, 10)])
def test_chance_spreads_it_evenly(chance: float, seconds: float) -> None:
    assert Backoff().wait(3, chance) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("wait", "seconds"),
    [(timedelta(0), 0), (timedelta(seconds=-5), 0), (timedelta(days=2), 172_800), (timedelta.max, 3660 * 86_400)],
)
def test_no_wait_leads_out_of_the_calendar(wait: timedelta, seconds: float) -> None:
    """A wait past the year 9999 raised an OverflowError after the handler, and its attempt was never ended."""
    assert next_at(NOW, wait) == NOW + timedelta(seconds=seconds)
    assert seconds <= LONGEST_WAIT.total_seconds()
