"""Tables and a job queue of the template's making that no function looks at: who calls the steps there is alone."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from secrets import token_hex
from typing import Any, cast

import boto3
import pytest
from local import account
from tests.support.lab import QUEUES, TABLES, VARIABLES, forget
from tests.template.expansion import expand

from onthedot import wiring
from onthedot.adapters.sqs import JobQueue
from onthedot.messages import read_job
from onthedot.rules.agenda import Entry
from onthedot.steps.ports import World


@contextmanager
def beside(endpoint: str, shards: int = 2) -> Iterator[dict[str, str]]:
    """Make tables and a queue on a local AWS; give the environment of a function that works on them."""
    with account.isolated():
        dynamodb, sqs = boto3.client("dynamodb", endpoint_url=endpoint), boto3.client("sqs", endpoint_url=endpoint)
    mark = token_hex(4)
    tables = {variable: _table(dynamodb, name, mark) for name, variable in TABLES.items()}
    queue = sqs.create_queue(QueueName=f"aside-{mark}", Attributes={"VisibilityTimeout": "3600"})["QueueUrl"]
    places = tables | dict.fromkeys(QUEUES.values(), queue)
    try:
        yield environment(endpoint, shards) | places
    finally:
        sqs.delete_queue(QueueUrl=queue)
        for table in tables.values():
            dynamodb.delete_table(TableName=table)


def environment(endpoint: str, shards: int) -> dict[str, str]:
    """Return the environment of a function on a local AWS, with names of tables and queues that are not there."""
    places = {variable: f"{endpoint}/{name}" for name, variable in (TABLES | QUEUES).items()}
    return VARIABLES | places | {"ONTHEDOT_SHARDS": str(shards), "AWS_ENDPOINT_URL": endpoint}


@contextmanager
def wired(variables: Mapping[str, str]) -> Iterator[World]:
    """Give the steps' world that a function with these variables would have, but in this process."""
    with account.isolated(), pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        forget()
        yield wiring.world()
    forget()


def received(world: World, name: str, seconds: int) -> list[str]:
    """Take all messages from the queue, also those that come within so many seconds; return the slots of a schedule."""
    queue, entries = cast(JobQueue, world.queue), list[Entry | None]()
    ends_at, found = time.monotonic() + seconds, True
    while found or time.monotonic() < ends_at:
        answer = queue.client.receive_message(QueueUrl=queue.url, MaxNumberOfMessages=10, WaitTimeSeconds=1)
        found = "Messages" in answer
        entries += [read_job(message["Body"]) for message in answer.get("Messages", [])]
    return sorted(each.slot for each in entries if each and each.schedule == f"schedule#{name}")


def all_items(dynamodb: Any, table: str) -> list[dict[str, Any]]:
    """Return every item of a table."""
    pages = dynamodb.get_paginator("scan").paginate(TableName=table, ConsistentRead=True)
    return [item for page in pages for item in page["Items"]]


def _table(dynamodb: Any, name: str, mark: str) -> str:
    properties = expand().properties(name)
    kept = ("AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes", "BillingMode")
    made = f"aside-{name}-{mark}"
    dynamodb.create_table(TableName=made, **{key: properties[key] for key in kept if key in properties})
    return made
