"""Pages of the schedules table, one call each; `start` is where the page before has ended."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from onthedot.adapters.pages import items_of
from onthedot.adapters.schedule_items import PART
from onthedot.rules.history import VERSION
from onthedot.steps.ports import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

PAGE = 100
"""Schedules that are read at once."""
LAST = 5


def names_of(clock: Clock, page: Callable[[Any], Any]) -> Iterator[list[str]]:
    """Return the names of the schedules on all pages of an index."""
    for items in items_of(clock, page):
        yield [item["name"]["S"] for item in items if item["part"] == {"S": PART}]


def due_page(client: "DynamoDBClient", table: str, shard: str, low: str, high: str, start: Any) -> Any:
    """Return the keys of schedules of a shard by `next_at`. An index is never read strongly consistent."""
    return client.query(
        TableName=table,
        IndexName="due",
        Limit=PAGE,
        KeyConditionExpression="#shard = :shard AND next_at BETWEEN :low AND :high",
        ExpressionAttributeNames={"#shard": "shard"},
        ExpressionAttributeValues={":shard": {"S": shard}, ":low": {"S": low}, ":high": {"S": high}},
        **start,
    )


def timed_page(client: "DynamoDBClient", table: str, shard: str, side: str, database: str, start: Any) -> Any:
    """Return the keys of schedules of a shard that a database before or after this has timed: `side` is `<` or `>`."""
    return client.query(
        TableName=table,
        IndexName="timed",
        Limit=PAGE,
        KeyConditionExpression=f"#shard = :shard AND tzdata {side} :database",
        ExpressionAttributeNames={"#shard": "shard"},
        ExpressionAttributeValues={":shard": {"S": shard}, ":database": {"S": database}},
        **start,
    )


def first_due(client: "DynamoDBClient", table: str, shard: str) -> Any:
    """Return the keys of the schedule of a shard that has the least `next_at`."""
    return client.query(
        TableName=table,
        IndexName="due",
        Limit=1,
        KeyConditionExpression="#shard = :shard",
        ExpressionAttributeNames={"#shard": "shard"},
        ExpressionAttributeValues={":shard": {"S": shard}},
    )


def past_page(client: "DynamoDBClient", table: str, name: str, start: Any) -> Any:
    """Return the row of a schedule and what is kept of its past."""
    return client.query(
        TableName=table,
        ConsistentRead=True,
        KeyConditionExpression="#name = :name",
        ExpressionAttributeNames={"#name": "name"},
        ExpressionAttributeValues={":name": {"S": name}},
        **start,
    )


def last_page(client: "DynamoDBClient", table: str, name: str) -> Any:
    """Return the last of the versions that are kept of a schedule's past; several, since clocks differ."""
    return client.query(
        TableName=table,
        ConsistentRead=True,
        Limit=LAST,
        ScanIndexForward=False,
        KeyConditionExpression="#name = :name AND begins_with(part, :kind)",
        ExpressionAttributeNames={"#name": "name"},
        ExpressionAttributeValues={":name": {"S": name}, ":kind": {"S": f"{VERSION}#"}},
    )


def rows_page(client: "DynamoDBClient", table: str, limit: int, start: Any) -> Any:
    """Return the rows of schedules among the next `limit` items, without what is kept of the past."""
    return client.scan(
        TableName=table,
        ConsistentRead=True,
        Limit=limit,
        FilterExpression="part = :part",
        ExpressionAttributeValues={":part": {"S": PART}},
        **start,
    )
