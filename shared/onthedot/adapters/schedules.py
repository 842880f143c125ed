"""The schedules in DynamoDB: rows, what is kept of their past, and the jobs of their slots, written together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from onthedot.adapters.aws import call, code_of
from onthedot.adapters.batches import read_all
from onthedot.adapters.expressions import Expression
from onthedot.adapters.items import Item, item_of, job_key
from onthedot.adapters.jobs import CHANGED_ALONE, REFUSED, refusing_item
from onthedot.adapters.pages import items_of
from onthedot.adapters.schedule_items import PART, record_item, record_of, row_key, schedule_item, schedule_of
from onthedot.adapters.schedule_pages import (
    due_page,
    first_due,
    last_page,
    names_of,
    past_page,
    rows_page,
    timed_page,
)
from onthedot.adapters.transactions import transact
from onthedot.adapters.turns import mark
from onthedot.rules.errors import Unavailable
from onthedot.rules.history import Record
from onthedot.rules.instants import MILLISECOND, from_text, to_text
from onthedot.rules.jobs import Job, State
from onthedot.rules.schedules import Schedule, ScheduleState
from onthedot.steps.ports import Clock
from onthedot.steps.ports_of_schedules import Allowed, Marked, Refused, Slots

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@dataclass(frozen=True, slots=True)
class DynamoSchedules:
    """The schedules table, and the jobs table for what is planned."""

    client: "DynamoDBClient"
    clock: Clock
    table: str
    jobs_table: str
    shards: int

    def get(self, name: str) -> Schedule | None:
        """Return the schedule as it is now (strongly consistent)."""
        answer = call(
            self.clock,
            lambda: self.client.get_item(TableName=self.table, Key=row_key(name), ConsistentRead=True),
        )
        item: Any = answer.get("Item")
        return schedule_of(item) if item else None

    def read(self, names: Sequence[str]) -> list[Schedule]:
        """Return many schedules as they are now (strongly consistent), in no order, without those that are gone."""
        items = read_all(self.client, self.clock, self.table, [row_key(name) for name in dict.fromkeys(names)])
        return [schedule_of(item) for item in items]

    def due(self, shard: str, after: datetime, until: datetime) -> Iterator[list[str]]:
        """Return the names of the shard's schedules with `after < next_at <= until`, in order, page by page."""
        low, high = to_text(after + MILLISECOND), to_text(until)
        if low <= high:
            yield from names_of(self.clock, partial(due_page, self.client, self.table, shard, low, high))

    def timed_otherwise(self, shard: str, database: str) -> Iterator[list[str]]:
        """Return the names of the shard's schedules that another time zone database than this has timed, by page."""
        for side in ("<", ">"):
            yield from names_of(self.clock, partial(timed_page, self.client, self.table, shard, side, database))

    def oldest_due(self, shard: str) -> datetime | None:
        """Return the least `next_at` of the shard's schedules; `None` when none has any."""
        answer: Any = call(self.clock, lambda: first_due(self.client, self.table, shard))
        return from_text(answer["Items"][0]["next_at"]["S"]) if answer["Items"] else None

    def page(self, after: str, limit: int) -> tuple[list[tuple[str, Schedule]], str | None]:
        """Return some of all schedules, each with its position, and the position of the last row that was read."""
        name, _, part = after.partition("#")
        start: Any = {"ExclusiveStartKey": {"name": {"S": name}, "part": {"S": part}}} if after else {}
        answer: Any = call(self.clock, partial(rows_page, self.client, self.table, limit, start))
        last = answer.get("LastEvaluatedKey")
        return [(_position(item), schedule_of(item)) for item in answer["Items"]], _position(last) if last else None

    def write(
        self,
        before: Schedule | None,
        after: Schedule | None,
        records: Sequence[Record],
        jobs: Sequence[Job] = (),
        withdrawn: Sequence[Job] = (),
    ) -> Refused | None:
        """Write a schedule, what is kept of its past and new jobs of it, all or nothing; `None` when that is done."""
        row = self._row(before, after)
        puts = [self._job(job, after) for job in jobs if after]
        kept = [{"Put": {"TableName": self.table, "Item": record_item(record)}} for record in records]
        writes = [row, *puts, *kept, *map(self._withdrawal, withdrawn), *self._adoption(before, after)]
        try:
            lost = transact(self.client, self.clock, writes, after.stamp if after else self.clock.token())
        except Unavailable:
            if self._is_written(before, after):
                return None
            raise
        if 0 in lost and not self._is_written(before, after):
            return Refused(changed=True)
        if 0 in lost or not lost:
            return None
        return Refused(changed=False, not_free=tuple(job for n, job in enumerate(jobs, start=1) if n in lost))

    def _is_written(self, before: Schedule | None, after: Schedule | None) -> bool:
        """Tell whether a write, refused or without an answer, was done before: the row has its stamp, or is gone."""
        if after is None:
            return before is None or self.get(before.name) is None
        there = self.get(after.name)
        return there is not None and there.stamp == after.stamp

    def history(self, name: str) -> list[Record]:
        """Return what is kept of a schedule's past (strongly consistent). Order: by kind, then by time."""
        pages, now = items_of(self.clock, partial(past_page, self.client, self.table, name)), self.clock.now()
        records = [record_of(item) for items in pages for item in items if item["part"] != {"S": PART}]
        return [record for record in records if record.kept_until > now]

    def last_version(self, name: str) -> int:
        """Return the number of the last version that is kept of a schedule's past (strongly consistent); 0 for none."""
        answer: Any = call(self.clock, partial(last_page, self.client, self.table, name))
        return max((record_of(item).facts["version"] for item in answer["Items"]), default=0)

    def mark(self, name: str, slots: Slots, allowed: Allowed) -> Marked:
        """Write which slots run and wait, if those that do are allowed to; the stamp stays."""
        return mark(self.client, self.clock, self.table, name, slots, allowed)

    def mark_broken(self, schedule: Schedule, reason: str, stamp: str) -> bool:
        """Write that a schedule cannot be read, and take it off the indexes, unless that is done.

        An index is behind its table: whoever still finds the schedule there shall not tell of it again.
        """
        expression = Expression()
        facts = {"state": ScheduleState.BROKEN.value, "broken": reason, "stamp": stamp}
        sets = ", ".join(f"{expression.name(key)} = {expression.value({'S': text})}" for key, text in facts.items())
        update = f"SET {sets} REMOVE {expression.name('next_at')}, {expression.name('tzdata')}"
        condition = f"{_as_read(expression, schedule)} AND ({_not_marked(expression)})"
        try:
            call(
                self.clock,
                lambda: self.client.update_item(
                    TableName=self.table,
                    Key=row_key(schedule.name),
                    UpdateExpression=update,
                    ConditionExpression=condition,
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                    **expression.arguments(),
                ),
            )
        except ClientError as error:
            if code_of(error) != REFUSED:
                raise
            return refusing_item(error).get("stamp") == {"S": stamp}
        return True

    def _row(self, before: Schedule | None, after: Schedule | None) -> Any:
        expression = Expression()
        if before is None or after is None or not before.readable:
            return self._whole_row(before, after, expression)
        old, new = schedule_item(before, self.shards), schedule_item(after, self.shards)
        update = expression.changes(old, new)
        condition = _as_read(expression, before)
        return {
            "Update": {
                "TableName": self.table,
                "Key": row_key(before.name),
                "UpdateExpression": update,
                "ConditionExpression": condition,
                **expression.arguments(),
            }
        }

    def _whole_row(self, before: Schedule | None, after: Schedule | None, expression: Expression) -> Any:
        """Return the creation or deletion of a row, or the replacement of one that cannot be read."""
        condition = _as_read(expression, before) if before else f"attribute_not_exists({expression.name('name')})"
        facts = {"TableName": self.table, "ConditionExpression": condition, **expression.arguments()}
        if after is None:
            assert before is not None, "there is nothing to write"
            return {"Delete": {"Key": row_key(before.name), **facts}}
        return {"Put": {"Item": schedule_item(after, self.shards), **facts}}

    def _job(self, job: Job, schedule: Schedule) -> Any:
        expression = Expression()
        condition = _free_for(job, schedule, expression)
        item = item_of(job, self.shards)
        facts = {"TableName": self.jobs_table, "ConditionExpression": condition, **expression.arguments()}
        return {"Put": {"Item": item, **facts}}

    def _adoption(self, before: Schedule | None, after: Schedule | None) -> list[Any]:
        """Return the update by which a payload that is named anew does not expire; it must not have expired yet."""
        name = after.payload.stored_as if after else None
        if after is None or name is None or (before is not None and before.payload.stored_as == name):
            return []
        facts = {"TableName": self.jobs_table, "Key": job_key(after.key, name)}
        update, condition = "REMOVE expires_at", "attribute_exists(payload)"
        return [{"Update": {"UpdateExpression": update, "ConditionExpression": condition, **facts}}]

    def _withdrawal(self, job: Job) -> Any:
        expression, item = Expression(), item_of(job, self.shards)
        condition = " AND ".join(expression.is_as(attribute, item) for attribute in CHANGED_ALONE)
        facts = {"TableName": self.jobs_table, "ConditionExpression": condition, **expression.arguments()}
        return {"Delete": {"Key": job_key(*job.key), **facts}}


