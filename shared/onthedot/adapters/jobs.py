"""The jobs in DynamoDB: five calls, and every condition that the protocol leans on.

A refused write returns the item that refused it (`ReturnValuesOnConditionCheckFailure`). A refusal is no proof of a
lost race: the SDK may have repeated a write whose answer was lost, and met the result. What is there is therefore
compared with what was to be written.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from onthedot.adapters.attributes import epoch_text, seconds_text
from onthedot.adapters.aws import call, code_of
from onthedot.adapters.expressions import Expression
from onthedot.adapters.items import Item, item_of, job_key, job_of
from onthedot.rules.agenda import Entry
from onthedot.rules.instants import to_text
from onthedot.rules.jobs import Job, State
from onthedot.steps.ports import Clock, Written

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

REFUSED = "ConditionalCheckFailedException"

CHANGED_ALONE = ("state", "owner", "agenda", "stop", "lease_until", "payload_item")
"""What a change finds as it left it. The wish to stop is among them: a finish that has not seen it would try again. So
is the lease: who found it over would else take the job from an owner whose heartbeat has just drawn it out. So is the
payload's item, since a move may keep the wake: of two who replace the payload at once, one would else write its text
beside the other's item.
"""


@dataclass(frozen=True, slots=True)
class DynamoJobs:
    """The jobs table."""

    client: "DynamoDBClient"
    clock: Clock
    table: str
    shards: int
    margin: timedelta

    def add(self, job: Job, now: datetime) -> Written:
        """Write a new job, where there is none or only one that has expired."""
        item, expression = item_of(job, self.shards), Expression()
        condition = (
            f"attribute_not_exists({expression.name('schedule')})"
            f" OR {expression.name('expires_at')} <= {expression.value(_number(now))}"
        )
        there = self._write(
            lambda: self.client.put_item(
                TableName=self.table,
                Item=item,
                ConditionExpression=condition,
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
                **expression.arguments(),
            )
        )
        return Written(True, job) if there is None or there == item else Written(False, job_of(there))

    def get(self, schedule: str, slot: str) -> Job | None:
        """Return the job as it is now (strongly consistent)."""
        key = job_key(schedule, slot)
        answer: Any = call(self.clock, lambda: self.client.get_item(TableName=self.table, Key=key, ConsistentRead=True))
        job = _job(answer.get("Item"))
        return None if job is None or job.has_expired(self.clock.now()) else job

    def start(self, entry: Entry, owner: str, now: datetime, timeout: timedelta) -> Written:
        """Start a scheduled job whose wake is the entry's and whose time has come, for one attempt of `owner`."""
        expression = Expression()
        name, value, at = expression.name, expression.value, _text(to_text(now))
        own_timeout = f"if_not_exists({name('timeout')}, {value({'N': seconds_text(timeout)})})"
        update = (
            f"SET {name('state')} = {value(_text(State.RUNNING))}, {name('owner')} = {value(_text(owner))},"
            f" {name('attempt')} = {name('attempt')} + {value({'N': '1'})}, {name('started_at')} = {value(at)},"
            f" {name('lease_until')} = {value(_number(now + self.margin))} + {own_timeout}"
        )
        condition = (
            f"{name('state')} = {value(_text(State.SCHEDULED))} AND {name('agenda')} = {value(_text(str(entry)))}"
            f" AND {name('run_at')} <= {value(at)}"
            f" AND (attribute_not_exists({name('start_before')}) OR {name('start_before')} >= {value(at)})"
        )
        started: list[Item] = []
        there = self._write(
            lambda: started.append(self._update(entry.schedule, entry.slot, update, condition, expression, "ALL_NEW"))
        )
        return Written(bool(started), _job(started[0] if started else there))

    def change(self, before: Job, after: Job) -> Written:
        """Write what differs, if the job still has the `CHANGED_ALONE` of `before`."""
        old, new, expression = item_of(before, self.shards), item_of(after, self.shards), Expression()
        update = expression.changes(old, new)
        condition = " AND ".join(expression.is_as(attribute, old) for attribute in CHANGED_ALONE)
        there = self._write(lambda: self._update(*before.key, update, condition, expression, "NONE"))
        if there is None or _is_written(there, old, new):
            return Written(True, after)
        return Written(False, _job(there))

    def remove(self, job: Job) -> bool:
        """Delete the job, if it still has this state, owner and wake; return whether it is gone."""
        expression = Expression()
        item = item_of(job, self.shards)
        condition = " AND ".join(expression.is_as(attribute, item) for attribute in CHANGED_ALONE)
        there = self._write(
            lambda: self.client.delete_item(
                TableName=self.table,
                Key=job_key(*job.key),
                ConditionExpression=condition,
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
                **expression.arguments(),
            )
        )
        return not there

    def _update(
        self, schedule: str, slot: str, update: str, condition: str, expression: Expression, returned: Any
    ) -> Item:
        answer: Any = self.client.update_item(
            TableName=self.table,
            Key=job_key(schedule, slot),
            UpdateExpression=update,
            ConditionExpression=condition,
            ReturnValues=returned,
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
            **expression.arguments(),
        )
        found: Item = answer.get("Attributes", {})
        return found

    def _write(self, operation: Callable[[], object]) -> Item | None:
        """Return `None` when the write was done, or the item that refused it, empty when there is none."""
        try:
            call(self.clock, operation)
        except ClientError as error:
            if code_of(error) != REFUSED:
                raise
            return refusing_item(error)
        return None


def refusing_item(error: ClientError) -> Item:
    """Return the item that refused a conditional write, empty when there is none."""
    response: Any = error.response
    item: Item = response.get("Item", {})
    return item


def _is_written(there: Item, old: Item, new: Item) -> bool:
    changed = {key for key in old.keys() | new.keys() if old.get(key) != new.get(key)}
    return all(there.get(key) == new.get(key) for key in changed.union(CHANGED_ALONE))


def _job(item: Item | None) -> Job | None:
    return job_of(item) if item else None


def _text(text: str) -> dict[str, Any]:
    return {"S": str(text)}


def _number(instant: datetime) -> dict[str, Any]:
    return {"N": epoch_text(instant)}
