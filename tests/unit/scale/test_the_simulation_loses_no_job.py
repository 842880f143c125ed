"""The simulation of docs/scale.md is sound: what goes in comes out, and each limit that is halved is what binds."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from benchmarks.scale import workers
from benchmarks.scale.deployment import Deployment, Speeds, speeds
from benchmarks.scale.dispatching import Dispatching, Line
from benchmarks.scale.limits import Limit
from benchmarks.scale.loads import BEGINS, SLOTS_BEGIN, Load, herd, rising, schedules
from benchmarks.scale.measured import Measured
from benchmarks.scale.moving import GOAL, peak, steps
from benchmarks.scale.partitions import SPLIT_AFTER, Partitions, by_hash
from benchmarks.scale.simulation import Result, simulate

COSTS = Measured(hand_over=0.0002, plan=0.0025, run=0.005, create=0.003, create_batch=0.002)
"""Round figures, so that what is held here does not move with each measurement."""
LOAD = rising(3_000, rise=30, stay=60)
SLOTS = schedules(3_000_000, 1, seconds=60)
WIDE = Deployment(shards=16, dispatchers=16, batch=10, workers=900, warm=30_000, concurrency=5_000, rehearsed=1)
WIDE_SLOTS = replace(WIDE, warm_schedules=8_000)


def late(result: Result) -> bool:
    return result.percentile(0.95) > GOAL or result.uncreated > 0.5 * result.jobs


@pytest.mark.parametrize("load", [LOAD, SLOTS, herd(50_000)], ids=lambda load: load.name)
@pytest.mark.parametrize(
    "here", [Deployment(), WIDE, replace(WIDE, warm=4_000, rehearsed=0)], ids=["few", "many", "hot"]
)
def test_every_job_starts_once_or_is_counted_as_left(load: Load, here: Deployment) -> None:
    result = simulate(load, here, COSTS)
    assert sum(result.late.values()) + result.left["start"] == pytest.approx(result.jobs)
    assert 0 <= result.left["start"] <= result.left["finish"] + 1e-3
    assert min(result.late) >= 1, "none is early, and rounding up costs a second"


def test_what_is_wide_enough_is_on_time() -> None:
    """Else the halves below would prove nothing."""
    for load, here in ((LOAD, WIDE), (SLOTS, WIDE_SLOTS)):
        result = simulate(load, here, COSTS)
        assert not late(result)
        assert set(result.left.values()) == {0}


@pytest.mark.parametrize(
    ("limit", "load", "enough"),
    [
        (Limit.API, LOAD, {"requests": 7}),
        (Limit.TABLE, LOAD, {"warm": 10_000}),
        (Limit.AGENDA, LOAD, {"shards": 8}),
        (Limit.SCHEDULES, SLOTS, {"warm_schedules": 160}),
        (Limit.DISPATCH, LOAD, {"dispatchers": 2, "memory": 300}),
        (Limit.WORKERS, LOAD, {"workers": 80}),
        (Limit.ACCOUNT, LOAD, {"concurrency": 120}),
    ],
)
def test_a_limit_that_is_halved_is_what_binds(limit: Limit, load: Load, enough: Mapping[str, int]) -> None:
    (name, value), wide = next(iter(enough.items())), WIDE_SLOTS
    fits = simulate(load, replace(wide, **enough), COSTS)
    halved = simulate(load, replace(wide, **{**enough, name: value // 2}), COSTS)
    assert not late(fits)
    assert late(halved)
    assert halved.binds is limit
    assert halved.use[limit] == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize(
    ("limit", "name"), [(Limit.SOURCE, "SOURCE_MINUTE"), (Limit.ENVIRONMENTS, "BURST"), (Limit.IN_FLIGHT, "IN_FLIGHT")]
)
def test_a_limit_of_aws_that_is_low_is_what_binds(monkeypatch: pytest.MonkeyPatch, limit: Limit, name: str) -> None:
    monkeypatch.setattr(workers, name, 3)
    assert simulate(LOAD, WIDE, COSTS).binds is limit


def test_invocations_for_a_queue_begin_with_five_and_grow_by_300_a_minute() -> None:
    source, grown = workers.Source(replace(WIDE, workers=1_000)), list[float]()
    for _ in range(600):
        source.passed(source.now, waiting=1)
        grown.append(source.now)
    assert (grown[59], grown[-1]) == (305, 1_250)
    ready = workers.Source(replace(WIDE, pollers=20, most_pollers=50))
    assert (ready.now, ready.most) == (200, 500)


def test_a_function_gets_a_thousand_environments_in_ten_seconds() -> None:
    source, most = workers.Source(replace(WIDE, pollers=200, most_pollers=500)), []
    for second in range(20):
        most.append(source.limits(second, 0)[Limit.ENVIRONMENTS])
        source.passed(most[-1], waiting=1)
    assert most == [1_000] * 10 + [2_000] * 10


def test_a_herd_is_a_line_that_workers_take_down_at_their_rate() -> None:
    """By hand: 900 workers, of whom ten jobs each take 0.18 s, start what they are given in each second."""
    here = replace(WIDE, workers=10, memory=1_769)
    rate = 10 * 10 / (0.1 + 3 * 0.01 + 10 * 0.005)
    assert simulate(herd(10_000), here, COSTS).percentile(1) == pytest.approx(10_000 / rate, abs=1)


def test_a_slower_processor_takes_longer() -> None:
    whole, half = (speeds(replace(WIDE, memory=memory), COSTS, 0, 1) for memory in (1_769, 884.5))  # type: ignore[arg-type]
    assert half.hand_over - whole.hand_over == pytest.approx(COSTS.hand_over)
    assert half.plan - whole.plan == pytest.approx(COSTS.plan)
    assert half.invocation - whole.invocation == pytest.approx(10 * COSTS.run)


def test_shards_that_lie_together_share_what_one_partition_takes() -> None:
    partitions = Partitions(4, {3: 1, 1: 1})
    partitions.add("finish", 4_000)
    assert partitions.write(1)["finish"] == pytest.approx(2_000)
    assert partitions.waiting("finish") == pytest.approx(2_000), "of the three together, who take a thousand in all"
    assert sum(size * count for size, count in by_hash(64, 8_000).items()) == 64


def test_a_partition_that_is_too_busy_is_split_until_a_shard_is_alone() -> None:
    partitions = Partitions(5, {5: 1})
    partitions.add("finish", 10_000_000)
    for _ in range(SPLIT_AFTER):
        partitions.write(1)
    assert {size: crowd.partitions for size, crowd in partitions.crowds.items()} == {2: 1, 3: 1}
    waiting = partitions.waiting("finish")
    assert waiting == pytest.approx(10_000_000 - 1_000 * SPLIT_AFTER)
    for _ in range(3 * SPLIT_AFTER):
        partitions.write(1)
    assert {size: crowd.partitions for size, crowd in partitions.crowds.items()} == {1: 5}


def test_a_line_is_taken_in_order_and_to_its_horizon() -> None:
    line = Line([0, 2, 0, 3])
    assert line.take(1, 1.5) == [(1, 1.5)]
    assert line.take(2, 9) == [(1, 0.5)]
    assert line.take(9, 9) == [(3, 3)]
    assert line.take(9, 9) == []


def test_a_shard_is_looked_at_by_one_dispatcher_at_a_time() -> None:
    """So more dispatchers than shards hand over no faster."""
    speed = Speeds(look=0, hand_over=0.001, plan=1, invocation=1, create=1)
    due = {0: 4_000_000.0}
    handed = {count: _handed(due, replace(WIDE, shards=4, dispatchers=count), speed) for count in (2, 4, 8)}
    assert handed == {2: pytest.approx(600_000), 4: pytest.approx(1_200_000), 8: pytest.approx(1_200_000, rel=0.02)}


@pytest.mark.parametrize(("shards", "dispatchers"), [(4, 2), (32, 2), (128, 4)])
def test_what_is_live_is_handed_over_in_time_while_all_shards_have_long_work(shards: int, dispatchers: int) -> None:
    """With looks of 40 s, 32 shards of two dispatchers had their turns eleven minutes apart."""
    live = dict.fromkeys(range(BEGINS, BEGINS + 400), 20.0)
    here = replace(WIDE_SLOTS, shards=shards, dispatchers=dispatchers, warm_schedules=40_000)
    dispatching = Dispatching(live, {SLOTS_BEGIN: 3_000_000.0}, here, speeds(here, COSTS, 0, 1))
    late = [now - due for now in range(BEGINS + 400) for due in dispatching.second(now)[0]]
    assert max(late) <= 0
    assert sum(dispatching.drains[0].jobs) == pytest.approx(400 * 20 / shards)
    assert dispatching.plans[0].reached == SLOTS_BEGIN, "and there was more to plan all the time"


def _handed(due: Mapping[int, float], here: Deployment, speed: Speeds) -> float:
    dispatching = Dispatching(due, {}, here, speed)
    return sum(sum(dispatching.second(now)[0].values()) for now in range(300))


def test_a_peak_is_what_the_seconds_that_may_be_used_hold() -> None:
    assert peak({0: 10.0}) == 2
    assert peak(dict.fromkeys(range(100), 7.0)) == 7
    assert peak({}) == 0


def test_each_step_moves_one_limit_until_the_goal_is_met() -> None:
    found = list(steps(rising(300, rise=30, stay=30), COSTS))
    assert [step.moved for step in found] == [{}, {"workers": 55}]
    assert [step.reaches for step in found] == [False, True]


def test_a_herd_that_no_setting_can_serve_is_spread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "BURST", 20)
    *_, last = steps(herd(20_000), COSTS)
    assert last.reaches
    assert last.load.spread > 1
    assert (min(last.load.due), sum(last.load.due.values())) == (BEGINS, 20_000)
