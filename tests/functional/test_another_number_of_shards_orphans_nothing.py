"""Another number of shards orphans nothing: what was written to a shard is looked for there."""

import pytest
from tests.support.handlers import ran
from tests.support.jobs import create
from tests.support.lab import Lab, forget

from onthedot.steps.ports import ShardRow
from onthedot.steps.shards import shard_names

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


def test_shards_are_counted_and_not_spelt() -> None:
    """As texts, 10 comes before 9."""
    rows = [ShardRow(str(number), None, None, None) for number in (0, 9, 10)]
    assert shard_names(rows, 2) == [str(number) for number in range(11)]
    assert shard_names([], 3) == ["0", "1", "2"]
    assert shard_names(rows, 12) == [str(number) for number in range(12)]
