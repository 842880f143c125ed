"""Health: whether jobs are handed over in time, from what the dispatchers left behind."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from onthedot.rules.agenda import Entry
from onthedot.rules.instants import from_text, to_text
from onthedot.steps.dispatch import shard_names
from onthedot.steps.ports import Depth, Index, ShardRow, World

OLDEST = timedelta(seconds=180)
"""Three ticks: the timer fires anywhere in its minute, and one may be lost."""


@dataclass(frozen=True, slots=True)
class ShardAges:
    """How far behind a shard is; `None` before its first tick. `oldest_overdue` is 0 when nothing is."""

    name: str
    watermark: timedelta | None
    oldest_overdue: timedelta


@dataclass(frozen=True, slots=True)
class Health:
    """What is known of the deployment now."""

    tick: timedelta | None
    shards: list[ShardAges]
    queues: dict[str, Depth]

    @property
    def ok(self) -> bool:
        """Whether the last tick and every watermark are recent."""
        ages = [self.tick, *(shard.watermark for shard in self.shards)]
        return all(age is not None and age <= OLDEST for age in ages)


def health(world: World) -> Health:
    """Return how old the last tick and the watermarks are, what is overdue, and how full the queues are."""
    now = world.clock.now()
    rows = {row.name: row for row in world.shards.all()}
    ticks = [row.ticked_at for row in rows.values() if row.ticked_at]
    names = shard_names(list(rows.values()), world.shard_count)
    shards = world.side_by_side(lambda name: _ages(world, name, rows.get(name), now), names)
    return Health(_age(max(ticks), now) if ticks else None, shards, world.depths())


def _ages(world: World, name: str, row: ShardRow | None, now: datetime) -> ShardAges:
    overdue = world.indexes.page(Index.AGENDA, name, "", to_text(now), 1)
    oldest = _age(Entry.parse(overdue[0]).wake, now) if overdue else timedelta(0)
    if row is None or not row.watermark:
        return ShardAges(name, None, oldest)
    read_until = from_text(row.watermark.partition("#")[0])
    return ShardAges(name, _age(read_until - world.timing.look_ahead, now), oldest)


def _age(instant: datetime, now: datetime) -> timedelta:
    return max(now - instant, timedelta(0))
