"""Health: whether slots are planned and jobs handed over in time, from what the dispatchers left behind."""

from dataclasses import dataclass
from datetime import timedelta

from onthedot.steps.ports import Depth, ShardRow, World
from onthedot.steps.shards import oldest_overdue, oldest_unplanned, shard_names, watermark_age

OLDEST = timedelta(seconds=180)
"""Three ticks: the timer fires anywhere in its minute, and one may be lost."""

LONGEST_OVERDUE = timedelta(minutes=30)
"""A sweep has not helped either: the workers do not work, or not fast enough."""


@dataclass(frozen=True, slots=True)
class ShardAges:
    """How far behind a shard is; `None` before its first tick. What is oldest is 0 when there is nothing."""

    name: str
    watermark: timedelta | None
    oldest_overdue: timedelta
    oldest_unplanned: timedelta


@dataclass(frozen=True, slots=True)
class Health:
    """What is known of the deployment now."""

    tick: timedelta | None
    shards: list[ShardAges]
    queues: dict[str, Depth]

    @property
    def ok(self) -> bool:
        """Whether the last tick, every watermark and all plans are recent, and no job waits for long."""
        ages = [self.tick, *(age for shard in self.shards for age in (shard.watermark, shard.oldest_unplanned))]
        overdue = max((shard.oldest_overdue for shard in self.shards), default=timedelta(0))
        return all(age is not None and age <= OLDEST for age in ages) and overdue <= LONGEST_OVERDUE


def health(world: World) -> Health:
    """Return how old the last tick and the watermarks are, what is overdue, and how full the queues are."""
    now, rows = world.clock.now(), {row.name: row for row in world.shards.all()}
    ticks = [row.ticked_at for row in rows.values() if row.ticked_at]
    names = shard_names(list(rows.values()), world.shard_count)
    shards = world.side_by_side(lambda name: _ages(world, name, rows.get(name)), names)
    return Health(max(now - max(ticks), timedelta(0)) if ticks else None, shards, world.depths())


def _ages(world: World, name: str, row: ShardRow | None) -> ShardAges:
    watermark = watermark_age(world, row.watermark) if row and row.watermark else None
    return ShardAges(name, watermark, oldest_overdue(world, name), oldest_unplanned(world, name))
