"""A dispatcher whose time is over begins no further schedule, not even of the page that it has in its hands."""

from tests.support.lab import Lab
from tests.support.schedules import put, same_shard, slots_of
from tests.support.worlds import time_for

from onthedot import wiring
from onthedot.steps.plan import plan_shard
from onthedot.steps.ports import Shard

SHARD = Shard("0", "lease", "", None)


def test_none_of_a_page_is_begun(lab: Lab) -> None:
    """A page of a hundred was planned to its end, ten transactions each, and the function was killed in the midst."""
    names = same_shard(0, 6)
    for name in names:
        put(name)
    before = {name: list(slots_of(name)) for name in names}
    lab.time.shift(60)
    lab.calls.clear()
    planned = plan_shard(wiring.world(), SHARD, lambda: False)
    assert (planned.slots, planned.left) == (0, True)
    assert lab.called("TransactWriteItems") == []
    assert {name: list(slots_of(name)) for name in names} == before
    assert plan_shard(wiring.world(), SHARD, lambda: True).slots == len(names)


def test_those_that_were_begun_are_finished(lab: Lab) -> None:
    """What one has planned is handed over, and the rest is found again by the next."""
    names = same_shard(0, 6)
    for name in names:
        put(name)
    lab.time.shift(60)
    few = plan_shard(wiring.world(), SHARD, time_for(3))
    assert 0 < few.slots <= 3
    assert few.left
    assert few.slots + plan_shard(wiring.world(), SHARD, lambda: True).slots == len(names)
