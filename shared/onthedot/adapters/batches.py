"""Reads many items by their keys. An answer may leave some out, and still be a 200 (aws-traps 49)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from onthedot.adapters.aws import call
from onthedot.adapters.items import Item
from onthedot.rules.errors import Throttled
from onthedot.steps.ports import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

BATCH = 100
"""Source: BatchGetItem takes 100 keys (botocore dynamodb model; read 2026-11-29)."""
ROUNDS = 8
"""How often in a row an answer may leave keys out; each that is read begins the count anew."""


def read_all(client: "DynamoDBClient", clock: Clock, table: str, keys: Sequence[Item]) -> list[Item]:
    """Return the items that are there, strongly consistent, in no order.

    Raises: Throttled when DynamoDB goes on leaving keys out.
    """
    left, found = list(keys), list[Item]()
    idle = 0
    while left:
        items, unread = _read(client, clock, table, left[:BATCH])
        found += items
        left = [*unread, *left[BATCH:]]
        idle = 0 if items or not unread else idle + 1
        if idle == ROUNDS:
            raise Throttled("DynamoDB goes on leaving out what it was asked for")
        if unread:
            clock.pause()
    return found


def _read(client: "DynamoDBClient", clock: Clock, table: str, keys: list[Item]) -> tuple[list[Item], list[Item]]:
    asked: Any = {table: {"Keys": keys, "ConsistentRead": True}}
    answer: Any = call(clock, lambda: client.batch_get_item(RequestItems=asked))
    return answer["Responses"].get(table, []), answer.get("UnprocessedKeys", {}).get(table, {}).get("Keys", [])
