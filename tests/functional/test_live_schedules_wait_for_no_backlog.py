"""What is due now waits for nothing: not for schedules that were down for days, nor for all that fire at one minute."""

from dataclasses import replace
from datetime import timedelta
from itertools import cycle

import pytest
from tests.support.handlers import RAN, ran
from tests.support.jobs import create
from tests.support.lab import Context, Lab
from tests.support.proving import IN_FULL
from tests.support.schedules import change, put, same_shard, slots_of
from tests.support.worlds import time_for

from onthedot import wiring
from onthedot.adapters.schedule_items import schedule_item
from onthedot.messages import ShardMessage
from onthedot.rules.agenda import shard_of
from onthedot.rules.instants import from_text, shown
from onthedot.rules.schedules import Schedule
from onthedot.steps.dispatch import MAX_HOPS, dispatch
from onthedot.steps.plan import plan_shard
from onthedot.steps.ports import Shard

TWO_DAYS = timedelta(days=2)


def backlog(lab: Lab, count: int) -> list[str]:
    """Return so many schedules of shard 0 that nobody has planned for two days; the last one is live."""
    *down, live = same_shard(0, count + 1)
    for name in down:
        put(name, cron="0 * * * *", catch_up_limit=3)
    lab.time.shift(TWO_DAYS)
    lab.next_tick = lab.now().replace(second=0) + timedelta(minutes=1)
    put(live, cron=f"{lab.now().minute + 11} * * * *")
    lab.time.shift(60)
    return [*down, live]


def shard(lab: Lab) -> Shard:
    found = wiring.world().shards.acquire("0", "x", None, lab.now(), lab.now(), lab.now() + timedelta(seconds=55))
    assert found is not None
    return found


def test_a_live_schedule_comes_before_a_hundred_that_were_down(lab: Lab) -> None:
    """B7: catching up ate the lease of the shard, minute after minute, and what was due ran late as well."""
    *down, live = backlog(lab, 100)
    assert slots_of(live) == {}
    planned = plan_shard(wiring.world(), shard(lab), time_for(1))
    assert (planned.slots, planned.left) == (1, True)
    assert len(slots_of(live)) == 1
    assert not any(slots_of(name) for name in down), "there was time for one page, and it was the live one's"


def test_drain_comes_before_all_planning(lab: Lab) -> None:
    """B7: a job that wakes now is handed over first, whatever is to be planned."""
    backlog(lab, 20)
    name = next(f"j{n}" for n in range(100) if shard_of(f"job#j{n}", 2) == "0")
    create(name, 1_000)
    lab.time.shift(900)
    dispatch(wiring.world(), ShardMessage("0", lab.now()), time_for(2))
    assert [name in message.body for message in lab.messages()][:1] == [True]


def test_a_backlog_is_worked_off_hop_by_hop_while_there_is_progress(lab: Lab) -> None:
    """Trap 8: each message to oneself follows progress; the last hop sends none, and the next tick goes on."""
    *down, live = backlog(lab, 120)
    message, hops = ShardMessage("0", lab.now()), 0
    while message:
        looked = dispatch(wiring.world(), message, time_for(40))
        assert looked is not None
        if looked.again is None:
            break
        message, hops = looked.again, hops + 1
    assert hops >= 1
    assert all(len(slots_of(name)) == 3 for name in down)
    assert len(slots_of(live)) == 1


@pytest.mark.parametrize(("hops", "goes_on"), [(0, True), (MAX_HOPS - 1, True), (MAX_HOPS, False)])
def test_a_chain_of_planning_ends(lab: Lab, hops: int, goes_on: bool) -> None:
    """Trap 8: Lambda stops what seems a loop; fifty hops at most."""
    backlog(lab, 5)
    looked = dispatch(wiring.world(), ShardMessage("0", lab.now(), hops), time_for(6))
    assert looked is not None
    assert (looked.again is not None) == goes_on


def test_one_that_planned_nothing_asks_for_no_other(lab: Lab) -> None:
    """Trap 8: a schedule that cannot be planned is due at each look, and would spin."""
    for name in backlog(lab, 1):
        change(lab, name, fields={"S": '{"handler":"test.record","cron":"* * * * *","group":"\\ud800"}'})
    looked = dispatch(wiring.world(), ShardMessage("0", lab.now()), lambda: False)
    assert looked is not None
    assert looked.again is None


COUNT = 300 if IN_FULL else 100


def copies(lab: Lab, one: Schedule, names: list[str]) -> None:
    """Write schedules that differ in their names alone, as a restored table has them."""
    for name in names:
        item = schedule_item(replace(one, name=name, generation=name, stamp=name), 4)
        lab.dynamodb.put_item(TableName=lab.tables["SchedulesTable"], Item=item)


def test_hundreds_at_one_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """O03: all tenants at midnight, under one key of an index, were throttled, and some of them lost."""
    with Lab(Shards=4) as lab:
        names = [f"tenant{number:03}" for number in range(COUNT)]
        copies(lab, put("one", cron="15 8 * * *"), names)
        at = from_text("2027-01-04T08:15:00.000Z")
        lab.time.move_to(at - timedelta(minutes=4, seconds=30))
        lab.next_tick = at - timedelta(minutes=4)
        assert {shard_of(f"schedule#{name}", 4) for name in names} == {"0", "1", "2", "3"}
        times = cycle([50_000, 50_000, 50_000, 0])
        with monkeypatch.context() as patch:
            patch.setattr(Context, "get_remaining_time_in_millis", lambda _: next(times))
            lab.tick()
        lab.advance(minutes=7)
        assert sorted(ran()) == sorted(f"{name}@{shown(at)}" for name in [*names, "one"])
        assert all(timedelta(0) <= call.at - at <= timedelta(seconds=120) for call in RAN)
