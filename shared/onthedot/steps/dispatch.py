"""Dispatch: look at one shard under its lease: drain, sweep, then plan with the time left: no live job waits."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

from onthedot.messages import ShardMessage
from onthedot.steps.drain import drain
from onthedot.steps.plan import plan_shard
from onthedot.steps.ports import Shard, World
from onthedot.steps.sweep import sweep

LEASE = timedelta(seconds=55)
"""Longer than a dispatcher lives, shorter than two ticks."""
MAX_HOPS = 50
"""How often a dispatcher asks for another at once; the next tick goes on from there (aws-traps 8)."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What a look at a shard found; `again` asks for another look at once."""

    shard: Shard
    again: ShardMessage | None


def dispatch(world: World, message: ShardMessage, has_time: Callable[[], bool]) -> Looked | None:
    """Hand over what wakes soon and what is long overdue, and plan what is due; `None` when another has the shard.

    The lease is kept for the next look when there is work left, else given back for the next tick.
    """
    now, lease = world.clock.now(), world.clock.token()
    shard = world.shards.acquire(message.shard, lease, message.lease, message.ticked_at, now, now + LEASE)
    if shard is None:
        return None
    drained = drain(world, shard, has_time)
    swept = sweep(world, shard, has_time, message.swept)
    planned = plan_shard(world, shard, has_time)
    # A drain that leaves no time to plan is progress, too: else planning would wait for a tick that has none to drain.
    more = (drained.left and drained.sent) or swept or (planned.left and (planned.slots or drained.sent))
    if more and message.hops < MAX_HOPS:
        return Looked(shard, replace(message, hops=message.hops + 1, lease=lease, swept=swept))
    world.shards.release(shard)
    return Looked(shard, None)
