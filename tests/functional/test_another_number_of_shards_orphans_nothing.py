"""Another number of shards orphans nothing: what was written to a shard is looked for there."""

from datetime import timedelta

import pytest
from tests.support.handlers import ran
from tests.support.jobs import create
from tests.support.lab import START, Lab, forget

from onthedot import wiring
from onthedot.rules.agenda import MOST_SHARDS, searched_at, shard_of
from onthedot.steps.ports import ShardRow
from onthedot.steps.shards import shard_names

MINUTES = [timedelta(minutes=number) for number in range(MOST_SHARDS)]
NAMES = [f"j{n}" for n in range(8)]


def redeploy(monkeypatch: pytest.MonkeyPatch, shards: int) -> None:
    """Deploy with another number of shards."""
    monkeypatch.setenv("ONTHEDOT_SHARDS", str(shards))
    forget()


@pytest.mark.parametrize(("before", "after"), [(4, 2), (2, 4)])
def test_jobs_of_the_old_number_run_under_the_new_one(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, before: int, after: int
) -> None:
    """B9: entries that a rolled-back deployment had written to shards 2 and 3 were never drained."""
    redeploy(monkeypatch, before)
    lab.tick()
    for name in NAMES:
        create(name, 1_000)
    redeploy(monkeypatch, after)
    for name in NAMES:
        create(f"{name}-new", 1_010)
    lab.time.shift(850)
    lab.advance(seconds=163)
    assert sorted(ran()) == sorted(NAMES + [f"{name}-new" for name in NAMES])


def test_more_shards_that_were_rolled_back_before_a_tick_are_found(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A deployment failed half way: the API had written to shards 2 to 4, and no timer ever had their number."""
    lab.tick()
    redeploy(monkeypatch, 5)
    far = [name for name in map("far{}".format, range(30)) if shard_of(f"job#{name}", 5) == "4"]
    for name in far:
        create(name, 5 * 3_600)
    redeploy(monkeypatch, 2)
    searched = next(at for at in map(lab.now().__add__, MINUTES) if searched_at(at, 2) == "4")
    lab.time.move_to(searched)
    lab.tick()
    assert {row.name for row in wiring.world().shards.all()} == {"0", "1", "4"}
    lab.advance(hours=5)
    assert sorted(ran()) == sorted(far)


@pytest.mark.parametrize("shards", [1, 2, 200, 255])
def test_each_shard_beyond_has_its_turn_within_hours(shards: int) -> None:
    names = {searched_at(START + minute, shards) for minute in MINUTES}
    assert names == {str(number) for number in range(shards, MOST_SHARDS)}
    assert searched_at(START, MOST_SHARDS) is None


def test_shards_are_counted_and_not_spelt() -> None:
    """As texts, 10 comes before 9."""
    rows = [ShardRow(str(number), None, None, None) for number in (0, 9, 10)]
    assert shard_names(rows, 2) == [str(number) for number in range(11)]
    assert shard_names([], 3) == ["0", "1", "2"]
    assert shard_names(rows, 12) == [str(number) for number in range(12)]
