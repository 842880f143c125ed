"""The payloads in items of their own, beside their jobs in the same table."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from onthedot.adapters.attributes import epoch_text
from onthedot.adapters.aws import call
from onthedot.adapters.batches import read_all
from onthedot.adapters.items import item_of, job_key
from onthedot.adapters.sizes import fits_one_unit
from onthedot.rules.jobs import Job
from onthedot.steps.ports import Clock, Placed

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@dataclass(frozen=True, slots=True)
class DynamoPayloads:
    """The payload items of the jobs table."""

    client: "DynamoDBClient"
    clock: Clock
    table: str
    shards: int

    def fits(self, job: Job) -> bool:
        """Tell whether the job's item, at its largest, costs one write unit with its payload inside."""
        return fits_one_unit(item_of(job, self.shards))

    def store(self, schedule: str, name: str, text: str, kept_until: datetime) -> None:
        """Write a payload next to its jobs, to expire when none can need it any more."""
        item: dict[str, Any] = {
            **job_key(schedule, name),
            "payload": {"S": text},
            "expires_at": {"N": epoch_text(kept_until)},
        }
        call(self.clock, lambda: self.client.put_item(TableName=self.table, Item=item))

    def expire(self, schedule: str, name: str, at: datetime) -> None:
        """Let a payload that no new job will need expire."""
        call(
            self.clock,
            lambda: self.client.update_item(
                TableName=self.table,
                Key=job_key(schedule, name),
                UpdateExpression="SET expires_at = :at",
                ExpressionAttributeValues={":at": {"N": epoch_text(at)}},
            ),
        )

    def text(self, job: Job) -> str:
        """Return the job's payload as JSON text, wherever it is.

        Raises: LookupError when the item that held it is gone.
        """
        if job.payload.text is not None:
            return job.payload.text
        key = job_key(job.schedule, job.payload.stored_as or "")
        answer: Any = call(self.clock, lambda: self.client.get_item(TableName=self.table, Key=key, ConsistentRead=True))
        if "Item" not in answer:
            raise LookupError(f"the payload of {job.id} is gone")
        return str(answer["Item"]["payload"]["S"])

    def texts(self, placed: Sequence[Placed]) -> list[str | None]:
        """Return the texts of many payloads, in their order; `None` where the item that held one is gone."""
        keys = {(schedule, payload.stored_as) for schedule, payload in placed if payload.stored_as}
        items = read_all(self.client, self.clock, self.table, [job_key(*key) for key in sorted(keys)])
        found = {(item["schedule"]["S"], item["slot"]["S"]): item["payload"]["S"] for item in items}
        return [
            found.get((schedule, payload.stored_as)) if payload.stored_as else payload.text
            for schedule, payload in placed
        ]
