"""The indexes of the jobs table. An index is never read strongly consistent: AWS refuses that (aws-traps 46)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onthedot.adapters.batches import read_all
from onthedot.adapters.expressions import Expression
from onthedot.adapters.items import Item, job_key, job_of
from onthedot.adapters.pages import first_of, items_of
from onthedot.rules.jobs import Job
from onthedot.steps.ports import Clock, Index

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

KEYS = {
    Index.AGENDA: ("shard", "agenda"),
    Index.GROUPS: ("group_key", "grouped"),
    Index.DEAD: ("shard", "dead"),
}
"""The partition and the order of each index."""
PASSED_OVER = 5_000
"""Entries of other handlers in one call: of some 150 bytes each, they stay under the megabyte that one call reads."""


@dataclass(frozen=True, slots=True)
class DynamoIndexes:
    """Finds jobs by shard, group and schedule."""

    client: "DynamoDBClient"
    clock: Clock
    table: str

    def page(
        self, index: Index, partition: str, after: str, until: str, limit: int, handler: str | None = None
    ) -> list[str]:
        """Return the entries with `after < entry <= until`, in order; fewer than `limit` mean it has no more.

        Of another handler than the one asked for, DynamoDB passes over some thousands in one call.
        """
        if after >= until:
            return []
        named, entry = KEYS[index]
        expression = Expression()
        keys = expression.of_partition(named, partition) + expression.between(entry, _just_after(after), until)
        shown = {"IndexName": index.value, "ProjectionExpression": expression.name(entry)}
        filtered = {} if handler is None else _of_handler(expression, handler)
        return [item[entry]["S"] for item in self._query(keys, expression, limit, {**shown, **filtered})]

    def of_schedule(self, schedule: str, after: str, limit: int) -> list[Job]:
        """Return the jobs of a schedule whose slot is greater than `after`, in order, at most `limit`; all there are.

        They lie in the table itself, and are read strongly consistent: what is not seen would be lost to the ledger.
        """
        expression = Expression()
        later = f" AND {expression.name('slot')} > {expression.value({'S': _just_after(after)})}"
        keys = expression.of_partition("schedule", schedule) + later
        items = self._query(keys, expression, limit, {"ConsistentRead": True})
        return [job_of(item) for item in items if "state" in item]

    def newest(self, schedule: str, start: str, before: str, limit: int) -> list[Job]:
        """Return the jobs of a schedule with `start <= slot < before`, newest first, at most `limit`: all there are."""
        if start >= before:
            return []
        expression = Expression()
        keys = expression.of_partition("schedule", schedule) + expression.between("slot", start, before)
        asked = limit + 1  # `before` itself may be among them
        items = self._query(keys, expression, asked, {"ConsistentRead": True, "ScanIndexForward": False})
        return [job_of(item) for item in items if "state" in item and item["slot"]["S"] != before][:limit]

    def read(self, keys: Sequence[tuple[str, str]]) -> list[Job]:
        """Return the jobs with these keys as they are now, in their order, without those that are gone."""
        items = read_all(self.client, self.clock, self.table, [job_key(*key) for key in keys])
        found = {job.key: job for job in map(job_of, items)}
        return [found[key] for key in keys if key in found]

    def _query(self, keys: str, expression: Expression, limit: int, asked: dict[str, Any]) -> list[Item]:
        """Return what lies at these keys, in order, at most `limit`."""
        facts = {"Limit": limit, **asked, **expression.arguments()}

        def page(start: Any) -> Any:
            return self.client.query(TableName=self.table, KeyConditionExpression=keys, **facts, **start)

        return first_of(items_of(self.clock, page), limit)


def _of_handler(expression: Expression, handler: str) -> dict[str, Any]:
    condition = f"{expression.name('handler')} = {expression.value({'S': handler})}"
    return {"FilterExpression": condition, "Limit": PASSED_OVER}


def _just_after(entry: str) -> str:
    """Return the least bound above an entry: a space sorts before every character that an entry can go on with."""
    return f"{entry} "
