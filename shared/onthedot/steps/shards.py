"""Shards: which there are, and how far behind each is."""

from datetime import datetime, timedelta

from onthedot.rules.agenda import Entry, shard_to_search
from onthedot.rules.instants import from_text, to_text
from onthedot.steps.ports import Index, ShardRow, World

LAST = "9999"
"""Behind every entry of the agenda."""
NEVER = timedelta(days=1)
"""The age of what has not been yet: old enough for every alarm."""


def shard_names(rows: list[ShardRow], shard_count: int) -> list[str]:
    """Return the shards to look at: those that are set, and all that ever were: a smaller setting orphans none."""
    highest = max((int(row.name) + 1 for row in rows), default=0)
    return [str(number) for number in range(max(shard_count, highest))]


def forgotten(world: World, at: datetime) -> str | None:
    """Return the shard that has its turn to be searched at a tick, if something waits there.

    A deployment of more shards that was rolled back before its first tick has left entries, and no row that tells of
    them: so has one whose rows were lost. They are found within hours: late, if they were due by then, and not lost.
    """
    name = shard_to_search(at, world.shard_count)
    if name is None:
        return None
    waits = world.indexes.page(Index.AGENDA, name, "", LAST, 1) or world.schedules.oldest_due(name)
    return name if waits else None


def watermark_age(world: World, watermark: str | None) -> timedelta:
    """Return how long ago the shard was last drained to its horizon; `NEVER` before its first drain."""
    if not watermark:
        return NEVER
    reached = from_text(watermark.split("#", 1)[0])
    return max(timedelta(0), world.clock.now() + world.timing.look_ahead - reached)


def oldest_overdue(world: World, shard: str) -> timedelta:
    """Return for how long the job that waits longest should have been looked at; nothing when none should have been."""
    now = world.clock.now()
    oldest = world.indexes.page(Index.AGENDA, shard, "", to_text(now), 1)
    return now - Entry.parse(oldest[0]).wake if oldest else timedelta(0)


def oldest_unplanned(world: World, shard: str) -> timedelta:
    """Return how long ago the oldest slot was that should have been planned; nothing when none should have been."""
    now, oldest = world.clock.now(), world.schedules.oldest_due(shard)
    return max(now - oldest, timedelta(0)) if oldest else timedelta(0)
