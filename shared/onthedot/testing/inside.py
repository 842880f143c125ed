"""What moto's own DynamoDB and SQS hold, looked at without a call that a test would count."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from moto.dynamodb.models import dynamodb_backends
from moto.sqs.models import sqs_backends

from onthedot.testing.template import ACCOUNT, REGION


def account() -> tuple[Any, Any]:
    """Return DynamoDB and SQS as the lab's account has them."""
    return dynamodb_backends[ACCOUNT][REGION], sqs_backends[ACCOUNT][REGION]


def messages(queue: str) -> list[Any]:
    """Return all that a queue holds, visible or not."""
    return list(account()[1].queues[queue]._messages)


def seen_at(message: Any) -> datetime:
    """Return when a message is seen, or seen again: moto shows it when its delay ends, but after it was hidden."""
    at = max(message.delayed_until or 0, (message.visible_at or 0) + 1)
    return datetime.fromtimestamp(at / 1000, UTC)


def put_off(queue: str, now: datetime, rest: Callable[[str], timedelta]) -> None:
    """Show a message later by what is left of its rest, as `rest` says of its text."""
    for message in messages(queue):
        if seen_at(message) <= now and (left := rest(message.body)):
            message.delayed_until = (now + left).timestamp() * 1000


def expire(now: datetime) -> None:
    """Delete what is older than its queue's retention; moto only stops to deliver it, and all behind it."""
    for queue in account()[1].queues.values():
        oldest = (now.timestamp() - queue.message_retention_period) * 1000
        queue._messages = [message for message in queue._messages if (message.sent_timestamp or 0) >= oldest]


def drop(queue: str, unwanted: Callable[[str], bool]) -> None:
    """Delete the messages of a queue whose text nobody wants."""
    found = account()[1].queues[queue]
    found._messages = [message for message in found._messages if not unwanted(message.body)]


def pairs(table: str, name: str) -> list[tuple[str, str]]:
    """Return the shard, and an attribute, of every item of a table that has it."""
    items = [row.attrs for row in account()[0].tables[table].all_items()]
    return [(item["shard"].value, item[name].value) for item in items if name in item]