def _position(key: Item) -> str:
    return f"{key['name']['S']}#{key['part']['S']}"


def _as_read(expression: Expression, schedule: Schedule) -> str:
    """Return the condition that nobody has written the row since; a stamp that is no text counts as none."""
    if schedule.stamp:
        return expression.is_as("stamp", {"stamp": {"S": schedule.stamp}})
    stamp, text, empty = expression.name("stamp"), expression.value({"S": "S"}), expression.value({"S": ""})
    return f"(NOT attribute_type({stamp}, {text}) OR {stamp} = {empty})"


def _not_marked(expression: Expression) -> str:
    """Return the condition that a row is not broken yet, or still on the index of what is due."""
    broken = expression.value({"S": ScheduleState.BROKEN.value})
    return f"attribute_exists({expression.name('next_at')}) OR NOT {expression.name('state')} = {broken}"


def _free_for(job: Job, schedule: Schedule, expression: Expression) -> str:
    """Return the condition that a slot's place is free: absent, of a former generation, or superseded untouched."""
    name, value = expression.name, expression.value
    generation, state = name("generation"), name("state")
    mine = value({"S": schedule.generation})
    condition = (
        f"attribute_not_exists({name('schedule')})"
        f" OR ({generation} <> {mine} AND {state} <> {value({'S': State.RUNNING.value})})"
    )
    if job.slot > to_text(schedule.since):
        condition += (
            f" OR ({generation} = {mine} AND {name('version')} < {value({'N': str(schedule.version)})}"
            f" AND {state} = {value({'S': State.SCHEDULED.value})} AND {name('attempt')} = {value({'N': '0'})}"
            f" AND attribute_not_exists({name('pinned')}) AND attribute_not_exists({name('revived_at')}))"
        )
    return condition
