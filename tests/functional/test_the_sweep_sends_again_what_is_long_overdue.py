"""Sweep: once an hour, all that should have been looked at is sent again: a lost message costs an hour, not a job."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

import pytest
from tests.support.handlers import ran
from tests.support.jobs import create
from tests.support.lab import Lab
from tests.support.worlds import Died, die, skewed, time_for

from onthedot import wiring
from onthedot.messages import ShardMessage
from onthedot.rules.agenda import Entry, shard_of
from onthedot.steps import drain, sweep
from onthedot.steps.dispatch import LEASE, dispatch
from onthedot.steps.ports import Queue, Refusal, World

HOUR = timedelta(hours=1)


class Deadly:
    """A queue at which the process dies."""

    def send(self, entries: Sequence[Entry], _: Any) -> list[Refusal]:
        """Die, if there is anything to send."""
        return die() if entries else []


def overdue(lab: Lab, count: int) -> list[str]:
    """Return jobs of shard 0 that were handed over, and whose messages are lost, long ago, and no lease is held."""
    names = [f"j{n:03}" for n in range(count * 4) if shard_of(f"job#j{n:03}", 2) == "0"][:count]
    for name in names:
        create(name, 60)
    look(wiring.world())
    lab.time.shift(HOUR)
    look(wiring.world(), 1)
    lab.purge()
    lab.time.shift(LEASE + timedelta(seconds=1))
    return names


def look(world: World, pages: int = 99) -> None:
    dispatch(world, ShardMessage("0", world.clock.now()), time_for(pages))


def sent(lab: Lab) -> int:
    return len(lab.messages())


def test_what_is_long_overdue_is_sent_again_once_an_hour(lab: Lab) -> None:
    """A2: a rewind while the queue was empty never came under traffic, and every minute in a quiet failing system."""
    names = overdue(lab, 3)
    for minute in range(0, 120, 20):
        look(wiring.world())
        assert sent(lab) == 3 * (1 + minute // 60), minute
        lab.time.shift(20 * 60)
    lab.settle()
    assert sorted(set(ran())) == names
    assert len(ran()) == 3


def test_a_job_that_is_only_late_is_left_to_its_message(lab: Lab) -> None:
    """Under a quarter of an hour its message may well be on its way; the watermark stays where it is."""
    names = overdue(lab, 1)
    create("j-late", 0)
    before = wiring.world().shards.all()
    lab.purge()
    look(wiring.world())
    assert [kept.body.count(f"job#{names[0]}") for kept in lab.messages()] == [1]
    assert [row.watermark for row in before] <= [row.watermark for row in wiring.world().shards.all()]


def test_a_dispatcher_that_dies_in_its_sweep_does_not_make_every_tick_sweep(lab: Lab) -> None:
    """Claimed after the send, a sweep that always died was begun by each tick: a message a minute for each job."""
    overdue(lab, 1)
    world = replace(wiring.world(), queue=cast(Queue, Deadly()))
    with pytest.raises(Died):
        look(world)
    lab.time.shift(LEASE + timedelta(seconds=1))
    look(wiring.world())
    assert sent(lab) == 0
    lab.time.shift(HOUR)
    look(wiring.world())
    assert sent(lab) == 1


def test_a_look_without_time_for_a_sweep_does_not_claim_it(lab: Lab) -> None:
    """Behind a herd the drain took all the time, hour after hour; the claimed sweeps sent nothing."""
    overdue(lab, 1)
    look(wiring.world(), 1)
    assert sent(lab) == 0
    look(wiring.world())
    assert sent(lab) == 1


def test_a_sweep_noted_by_a_clock_far_ahead_is_not_believed(lab: Lab) -> None:
    """T20: a clock was set forward by hours and back, and nothing was swept until that future came."""
    overdue(lab, 1)
    look(skewed(8 * 3_600))
    lab.purge()
    lab.time.shift(60)
    look(wiring.world())
    assert sent(lab) == 1


def test_a_sweep_goes_through_all_pages(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries tied at one wake are split by a page, and none may be left out or sent for ever."""
    overdue(lab, 12)
    monkeypatch.setattr(drain, "PAGE", 5)
    monkeypatch.setattr(sweep, "PAGE", 5)
    look(wiring.world())
    assert sent(lab) == 12


def test_one_without_the_lease_does_not_sweep(lab: Lab) -> None:
    """Two dispatchers that sweep one shard send all twice."""
    overdue(lab, 1)
    world, now = wiring.world(), lab.now()
    mine = world.shards.acquire("0", "mine", None, now, now, now + LEASE)
    assert mine is not None
    lab.time.shift(60)
    assert world.shards.acquire("0", "other", None, now, lab.now(), lab.now() + LEASE)
    assert sweep.sweep(world, mine, lambda: True) is None
    assert sent(lab) == 0


def test_what_one_look_has_no_time_for_is_swept_by_the_next(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each hour began with the oldest again, so what lay behind them was never sent."""
    overdue(lab, 12)
    monkeypatch.setattr(drain, "PAGE", 5)
    monkeypatch.setattr(sweep, "PAGE", 5)
    world = wiring.world()
    looked = dispatch(world, ShardMessage("0", world.clock.now()), time_for(2))
    looks = 1
    while looked is not None and looked.again is not None:
        looked, looks = dispatch(world, looked.again, time_for(1)), looks + 1
    assert (sent(lab), looks) == (12, 3)
