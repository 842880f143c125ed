"""Which slots of a schedule run and wait: one conditional write, which returns the schedule also when it is refused."""

from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from onthedot.adapters.aws import call, code_of
from onthedot.adapters.expressions import Expression
from onthedot.adapters.jobs import REFUSED, refusing_item
from onthedot.adapters.schedule_items import row_key, schedule_of
from onthedot.steps.ports import Clock
from onthedot.steps.ports_of_schedules import Allowed, Marked, Slots

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


def mark(client: "DynamoDBClient", clock: Clock, table: str, name: str, slots: Slots, allowed: Allowed) -> Marked:
    """Write which slots run and wait, if those that do are allowed to; the stamp stays."""
    expression = Expression()
    update, condition = _update(expression, slots), _condition(expression, allowed)
    try:
        answer: Any = call(
            clock,
            lambda: client.update_item(
                TableName=table,
                Key=row_key(name),
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
        there = refusing_item(error)
        return Marked(False, schedule_of(there) if there else None)
    return Marked(True, schedule_of(answer["Attributes"]))


def _update(expression: Expression, slots: Slots) -> str:
    sets = [f"{expression.name(key)} = {expression.value({'S': slot})}" for key, slot in slots.items() if slot]
    removes = [expression.name(key) for key, slot in slots.items() if not slot]
    return " ".join(
        word for word in (sets and f"SET {', '.join(sets)}", removes and f"REMOVE {', '.join(removes)}") if word
    )


def _condition(expression: Expression, allowed: Allowed) -> str:
    """Return the condition; without the first part a schedule that is gone would come back as a row of nothing."""
    parts = [f"attribute_exists({expression.name('name')})"]
    for key, slots in allowed.items():
        name = expression.name(key)
        may = [f"{name} = {expression.value({'S': slot})}" for slot in sorted(slot for slot in slots if slot)]
        may += [f"attribute_not_exists({name})"] * (None in slots)
        parts.append(f"({' OR '.join(may)})")
    return " AND ".join(parts)
