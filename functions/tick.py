"""Each minute: one message for each shard.

It tells how far the hindmost watermark is behind, for a shard that no dispatcher gets to cannot tell it itself.
"""

from datetime import timedelta
from typing import Any

from onthedot.messages import ShardMessage
from onthedot.steps.shards import shard_names, watermark_age
from onthedot.telemetry import gauge, invocation
from onthedot.wiring import shard_queue, world


@invocation
def handler(event: dict[str, Any], context: Any) -> None:  # noqa: ARG001 - Lambda passes both
    """Ask a dispatcher to look at each shard."""
    now, rows = world().clock.now(), world().shards.all()
    last = max((row.ticked_at for row in rows if row.ticked_at), default=now)
    ages = [watermark_age(world(), row.watermark) for row in rows]
    gauge("TickAge", (now - last).total_seconds())
    gauge("WatermarkAge", max(ages, default=timedelta(0)).total_seconds())
    shard_queue().ask(ShardMessage(name, now) for name in shard_names(rows, world().shard_count))
