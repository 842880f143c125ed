"""The indexes of the jobs table. An index is never read strongly consistent: AWS refuses that (aws-traps 46)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pynamodb.attributes import UnicodeAttribute

from onthedot.adapters.aws import call
from onthedot.adapters.batches import read_all
from onthedot.adapters.items import JobItem, job_key, job_of, job_of_model
from onthedot.rules.jobs import Job
from onthedot.steps.ports import Clock, Index

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

QUERIED: dict[Index, tuple[Any, UnicodeAttribute, str]] = {
    Index.AGENDA: (JobItem.by_agenda, JobItem.agenda, "agenda"),
    Index.GROUPS: (JobItem.by_group, JobItem.grouped, "grouped"),
    Index.DEAD: (JobItem.by_death, JobItem.dead, "dead"),
}


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
        queried, attribute, name = QUERIED[index]
        bounds = attribute.between(_just_after(after), until)
        asked: Any = {"limit": limit}
        if handler is not None:
            asked |= {"filter_condition": JobItem.handler == handler, "page_size": PASSED_OVER}
        models = call(self.clock, lambda: list(queried.query(partition, bounds, **asked)))
        return [getattr(model, name) for model in models]

    def of_schedule(self, schedule: str, after: str, limit: int) -> list[Job]:
        """Return the jobs of a schedule whose slot is greater than `after`, in order, at most `limit`; all there are.

        They lie in the table itself, and are read strongly consistent: what is not seen would be lost to the ledger.
        """
        later = JobItem.slot > _just_after(after)
        models = call(self.clock, lambda: list(JobItem.query(schedule, later, limit=limit, consistent_read=True)))
        return [job_of_model(model) for model in models if model.state is not None]

    def newest(self, schedule: str, start: str, before: str, limit: int) -> list[Job]:
        """Return the jobs of a schedule with `start <= slot < before`, newest first, at most `limit`: all there are."""
        if start >= before:
            return []
        bounds = JobItem.slot.between(start, before)
        asked = limit + 1  # `before` itself may be among them
        models = call(
            self.clock,
            lambda: list(JobItem.query(schedule, bounds, consistent_read=True, limit=asked, scan_index_forward=False)),
        )
        jobs = [job_of_model(model) for model in models if model.state is not None and model.slot != before]
        return jobs[:limit]

    def read(self, keys: Sequence[tuple[str, str]]) -> list[Job]:
        """Return the jobs with these keys as they are now, in their order, without those that are gone."""
        items = read_all(self.client, self.clock, self.table, [job_key(*key) for key in keys])
        found = {job.key: job for job in map(job_of, items)}
        return [found[key] for key in keys if key in found]


def _just_after(entry: str) -> str:
    """Return the least bound above an entry: a space sorts before every character that an entry can go on with."""
    return f"{entry} "
