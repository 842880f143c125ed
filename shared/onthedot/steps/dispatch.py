"""Dispatch: look at one shard under its lease: drain first, then sweep, so that what is live never waits."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

from onthedot.messages import ShardMessage
from onthedot.rules.agenda import Entry
from onthedot.rules.instants import from_text, to_text
from onthedot.steps.drain import drain
from onthedot.steps.ports import Index, Shard, ShardRow, World
from onthedot.steps.sweep import sweep

LEASE = timedelta(seconds=55)
"""Longer than a dispatcher lives, shorter than two ticks."""
MAX_HOPS = 50
"""How often a dispatcher asks for another at once; the next tick goes on from there (aws-traps 8)."""

NEVER = timedelta(days=1)
"""The age of what has not been yet: old enough for every alarm."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What a look at a shard found; `again` asks for another look at once."""

    shard: Shard
    again: ShardMessage | None


def dispatch(world: World, message: ShardMessage, has_time: Callable[[], bool]) -> Looked | None:
    """Hand over what wakes soon and what is long overdue; `None` when another has the shard.

    The lease is kept for the next look when there is work left, else given back for the next tick.
    """
    now, lease = world.clock.now(), world.clock.token()
    shard = world.shards.acquire(message.shard, lease, message.lease, message.ticked_at, now, now + LEASE)
    if shard is None:
        return None
    drained = drain(world, shard, has_time)
    swept = sweep(world, shard, has_time, message.swept)
    if ((drained.left and drained.sent) or swept) and message.hops < MAX_HOPS:
        return Looked(shard, replace(message, hops=message.hops + 1, lease=lease, swept=swept))
    world.shards.release(shard)
    return Looked(shard, None)


def shard_names(rows: list[ShardRow], shard_count: int) -> list[str]:
    """Return the shards to look at: those that are set, and all that ever were: a smaller setting orphans none."""
    highest = max((int(row.name) + 1 for row in rows), default=0)
    return [str(number) for number in range(max(shard_count, highest))]


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
