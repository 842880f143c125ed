"""The shards in DynamoDB: leases and watermarks, each move on condition that the lease is still ours."""

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from onthedot.adapters.attributes import read
from onthedot.adapters.aws import call, code_of
from onthedot.adapters.expressions import Expression
from onthedot.adapters.items import SHARD, Item
from onthedot.adapters.jobs import REFUSED, refusing_item
from onthedot.adapters.pages import items_of
from onthedot.rules.instants import to_text
from onthedot.steps.ports import Clock, Shard, ShardRow

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@dataclass(frozen=True, slots=True)
class DynamoShards:
    """The shards table."""

    client: "DynamoDBClient"
    clock: Clock
    table: str

    def all(self) -> list[ShardRow]:
        """Return every shard that ever had a dispatcher, as it is now (strongly consistent)."""
        pages = items_of(self.clock, partial(_page, self.client, self.table))
        rows = [read(SHARD, item).get for items in pages for item in items]
        return [ShardRow(str(row("shard")), row("watermark"), row("ticked_at"), row("swept_at")) for row in rows]

    def acquire(
        self, name: str, lease: str, former: str | None, ticked_at: datetime, now: datetime, until: datetime
    ) -> Shard | None:
        """Take the shard's lease if it is free, over, or the `former` one of the same work; `None` when it is not.

        A lease that ends later than two of ours would was taken by a clock that is ahead; it is not waited for.
        """
        expression = Expression()
        held, ends = expression.name("lease"), expression.name("lease_until")
        earliest, latest = (expression.value({"S": to_text(at)}) for at in (now, until + (until - now)))
        condition = f"attribute_not_exists({held}) OR {ends} < {earliest} OR {ends} > {latest}"
        if former is not None:
            condition += f" OR {held} = {expression.value({'S': former})}"
        facts = {"lease": lease, "lease_until": to_text(until), "ticked_at": to_text(ticked_at)}
        sets = ", ".join(f"{expression.name(key)} = {expression.value({'S': text})}" for key, text in facts.items())
        return self._update(name, lease, f"SET {sets}", condition, expression)

    def move(self, shard: Shard, watermark: str) -> bool:
        """Move the watermark, if the lease is still ours."""
        return self._if_ours(shard, "watermark", watermark)

    def claim_sweep(self, shard: Shard, now: datetime) -> bool:
        """Note that the shard is swept now, if the lease is still ours."""
        return self._if_ours(shard, "swept_at", to_text(now))

    def release(self, shard: Shard) -> None:
        """Give the lease back, if it is still ours."""
        expression = Expression()
        ours = expression.is_as("lease", {"lease": {"S": shard.lease}})
        removed = f"REMOVE {expression.name('lease')}, {expression.name('lease_until')}"
        self._update(shard.name, shard.lease, removed, ours, expression)

    def _if_ours(self, shard: Shard, attribute: str, text: str) -> bool:
        expression = Expression()
        ours = expression.is_as("lease", {"lease": {"S": shard.lease}})
        update = f"SET {expression.name(attribute)} = {expression.value({'S': text})}"
        return self._update(shard.name, shard.lease, update, ours, expression) is not None

    def _update(self, name: str, lease: str, update: str, condition: str, expression: Expression) -> Shard | None:
        try:
            answer: Any = call(
                self.clock,
                lambda: self.client.update_item(
                    TableName=self.table,
                    Key={"shard": {"S": name}},
                    UpdateExpression=update,
                    ConditionExpression=condition,
                    ReturnValues="ALL_NEW",
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                    **expression.arguments(),
                ),
            )
        except ClientError as error:
            if code_of(error) != REFUSED:
                raise
            return _mine(error, name, lease)
        return _shard(answer.get("Attributes", {}), name, lease)


def _mine(error: ClientError, name: str, lease: str) -> Shard | None:
    """Return the shard when the refusal is the SDK meeting its own earlier write."""
    there = refusing_item(error)
    return _shard(there, name, lease) if there.get("lease") == {"S": lease} else None


def _shard(item: Item, name: str, lease: str) -> Shard:
    row = read(SHARD, item)
    return Shard(name, lease, row.get("watermark") or "", row.get("swept_at"))


def _page(client: "DynamoDBClient", table: str, start: Any) -> Any:
    return client.scan(TableName=table, ConsistentRead=True, **start)
