"""Both inequalities of `rules/timing.py`, on both sides, and how long attempts may take."""

from datetime import timedelta

import pytest
from tests.unit.making import a_job

from onthedot.rules.instants import MILLISECOND
from onthedot.rules.policies import DEFAULT_TIMEOUT, Policies, Policy
from onthedot.rules.timing import Timing


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


def test_the_look_ahead_bears_a_lost_tick() -> None:
    """Ticks may be 119 s apart, 179 s with one lost, and a job behind two queues and cold starts (aws-traps 4)."""
    assert Timing(look_ahead=seconds(200))
    with pytest.raises(ValueError, match="look_ahead"):
        Timing(look_ahead=seconds(200) - MILLISECOND)


def test_an_entry_is_in_the_index_before_the_watermark_passes_it() -> None:
    assert Timing(look_ahead=seconds(216), recheck=seconds(300))
    with pytest.raises(ValueError, match="recheck"):
        Timing(look_ahead=seconds(216) + MILLISECOND, recheck=seconds(300))
    with pytest.raises(ValueError, match="recheck"):
        Timing(look_ahead=seconds(216), recheck=seconds(300), max_skew=seconds(2) + MILLISECOND)


def test_a_worker_holds_an_attempt_and_two_margins() -> None:
    assert Timing().max_timeout == seconds(90)
    assert Timing(worker_timeout=seconds(31)).max_timeout == seconds(1)
    with pytest.raises(ValueError, match="worker_timeout"):
        Timing(worker_timeout=seconds(31) - MILLISECOND)


def test_a_worker_that_is_not_to_wait_does_not_wait_for_clocks_either() -> None:
    assert (Timing().longest_wait, Timing().time_to_start) == (seconds(0), seconds(15))
    assert Timing(worker_wait=MILLISECOND).longest_wait == seconds(0.251)


@pytest.mark.parametrize("wait", [-0.001, 2.001])
def test_a_worker_waits_for_two_seconds_at_most(wait: float) -> None:
    """What is waited for is paid for, and taken from the time in which a start must be done."""
    with pytest.raises(ValueError, match="worker_wait"):
        Timing(worker_wait=seconds(wait))


def test_the_jobs_word_on_its_timeout_goes_first() -> None:
    policies = Policies({"quick": Policy(seconds(5), 3)})
    assert policies.of(a_job(handler="quick", timeout=seconds(7))) == Policy(seconds(7), 3)
    assert policies.of(a_job(handler="quick")) == Policy(seconds(5), 3)
    assert policies.of(a_job(handler="other")) == Policy(DEFAULT_TIMEOUT, 5)


@pytest.mark.parametrize("own", [[], [5], [5, 70]])
def test_no_attempt_may_outlive_the_lease_that_its_start_wrote(own: list[int]) -> None:
    """Where every handler said less than the default, one that said nothing ran on after its lease, beside another."""
    policies = Policies({f"handler-{number}": Policy(seconds(number)) for number in own})
    handlers = [*policies.by_handler, "says.nothing"]
    assert policies.longest_timeout == max(policies.of(a_job(handler=name)).timeout for name in handlers)
