"""One attempt at a time; a late finisher changes nothing. Each story has a scripted winner and a stale loser."""

from datetime import timedelta

import pytest
from tests.support.handlers import RAN, ran
from tests.support.jobs import create, entry, job, message
from tests.support.lab import Lab
from tests.support.worlds import Holds, Runner, skewed, stalling

from onthedot import wiring
from onthedot.rules.jobs import State
from onthedot.steps.finish import Failure, Success, finish
from onthedot.steps.start import Attempt, Wait, give_back, start
from onthedot.steps.work import Worked, work

POLICIES = Runner(3).policies()
TIMEOUT, MARGIN = timedelta(seconds=60), timedelta(seconds=15)


def begun(name: str, ahead: float = 0) -> Attempt:
    attempt = start(skewed(ahead), entry(job(name)), POLICIES)
    assert isinstance(attempt, Attempt)
    return attempt


def test_a_late_finisher_changes_nothing(lab: Lab) -> None:
    """The fence is the owner and not the attempt's number, which starts again when a dead job is retried."""
    create("j1")
    a = begun("j1")
    lab.time.shift(80)
    b = begun("j1")
    world, now = wiring.world(), job("j1")
    for ending in (Success('"stale"'), Failure("stale", "failed")):
        assert not finish(world, a, ending)
        give_back(world, a)
        assert job("j1") == now == b.job
    assert finish(world, b, Success('"mine"'))
    after = job("j1")
    assert not finish(world, a, Success('"stale"'))
    assert job("j1") == after
    assert (after.result, after.attempt) == ('"mine"', 2)


def test_an_owner_is_drawn_anew_for_each_start(lab: Lab) -> None:
    """With the message's id as owner, two copies of one message took each other's start for their own (A3)."""
    made, owners = create("j1"), set()
    for _ in range(3):
        owners.add(begun("j1").job.owner)
        lab.time.shift(80)
    assert len(owners | {made.owner}) == 4


@pytest.mark.parametrize(("owner", "taker"), [(-2, 2), (0, 0), (2, -2)])
def test_clocks_apart_by_the_skew_allowed_never_run_two(lab: Lab, owner: float, taker: float) -> None:
    """B1: the owner's clock was slow, the taker's fast, and a lease of 75 s lasted for 15."""
    create("j1", -10)
    first = begun("j1", owner)
    over = lab.now() + TIMEOUT + MARGIN
    lab.time.move_to(over)
    assert isinstance(start(skewed(taker), entry(job("j1")), POLICIES), Wait)
    lab.time.shift(8.001)
    second = begun("j1", taker)
    assert second.job.attempt == first.job.attempt + 1


def test_a_start_that_took_too_long_does_not_run(lab: Lab) -> None:
    """B2: start won, the process stalled, another took over and finished, the first woke up and ran the handler."""
    made, holds = create("j1"), Holds()
    slow = stalling(wiring.world(), lambda: lab.time.shift(15.001))
    assert work(slow, message(made), Runner(), holds) == Worked(acknowledged=False)
    assert ran() == []
    assert holds.spans == [80, 0], "hidden for the lease and the skew, then shown again at once"
    back = job("j1")
    assert (back.state, back.attempt, back.owner, back.lease_until) == (State.SCHEDULED, 0, None, None)
    assert back.wake == made.wake
    lab.advance(minutes=3)
    assert [call.attempt for call in RAN] == [1]


def test_a_start_just_in_time_runs(lab: Lab) -> None:
    """The margin is kept to the millisecond; else every slow read would cost a round."""
    slow = stalling(wiring.world(), lambda: lab.time.shift(15))
    assert work(slow, message(create("j1")), Runner(), Holds()) == Worked(acknowledged=True)
    assert ran() == ["j1"]


def test_a_start_that_woke_up_after_another_had_finished_leaves_it_so(lab: Lab) -> None:
    """B2 to its end: the loser neither runs, nor gives back what is not its own, nor acknowledges."""
    made, world = create("j1"), wiring.world()

    def another_takes_over_and_finishes() -> None:
        lab.time.shift(80)
        assert work(world, message(made), Runner(), Holds()) == Worked(acknowledged=True)

    slow = stalling(world, another_takes_over_and_finishes)
    assert work(slow, message(made), Runner(), Holds()) == Worked(acknowledged=False)
    assert [call.attempt for call in RAN] == [2]
    assert job("j1").state is State.SUCCEEDED


def test_two_who_take_over_at_once_are_one(lab: Lab) -> None:
    """Both read the same dead attempt; the second's write finds another owner."""
    made = create("j1")
    dead = begun("j1").job
    lab.time.shift(80)
    winner = begun("j1")
    world = wiring.world()
    assert not world.jobs.change(dead, winner.job).won or job("j1") == winner.job
    assert isinstance(start(world, entry(made), POLICIES), Wait)
    assert job("j1") == winner.job
