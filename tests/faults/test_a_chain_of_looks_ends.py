"""A look at a shard asks for another at once only when it planned something and was stopped for time (aws-traps 8).

Lambda is told to allow such chains, so nothing else would end one.
"""

import pytest
from tests.faults.failing import Faults, throttled
from tests.support import schedules
from tests.support.lab import Lab
from tests.support.worlds import time_for

from onthedot import wiring
from onthedot.messages import ShardMessage
from onthedot.steps.dispatch import MAX_HOPS, dispatch

AT_NINE = "0 9 * * *"
DRAINED_AND_SWEPT = 2
"""How often a look without entries asks whether there is time, before it plans."""
TWO_PLANNED = 4
"""How often it asks while it plans two schedules: before each, and after what was written of it."""


@pytest.fixture(autouse=True)
def _due(lab: Lab) -> None:
    """Have two pages of schedules that are due, in one shard."""
    for name in schedules.same_shard(0, 4):
        schedules.put(name, cron=AT_NINE)
    lab.time.shift(52 * 60)


def look(lab: Lab, hops: int = 0, pages: int = DRAINED_AND_SWEPT + TWO_PLANNED) -> ShardMessage | None:
    """Look at the shard, with time for so many pages; return what asks for another look."""
    looked = dispatch(wiring.world(), ShardMessage("0", lab.now(), hops=hops), time_for(pages))
    assert looked is not None
    return looked.again


def planned() -> int:
    """Return how many of the schedules have their job."""
    return sum(len(schedules.slots_of(name)) for name in schedules.same_shard(0, 4))


def test_it_goes_on_page_by_page(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onthedot.adapters.schedule_pages.PAGE", 2)
    again = look(lab)
    assert again is not None
    assert (again.hops, planned()) == (1, 2)
    looked = dispatch(wiring.world(), again, lambda: True)
    assert looked is not None
    assert (looked.again, planned()) == (None, 4)


def test_it_ends_after_so_many(lab: Lab) -> None:
    assert look(lab, hops=MAX_HOPS - 1) is not None
    lab.time.shift(86_400)
    assert look(lab, hops=MAX_HOPS) is None


def test_it_ends_where_nothing_could_be_planned(lab: Lab, faults: Faults) -> None:
    """A throttle that lasts would else be met again at once, at full speed, on the bill."""
    faults.on("TransactWriteItems", *[throttled()] * 100)
    assert look(lab) is None
    assert planned() == 0


def test_it_ends_when_all_is_planned(lab: Lab) -> None:
    assert look(lab, pages=100) is None
    assert planned() == 4
    assert look(lab) is None
