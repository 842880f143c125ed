"""The payloads in items of their own, beside their jobs in the same table."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pynamodb.exceptions import DoesNotExist

from onthedot.adapters.attributes import Epoch
from onthedot.adapters.aws import call
from onthedot.adapters.batches import read_all
from onthedot.adapters.items import JobItem, item_of, job_key
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
            "expires_at": {"N": Epoch().serialize(kept_until)},
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
                ExpressionAttributeValues={":at": {"N": Epoch().serialize(at)}},
            ),
        )

    def text(self, job: Job) -> str:
        """Return the job's payload as JSON text, wherever it is.

        Raises: LookupError when the item that held it is gone.
        """
        if job.payload.text is not None:
            return job.payload.text
        name = job.payload.stored_as or ""
        try:
            model = call(self.clock, lambda: JobItem.get(job.schedule, name, consistent_read=True))
        except DoesNotExist:
            raise LookupError(f"the payload of {job.id} is gone") from None
        return str(model.payload)

    def texts(self, placed: Sequence[Placed]) -> list[str | None]:
        """Return the texts of many payloads, in their order; `None` where the item that held one is gone."""
        keys = {(schedule, payload.stored_as) for schedule, payload in placed if payload.stored_as}
        items = read_all(self.client, self.clock, self.table, [job_key(*key) for key in sorted(keys)])
        models = [JobItem.from_raw_data(item) for item in items]
        found = {(model.schedule, model.slot): model.payload for model in models}
        return [
            found.get((schedule, payload.stored_as)) if payload.stored_as else payload.text
            for schedule, payload in placed
        ]
