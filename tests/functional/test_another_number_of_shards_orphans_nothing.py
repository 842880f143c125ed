"""Another number of shards orphans nothing: what was written to a shard is looked for there."""

from datetime import timedelta

import pytest
from tests.support.handlers import ran
from tests.support.jobs import create
from tests.support.lab import START, Lab, forget

import dispatch
from onthedot import wiring
from onthedot.rules.agenda import MOST_SHARDS, shard_of, shard_to_search
from onthedot.steps.dispatch import LEASE
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
    searched = next(at for at in map(lab.now().__add__, MINUTES) if shard_to_search(at, 2) == "4")
    lab.time.move_to(searched)
    lab.tick()
    assert {row.name for row in wiring.world().shards.all()} == {"0", "1", "4"}
    lab.advance(hours=5)
    assert sorted(ran()) == sorted(far)


def forgotten_job(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave a job in shard 4 of a deployment that has two, at the minute in which that is searched."""
    lab.tick()
    redeploy(monkeypatch, 5)
    create(next(name for name in map("far{}".format, range(30)) if shard_of(f"job#{name}", 5) == "4"), 5 * 3_600)
    redeploy(monkeypatch, 2)
    lab.time.move_to(next(at for at in map(lab.now().__add__, MINUTES) if shard_to_search(at, 2) == "4"))


def test_a_shard_is_searched_though_who_searches_is_busy(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A backlog in the first shard, held under one lease for half an hour, put the search of all others off."""
    forgotten_job(lab, monkeypatch)
    world, now = wiring.world(), lab.now()
    assert world.shards.acquire("0", "another", None, now, now, now + LEASE)
    lab.tick()
    assert "4" in {row.name for row in world.shards.all()}


def test_a_search_that_fails_harms_no_look(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """It came after the look, which counted as failed and went to the dead letters."""
    forgotten_job(lab, monkeypatch)

    def fails(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(dispatch, "forgotten", fails)
    lab.tick()
    assert not lab.messages("ShardDeadLetterQueue")
    assert not lab.messages("ShardQueue")


@pytest.mark.parametrize("shards", [1, 2, 200, 255])
def test_each_shard_beyond_has_its_turn_within_hours(shards: int) -> None:
    names = {shard_to_search(START + minute, shards) for minute in MINUTES}
    assert names == {str(number) for number in range(shards, MOST_SHARDS)}
    assert shard_to_search(START, MOST_SHARDS) is None


def test_shards_are_counted_and_not_spelt() -> None:
    """As texts, 10 comes before 9."""
    rows = [ShardRow(str(number), None, None, None) for number in (0, 9, 10)]
    assert shard_names(rows, 2) == [str(number) for number in range(11)]
    assert shard_names([], 3) == ["0", "1", "2"]
    assert shard_names(rows, 12) == [str(number) for number in range(12)]
