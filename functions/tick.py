"""Each minute: one message for each shard."""

from typing import Any

from onthedot.messages import ShardMessage
from onthedot.steps.dispatch import shard_names
from onthedot.telemetry import gauge, invocation
from onthedot.wiring import shard_queue, world


@invocation
def handler(event: dict[str, Any], context: Any) -> None:  # noqa: ARG001 - Lambda passes both
    """Ask a dispatcher to look at each shard."""
    now, rows = world().clock.now(), world().shards.all()
    last = max((row.ticked_at for row in rows if row.ticked_at), default=now)
    gauge("TickAge", (now - last).total_seconds())
    shard_queue().ask(ShardMessage(name, now) for name in shard_names(rows, world().shard_count))
