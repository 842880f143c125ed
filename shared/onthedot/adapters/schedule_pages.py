"""Pages of the schedules table, one call each; `start` is where the page before has ended."""

from typing import TYPE_CHECKING, Any

from onthedot.adapters.schedule_items import PART

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

PAGE = 100
"""Schedules that are read at once."""


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
