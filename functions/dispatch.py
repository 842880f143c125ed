"""One message, one shard: hand over what wakes soon and what is long overdue."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from onthedot.messages import ShardMessage, read_shard
from onthedot.steps.dispatch import dispatch
from onthedot.steps.shards import forgotten, oldest_overdue
from onthedot.telemetry import gauge, invocation, logger
from onthedot.wiring import settings, shard_queue, world

STOP_MILLISECONDS = 10_000
"""What is left of the function's time when no further page is begun."""
SEARCHER = "0"
"""The shard whose message of a tick also has another searched, that nobody may know of; every deployment has it."""


@invocation
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Look at the shards that the messages name; report those whose look failed, so that they come again."""
    return {"batchItemFailures": [failure for record in event["Records"] for failure in _look(record, context)]}


def _look(record: dict[str, Any], context: Any) -> list[dict[str, str]]:
    try:
        message = read_shard(record["body"])
        if message.shard == SEARCHER and not message.hops:
            _search(message.ticked_at)
        looked = dispatch(world(), message, _has_time(context))
        if looked is None:
            return []
        gauge("OldestOverdue", oldest_overdue(world(), looked.shard.name).total_seconds())
        if looked.again is not None:
            shard_queue().ask([looked.again])
    except Exception:
        logger.exception("shard_failed")
        return [{"itemIdentifier": record["messageId"]}]
    return []


def _search(ticked_at: datetime) -> None:
    """Have a forgotten shard looked at. Whoever holds this one meanwhile, and if it fails, this look goes on."""
    try:
        if (name := forgotten(world(), ticked_at)) is not None:
            shard_queue().ask([ShardMessage(name, ticked_at)])
    except Exception:
        logger.exception("search_failed")


def _has_time(context: Any) -> Callable[[], bool]:
    """Return what tells whether this look may go on: its function can, and no other shard must have its turn."""
    here, now = settings(), world().clock.now
    ends_at = now() + here.timing.look_time(here.shards, here.dispatchers)
    return lambda: context.get_remaining_time_in_millis() > STOP_MILLISECONDS and now() < ends_at
