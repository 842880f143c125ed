"""A lab's clients ask moto without HTTP, and moto reads no expression twice; nobody can tell by what is answered."""

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError, ParamValidationError
from tests.support.lab import Lab

from onthedot.testing import deployment, straight

TABLE = "JobsTable"
KEY = {"schedule": {"S": "a"}, "slot": {"S": "-"}}
OTHER = {"schedule": {"S": "b"}, "slot": {"S": "-"}}
EACH_TYPE = {
    "words": {"S": "ü"},
    "number": {"N": "1.50"},
    "yes": {"BOOL": True},
    "nothing": {"NULL": True},
    "list": {"L": [{"M": {"x": {"N": "1"}}}]},
    "texts": {"SS": ["x", "y"]},
    "empty": {"S": ""},
}
NO = {"ConditionExpression": "attribute_not_exists(slot)", "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
UPDATE = {
    "TableName": TABLE,
    "Key": KEY,
    "UpdateExpression": "SET #n = :n REMOVE nothing",
    "ExpressionAttributeNames": {"#n": "number"},
    "ExpressionAttributeValues": {":n": {"N": "2"}},
}
CHANGES = (
    "SET #n = #n + :n, sum_of = if_not_exists(sum_of, :n) REMOVE #l[0]",
    "SET #l = list_append(#l, :l) ADD #s :s, counted :n",
    "DELETE #s :s",
    "SET #n = :n SET sum_of = :n",
    "SET #n = :n, #n = :n",
    "SET #n = nowhere",
    "SET slot = :n",
    "SET #l[0].x = :n, #l[0].y.z = :n",
    "ADD words :n",
)
NAMES = {"#n": "number", "#l": "list", "#s": "texts"}
VALUES = {":n": {"N": "2"}, ":l": {"L": [{"S": "more"}]}, ":s": {"SS": ["y", "z"]}}
QUERY = {
    "TableName": TABLE,
    "KeyConditionExpression": "schedule = :s",
    "ExpressionAttributeValues": {":s": {"S": "a"}},
}
ON_TABLES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("get_item", {"TableName": TABLE, "Key": KEY}),
    ("put_item", {"TableName": TABLE, "Item": KEY | EACH_TYPE}),
    ("put_item", {"TableName": TABLE, "Item": OTHER | {"bytes": {"B": b"\x00\xff"}}}),
    ("put_item", {"TableName": TABLE, "Item": KEY | EACH_TYPE, "ReturnValues": "ALL_OLD"}),
    ("put_item", {"TableName": TABLE, "Item": KEY} | NO),
    ("get_item", {"TableName": TABLE, "Key": KEY, "ConsistentRead": True}),
    ("get_item", {"TableName": TABLE, "Key": OTHER}),
    ("get_item", {"TableName": "NoTable", "Key": KEY}),
    ("get_item", {"TableName": TABLE, "Kee": KEY}),
    ("get_item", {"TableName": TABLE, "Key": {"schedule": {"S": 1}, "slot": {"X": "-"}}}),
    ("get_item", {"TableName": TABLE, "Key": {"schedule": {"S": "a", "N": 1}, "slot": {"S": "-"}}}),
    ("batch_get_item", {"RequestItems": {TABLE: {"Keys": [KEY, OTHER]}}}),
    ("update_item", UPDATE | {"ReturnValues": "ALL_NEW"}),
    ("update_item", UPDATE),
    ("update_item", UPDATE | NO),
    ("query", QUERY),
    ("query", QUERY | {"Select": "COUNT", "ReturnConsumedCapacity": "TOTAL"}),
    ("scan", {"TableName": TABLE, "Limit": 1}),
    ("transact_write_items", {"TransactItems": [{"Put": {"TableName": TABLE, "Item": KEY}}]}),
    ("transact_write_items", {"TransactItems": [{"Put": {"TableName": TABLE, "Item": KEY} | NO}]}),
    ("delete_item", {"TableName": TABLE, "Key": KEY, "ReturnValues": "ALL_OLD"}),
    ("scan", {"TableName": TABLE}),
    ("describe_table", {"TableName": TABLE}),
)
ON_A_QUEUE: tuple[tuple[str, dict[str, Any]], ...] = (
    ("send_message", {"MessageBody": "a", "DelaySeconds": 0}),
    ("send_message_batch", {"Entries": [{"Id": "0", "MessageBody": "b"}, {"Id": "1", "MessageBody": "ü"}]}),
    ("send_message_batch", {"Entries": []}),
    ("receive_message", {"MaxNumberOfMessages": 10, "MessageSystemAttributeNames": ["All"]}),
    ("receive_message", {}),
    ("delete_message", {"ReceiptHandle": "none"}),
    ("change_message_visibility", {"ReceiptHandle": "none", "VisibilityTimeout": 1}),
    ("get_queue_attributes", {"AttributeNames": ["ApproximateNumberOfMessagesNotVisible", "VisibilityTimeout"]}),
)
HIDDEN_SECONDS = 1_000
DRAWN = {"MessageId", "ReceiptHandle", "TableId", "ClientRequestToken"}
"""What is another each time."""


