"""The kit that users have, and what only our own tests ask for: the inside of tables and queues, and their loss."""

import json
from pathlib import Path
from typing import Any

from onthedot import testing
from onthedot.testing import inside
from onthedot.testing.calls import Call
from onthedot.testing.deployment import forget
from onthedot.testing.functions import Context, event_of, functions_of
from onthedot.testing.lab import START
from onthedot.testing.requests import Answer
from onthedot.testing.template import ACCOUNT, HERE, REGION, read

__all__ = [
    "ACCOUNT",
    "QUEUES",
    "REGION",
    "START",
    "TABLES",
    "VARIABLES",
    "Answer",
    "Call",
    "Context",
    "Lab",
    "event_of",
    "forget",
]

TEMPLATE = read(HERE, {})
VARIABLES = {name: text for each in functions_of(TEMPLATE) for name, text in each.variables.items()}
TABLES = {text: name for name, text in VARIABLES.items() if text in TEMPLATE.of_type("AWS::DynamoDB::Table")}
QUEUES = {text.rpartition("/")[2]: name for name, text in VARIABLES.items() if name.endswith("_QUEUE_URL")}
"""By which variable the functions know a table or a queue."""


class Lab(testing.Lab):
    """A lab of two shards. At its end no ledger misses a slot, unless the test `loses_slots` by itself."""

    loses_slots = False

    def __init__(self, *, template: Path = HERE, **said: Any) -> None:
        super().__init__(template=template, **{"Shards": 2} | said)

    def minute(self) -> None:
        """Look at all shards each minute, as AWS does: many a test of ours is of the look itself."""
        self.tick()

    def items(self, table: str = "JobsTable") -> list[dict[str, Any]]:
        """Return every item of a table; a scan ends at each megabyte, and goes on from there."""
        pages = self.dynamodb.get_paginator("scan").paginate(TableName=self.tables[table], ConsistentRead=True)
        return [item for page in pages for item in page["Items"]]

    def messages(self, queue: str = "JobQueue") -> list[Any]:
        """Return all that a queue holds, visible or not."""
        return inside.messages(queue)

    def called(self, operation: str) -> list[dict[str, Any]]:
        """Return what the calls of one operation were made with."""
        return [call.body for call in self.calls if call.operation == operation]

    def purge(self, queue: str = "JobQueue") -> None:
        """Lose every message of a queue."""
        inside.account()[1].queues[queue]._messages.clear()

    def expire(self) -> None:
        """Delete what is older than its queue's retention, before time passes."""
        inside.expire(self.now())

    def give_up_after(self, receives: int) -> None:
        """Let the job queue give up on a message that was received so often."""
        url = self.urls["JobQueue"]
        answer = self.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["RedrivePolicy"])
        changed = json.loads(answer["Attributes"]["RedrivePolicy"]) | {"maxReceiveCount": receives}
        self.sqs.set_queue_attributes(QueueUrl=url, Attributes={"RedrivePolicy": json.dumps(changed)})
