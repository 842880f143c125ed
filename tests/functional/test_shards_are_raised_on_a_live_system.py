"""Shards are raised, and lowered again, while jobs come and go: each that was accepted runs once, and in time.

Lambda updates one function after the other, and containers that are warm go on with the old number for a while. So the
story mixes writers, timers and dispatchers of both numbers, a drain that is under way, and a writer that dies.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from itertools import count

import pytest
from botocore.exceptions import ConnectionError as Unreachable
from tests.support import schedules
from tests.support.handlers import RAN
from tests.support.jobs import create
from tests.support.lab import Lab, forget
from tests.support.proving import IN_FULL
from tests.support.worlds import Picky, client_of, with_client

from onthedot import testing, wiring
from onthedot.messages import ShardMessage
from onthedot.rules.agenda import shard_of
from onthedot.steps import drain
from onthedot.steps.dispatch import dispatch
from onthedot.steps.ports import World

FAR, NEAR = 961, 30
"""Seconds: the first is handed over by drain, the second by its writer."""
IN_TIME = timedelta(seconds=2)
MINUTES = 5 if IN_FULL else 1
"""How long each number of shards goes with the other."""


@dataclass(slots=True)
class Traffic:
    """Clients that create jobs each minute, far and near ones, through whichever writer they meet."""

    lab: Lab
    due: dict[str, datetime] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=count)

    def flow(self, *writers: World) -> None:
        """Let time pass, in which each writer accepts some jobs a minute."""
        for _ in range(MINUTES):
            for world in writers:
                for delay in (FAR, FAR + 1, NEAR):
                    self.create(world, delay)
            self.lab.advance(seconds=60)
            self.lab.tick()

    def create(self, world: World, delay: float) -> None:
        """Have a job accepted."""
        name = f"j{next(self.numbers)}"
        self.due[name] = create(name, delay, world=world).run_at

    def end(self) -> None:
        """Let all run that is due."""
        self.lab.advance(seconds=FAR + 5)


@pytest.fixture
def traffic(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Traffic:
    """Return traffic on two shards, with a schedule beside it; pages are so small that a drain has several."""
    monkeypatch.setattr(drain, "PAGE", 2)
    monkeypatch.setattr(lab, "minute", partial(testing.Lab.minute, lab))  # who waits for nothing is asked by `flow`
    schedules.put("s0", every=300)
    flowing = Traffic(lab)
    flowing.flow(wiring.world())
    return flowing


def deploy(monkeypatch: pytest.MonkeyPatch, shards: int) -> World:
    """Deploy all functions with this number of shards; who has a former world has a warm container."""
    monkeypatch.setenv("ONTHEDOT_SHARDS", str(shards))
    forget()
    return wiring.world()


@contextmanager
def one_function_deployed(monkeypatch: pytest.MonkeyPatch, shards: int) -> Iterator[World]:
    """Deploy one function with this number of shards, and no other."""
    before = wiring.settings().shards
    world = deploy(monkeypatch, shards)
    deploy(monkeypatch, before)
    yield world


def assert_each_ran_once_and_in_time(traffic: Traffic) -> None:
    ran = Counter(call.id for call in RAN)
    assert {name: ran[name] for name in traffic.due} == dict.fromkeys(traffic.due, 1)
    late = {call.id: call.at - traffic.due[call.id] for call in RAN if call.id in traffic.due}
    assert {name: after for name, after in late.items() if not timedelta(0) <= after <= IN_TIME} == {}
    assert max(Counter(call.key for call in RAN).values()) == 1, "a slot is one job, whoever planned it"


def rows(world: World) -> set[str]:
    """Return the shards that ever had a dispatcher."""
    return {row.name for row in world.shards.all()}


def test_from_two_to_five_and_back_to_one(traffic: Traffic, monkeypatch: pytest.MonkeyPatch) -> None:
    two = wiring.world()
    with one_function_deployed(monkeypatch, 5) as five:
        traffic.flow(two, five)  # the API is new, the timer old: nobody looks at the new shards yet
        schedules.put("s1", every=240, world=five)
    traffic.lab.advance(seconds=FAR - 60 * MINUTES - 90)  # it learns of them at the last moment for far jobs
    assert rows(five) == {"0", "1"}
    five = deploy(monkeypatch, 5)
    traffic.flow(two, five)  # the timer is new, and writers are warm
    schedules.put("s0", every=360, world=two)
    assert rows(five) == set("01234")
    one = deploy(monkeypatch, 1)
    traffic.flow(five, one)  # far jobs lie in shards beyond the number for as long as they are far
    traffic.end()
    assert len({call.id for call in RAN} - traffic.due.keys()) >= 2 * 3, "and slots of both schedules"
    assert_each_ran_once_and_in_time(traffic)


def test_while_a_drain_is_under_way(traffic: Traffic, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has sent a page and holds the lease, and its next look is one of a dispatcher of the new number."""
    for _ in range(8):
        traffic.create(wiring.world(), FAR)
    traffic.lab.advance(seconds=FAR - 201)
    traffic.lab.time.shift(2)
    before, pages = wiring.world(), iter([True])
    begun = dispatch(before, ShardMessage("0", traffic.lab.now()), lambda: next(pages, False))
    assert begun is not None
    assert begun.again is not None, "there are more pages"
    five = deploy(monkeypatch, 5)
    assert dispatch(before, ShardMessage("0", traffic.lab.now()), lambda: True) is None, "the lease is another's"
    assert dispatch(five, begun.again, lambda: True) is not None
    traffic.end()
    assert_each_ran_once_and_in_time(traffic)


def test_a_writer_of_the_new_number_dies_before_it_sends(traffic: Traffic, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its entry is in a shard that nobody looks at yet; drain finds it when it would have found any other."""
    name = next(name for name in map("died{}".format, count()) if shard_of(f"job#{name}", 5) == "4")
    with one_function_deployed(monkeypatch, 5) as five:
        lost = Picky(client_of(five, "queue"), lambda _: Unreachable(error=OSError("the network is gone")))
        made = create(name, NEAR, world=with_client(five, "queue", lost))
    traffic.flow(wiring.world())
    deploy(monkeypatch, 5)
    traffic.end()
    (ran,) = [call for call in RAN if call.id == name]
    assert ran.at - made.run_at <= wiring.world().timing.recheck + IN_TIME
    assert_each_ran_once_and_in_time(traffic)