def told(lab: Lab) -> Iterator[Any]:
    """Make each call, and tell what its caller meets."""
    queue = lab.urls["JobQueue"]
    for name, arguments in ON_TABLES:
        yield name, met(getattr(lab.dynamodb, name), arguments)
    for change in CHANGES:
        lab.dynamodb.put_item(TableName=TABLE, Item=KEY | EACH_TYPE)
        yield change, met(lab.dynamodb.update_item, changing(change))
    for name, arguments in ON_A_QUEUE:
        yield name, met(getattr(lab.sqs, name), {"QueueUrl": queue} | arguments)
    assert [lab.sqs.get_queue_url(QueueName=name)["QueueUrl"] for name in lab.urls] == list(lab.urls.values())
    lab.time.shift(HIDDEN_SECONDS)
    [message] = lab.sqs.receive_message(QueueUrl=queue)["Messages"]
    handle = {"QueueUrl": queue, "ReceiptHandle": message["ReceiptHandle"]}
    yield met(lab.sqs.change_message_visibility, handle | {"VisibilityTimeout": 9})
    yield met(lab.sqs.delete_message, handle)
    yield [(call.operation, steady(call.body)) for call in lab.calls]


def changing(expression: str) -> dict[str, Any]:
    """Return the arguments of an update, with no name and no value that it does not use."""
    names = {name: it for name, it in NAMES.items() if name in expression}
    values = {name: it for name, it in VALUES.items() if name in expression}
    update = {"TableName": TABLE, "Key": KEY, "ReturnValues": "ALL_NEW", "UpdateExpression": expression}
    used = {"ExpressionAttributeNames": names, "ExpressionAttributeValues": values}
    return update | {name: it for name, it in used.items() if it}


def met(method: Any, arguments: dict[str, Any]) -> Any:
    """Return an answer, or all that an error says."""
    try:
        return steady(method(**arguments))
    except ClientError as error:
        return type(error).__name__, str(error), steady(error.response)
    except ParamValidationError as error:
        return str(error)


def steady(said: Any) -> Any:
    """Return what was said, but for what is drawn and for HTTP's own words."""
    match said:
        case dict():
            return {
                name: {"HTTPStatusCode": it["HTTPStatusCode"]} if name == "ResponseMetadata" else steady(it)
                for name, it in said.items()
                if name not in DRAWN
            }
        case list():
            return [steady(each) for each in said]
        case _:
            return said


def test_whoever_calls_meets_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    with Lab() as lab:
        quickly = list(told(lab))
    monkeypatch.setattr(straight, "OPERATIONS", set())
    monkeypatch.setattr(deployment, "QUICKER", ())
    with Lab() as lab:
        as_it_was = list(told(lab))
    for one, other in zip(quickly, as_it_was, strict=True):
        assert one == other


def test_what_functions_call_goes_straight(lab: Lab) -> None:
    """Else each test would take twice as long, and none would tell."""
    assert lab.dynamodb.get_item(TableName=TABLE, Key=KEY)["ResponseMetadata"]["HTTPHeaders"] == {}
    assert lab.sqs.receive_message(QueueUrl=lab.urls["JobQueue"])["ResponseMetadata"]["HTTPHeaders"] == {}
