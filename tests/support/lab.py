"""The whole system in one process, on moto, with a clock that the test moves.

The real functions get real events: the timer ticks on the minute, SQS delivers what its delays and visibility allow,
and what is reported as failed stays in its queue. Time jumps from one happening to the next: a month takes a second.
"""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from threading import RLock
from typing import Any

import boto3
import moto.core.botocore_stubber as stubber
import pytest
import time_machine
from botocore import UNSIGNED
from botocore.config import Config
from moto import mock_aws
from moto.dynamodb.models import dynamodb_backends
from moto.dynamodb.parsing.reserved_keywords import ReservedKeywords
from moto.sqs.models import sqs_backends
from tests.template.expansion import expand

import dead_letters
import dispatch
import tick
import worker
from onthedot import wiring
from onthedot.adapters.items import JobItem, ShardItem
from onthedot.rules.agenda import Entry
from onthedot.rules.instants import from_text

ACCOUNT, REGION = "123456789012", "eu-central-1"
QUEUES = {
    "JobQueue": "ONTHEDOT_JOB_QUEUE_URL",
    "JobDeadLetterQueue": "ONTHEDOT_JOB_DEAD_LETTER_QUEUE_URL",
    "ShardQueue": "ONTHEDOT_SHARD_QUEUE_URL",
    "ShardDeadLetterQueue": "ONTHEDOT_SHARD_DEAD_LETTER_QUEUE_URL",
    "StrayQueue": "ONTHEDOT_STRAY_QUEUE_URL",
    "TimerDeadLetterQueue": "ONTHEDOT_TIMER_DEAD_LETTER_QUEUE_URL",
}
TABLES = {
    "JobsTable": "ONTHEDOT_JOBS_TABLE",
    "SchedulesTable": "ONTHEDOT_SCHEDULES_TABLE",
    "ShardsTable": "ONTHEDOT_SHARDS_TABLE",
}
START = datetime(2027, 1, 4, 8, 0, 30, tzinfo=UTC)
SETTINGS = {
    "ONTHEDOT_SHARDS": "2",
    "ONTHEDOT_LOOKAHEAD_SECONDS": "200",
    "ONTHEDOT_RETENTION_DAYS": "30",
    "ONTHEDOT_WORKER_TIMEOUT_SECONDS": "120",
    "ONTHEDOT_ALLOWED_TARGET_ARNS": "",
    "POWERTOOLS_SERVICE_NAME": "lab",
    "AWS_DEFAULT_REGION": REGION,
    "AWS_ACCESS_KEY_ID": "lab",
    "AWS_SECRET_ACCESS_KEY": "lab",
}


RESERVED = {word.lower() for word in ReservedKeywords.get_reserved_keywords()}
CONNECTIONS: dict[Any, Any] = {JobItem: None, ShardItem: None}
"""PynamoDB's connections, made once for all labs, as the clients are."""


@dataclass(slots=True)
class Context:
    """What Lambda tells a function of its invocation."""

    function_name: str
    remaining: int = 120_000
    memory_limit_in_mb: int = 256
    aws_request_id: str = "00000000-0000-0000-0000-000000000000"

    @property
    def invoked_function_arn(self) -> str:
        """The function's name in full."""
        return f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{self.function_name}"

    def get_remaining_time_in_millis(self) -> int:
        """Return what is left of the function's time."""
        return self.remaining


@dataclass(slots=True)
class Answer:
    """What the API answered."""

    status: int
    body: Any
    headers: dict[str, str]


@dataclass(frozen=True, slots=True)
class Call:
    """A call that AWS got, such as `UpdateItem`, and what it was called with."""

    operation: str
    body: dict[str, Any]


@dataclass(slots=True)
class Lab:
    """One deployment, and the time in it. What is switched `off` gets no events.

    A `rhythm` slower than the timer's makes hours of waiting for the sweep cheap. At its end no ledger misses a slot,
    unless the test `loses_slots` by itself.
    """

    time: time_machine.Traveller
    dynamodb: Any
    sqs: Any
    urls: dict[str, str]
    tables: dict[str, str]
    calls: list["Call"]
    off: set[str] = field(default_factory=set)
    next_tick: datetime = START.replace(second=0) + timedelta(minutes=1)
    rhythm: timedelta = timedelta(minutes=1)
    loses_slots: bool = False

    def now(self) -> datetime:
        """Return the lab's time."""
        return datetime.now(UTC)

    def call(self, method: str, path: str, body: Any = None, **query: str) -> Answer:
        """Call the API as API Gateway does."""
        import api  # noqa: PLC0415

        event = {
            "httpMethod": method,
            "path": path,
            "resource": "/{proxy+}",
            "headers": {"content-type": "application/json"},
            "multiValueHeaders": {"content-type": ["application/json"]},
            "queryStringParameters": query or None,
            "multiValueQueryStringParameters": {name: [value] for name, value in query.items()} or None,
            "requestContext": {"stage": "prod", "requestId": "lab", "httpMethod": method, "path": path},
            "body": body if isinstance(body, str) or body is None else json.dumps(body),
            "isBase64Encoded": False,
        }
        answer = api.handler(event, Context("api", 28_000))
        headers = {name: values[0] for name, values in answer.get("multiValueHeaders", {}).items()}
        return Answer(answer["statusCode"], json.loads(answer["body"] or "null"), headers)

    def job(self, job_id: str) -> dict[str, Any]:
        """Return a job as the API shows it."""
        answer = self.call("GET", f"/jobs/{job_id}")
        assert answer.status == 200, answer.body
        found: dict[str, Any] = answer.body
        return found

    def tick(self) -> None:
        """Fire the timer once, and look at all shards."""
        tick.handler({}, Context("tick"))
        self.deliver("ShardQueue")

    def deliver(self, queue: str) -> int:
        """Give what a queue shows now to its function, one message an invocation; return how many there were."""
        count = 0
        while messages := self.receive(queue):
            for message in messages:
                count += 1
                self.invoke(queue, [message])
        return count

    def invoke(self, queue: str, messages: list[dict[str, Any]], remaining: int | None = None) -> set[str]:
        """Give messages to a queue's function, delete those it acknowledges, return the bodies of the others."""
        failed = self.answer(queue, messages, remaining)
        for message in messages:
            if message["MessageId"] not in failed:
                self.sqs.delete_message(QueueUrl=self.urls[queue], ReceiptHandle=message["ReceiptHandle"])
        return {message["Body"] for message in messages if message["MessageId"] in failed}

    def receive(self, queue: str) -> list[dict[str, Any]]:
        """Receive up to ten messages of a queue."""
        answer = self.sqs.receive_message(
            QueueUrl=self.urls[queue], MaxNumberOfMessages=10, MessageSystemAttributeNames=["All"]
        )
        messages: list[dict[str, Any]] = answer.get("Messages", [])
        return messages

    def answer(self, queue: str, messages: list[dict[str, Any]], remaining: int | None = None) -> list[str]:
        """Give messages to a queue's function, and return the ids of those it does not acknowledge."""
        left = (50_000 if queue == "ShardQueue" else 120_000) if remaining is None else remaining
        answer = self._function(queue)(event_of(messages), Context(queue, left))
        return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]

    def advance(self, **span: float) -> None:
        """Let time pass, and all happen that happens in it."""
        end = self.now() + timedelta(**span)
        self.expire()
        if self.next_tick < self.now():
            self.next_tick = self.now().replace(second=0, microsecond=0) + timedelta(minutes=1)
        self.settle()
        while (happening := min(self._skip_idle_minutes(), self._next_message())) <= end:
            self.time.move_to(max(happening, self.now()))
            if happening >= self.next_tick:
                self.next_tick += self.rhythm
                if "tick" not in self.off:
                    self.tick()
            self.settle()
        self.time.move_to(end)

    def settle(self) -> None:
        """Deliver what is visible now, until nothing is."""
        queues = ("JobQueue", "JobDeadLetterQueue")
        while sum(self.deliver(queue) for queue in queues if queue not in self.off):
            pass

    def items(self, table: str = "JobsTable") -> list[dict[str, Any]]:
        """Return every item of a table; a scan ends at each megabyte, and goes on from there."""
        pages = self.dynamodb.get_paginator("scan").paginate(TableName=self.tables[table], ConsistentRead=True)
        return [item for page in pages for item in page["Items"]]

    def messages(self, queue: str = "JobQueue") -> list[Any]:
        """Return all that a queue holds, visible or not."""
        return list(self._queue(queue)._messages)

    def seen_next(self, queue: str) -> datetime:
        """Return when a queue shows its next message."""
        return min(map(self._seen_at, self.messages(queue)), default=datetime.max.replace(tzinfo=UTC))

    def called(self, operation: str) -> list[dict[str, Any]]:
        """Return what the calls of one operation were made with."""
        return [call.body for call in self.calls if call.operation == operation]

    def purge(self, queue: str = "JobQueue") -> None:
        """Lose every message of a queue."""
        self._queue(queue)._messages.clear()

    def give_up_after(self, receives: int) -> None:
        """Let the job queue give up on a message that was received so often."""
        url = self.urls["JobQueue"]
        answer = self.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["RedrivePolicy"])
        changed = json.loads(answer["Attributes"]["RedrivePolicy"]) | {"maxReceiveCount": receives}
        self.sqs.set_queue_attributes(QueueUrl=url, Attributes={"RedrivePolicy": json.dumps(changed)})

    def expire(self) -> None:
        """Delete what is older than its queue's retention; moto only stops to deliver it, and all behind it."""
        for queue in sqs_backends[ACCOUNT][REGION].queues.values():
            oldest = (self.now().timestamp() - queue.message_retention_period) * 1000  # type: ignore[attr-defined]
            queue._messages = [message for message in queue._messages if (message.sent_timestamp or 0) >= oldest]

    def _queue(self, queue: str) -> Any:
        return sqs_backends[ACCOUNT][REGION].queues[self.urls[queue].rsplit("/", 1)[1]]

    def _skip_idle_minutes(self) -> datetime:
        """Pass over the ticks that would find nothing on the agenda, and return the next one."""
        wakes = [Entry.parse(text).wake - timedelta(minutes=5) for text in self._all("JobsTable", "agenda")]
        plans = [from_text(text) - timedelta(minutes=10) for text in self._all("SchedulesTable", "next_at")]
        if (wakes or plans) and "tick" not in self.off:
            idle = min(wakes + plans) - self.next_tick
            self.next_tick += max(timedelta(0), idle // timedelta(minutes=1) * timedelta(minutes=1))
            return self.next_tick
        return datetime.max.replace(tzinfo=UTC)

    def _all(self, table: str, attribute: str) -> list[str]:
        items = dynamodb_backends[ACCOUNT][REGION].tables[self.tables[table]].all_items()
        return [item.attrs[attribute].value for item in items if attribute in item.attrs]

    def _next_message(self) -> datetime:
        queues = [queue for queue in ("JobQueue", "JobDeadLetterQueue") if queue not in self.off]
        return min(map(self.seen_next, queues), default=datetime.max.replace(tzinfo=UTC))

    def _seen_at(self, message: Any) -> datetime:
        at = max(message.delayed_until or 0, message.visible_at or 0)
        return datetime.fromtimestamp(at / 1000, UTC) + timedelta(milliseconds=1)

    def _function(self, queue: str) -> Callable[[Any, Any], Any]:
        functions: dict[str, Any] = {"JobQueue": worker, "ShardQueue": dispatch, "JobDeadLetterQueue": dead_letters}
        handler: Callable[[Any, Any], Any] = functions[queue].handler
        return handler


def event_of(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the event that Lambda makes of SQS messages."""
    return {
        "Records": [
            {
                "messageId": message["MessageId"],
                "receiptHandle": message["ReceiptHandle"],
                "body": message["Body"],
                "attributes": message.get("Attributes", {}),
                "messageAttributes": {},
                "eventSource": "aws:sqs",
            }
            for message in messages
        ]
    }


@contextmanager
def running_lab(patch: pytest.MonkeyPatch, **settings: str) -> Iterator[Lab]:
    """Deploy the template's tables and queues on moto, and stop the clock at `START`."""
    for name, value in (SETTINGS | settings).items():
        patch.setenv(name, value)
    calls: list[Call] = []
    patch.setattr(boto3, "client", _client)
    patch.setattr(stubber.BotocoreStubber, "__call__", _one_at_a_time(stubber.BotocoreStubber.__call__, calls))
    with time_machine.travel(START, tick=False) as time, mock_aws():
        template, dynamodb, sqs = expand(), boto3.client("dynamodb"), boto3.client("sqs")
        forget()
        tables = {name: _create_table(dynamodb, name, template.properties(name)) for name in TABLES}
        urls = _create_queues(sqs, template.of_type("AWS::SQS::Queue"))
        for name, variable in TABLES.items():
            patch.setenv(variable, tables[name])
        for name, variable in QUEUES.items():
            patch.setenv(variable, urls[name])
        forget()
        for model, connection in CONNECTIONS.items():
            model._connection = connection
        yield Lab(time, dynamodb, sqs, urls, tables, calls)
        CONNECTIONS.update((model, model._connection) for model in CONNECTIONS)
        forget()


@cache
def _client(service: Any, config: Any = None, region_name: str | None = None) -> Any:
    """Return a client, made once for all labs: to make one takes longer than most stories.

    Nobody checks signatures, and of tables moto needs nothing that stands in them.
    """
    signed = Config(signature_version=UNSIGNED) if service == "dynamodb" else Config()
    return boto3.Session().client(service, config=signed.merge(config) if config else signed, region_name=region_name)


def forget() -> None:
    """Forget what a container has wired, and where PynamoDB is connected to."""
    for model in CONNECTIONS:
        model._connection = None
    for cached in (wiring.settings, wiring.world, wiring.shard_queue, wiring.held, wiring.policies, wiring._sqs):
        cached.cache_clear()
    for of_handlers in (wiring.deliveries, wiring.targets, wiring._client, wiring._secrets):
        of_handlers.cache_clear()


def _one_at_a_time(call: Callable[..., Any], calls: list[Call]) -> Callable[..., Any]:
    """Return moto's entry behind a lock: it is not atomic under threads, and our conditional writes need it to be."""
    lock = RLock()

    def locked(stub: Any, event_name: str, request: Any, **kwargs: Any) -> Any:
        with lock:
            calls.append(_strictly(request))
            return call(stub, event_name, request, **kwargs)

    return locked


def _strictly(request: Any) -> Call:
    """Return what is called, and refuse what AWS refuses and moto does not."""
    operation = request.headers.get("X-Amz-Target", b"").decode().rpartition(".")[2]
    body = json.loads(request.body or "{}")
    assert body.get("UpdateExpression") != "", "ValidationException: The expression can not be empty"
    assert not (body.get("IndexName") and body.get("ConsistentRead")), "ValidationException: no consistent index reads"
    for write in [body, *(next(iter(item.values())) for item in body.get("TransactItems", []))]:
        _refuse_reserved_words(write)
    for message in [body, *body.get("Entries", [])]:
        assert message.get("DelaySeconds", 0) in range(901), "InvalidParameterValue: DelaySeconds is 0 to 900"
    return Call(operation, body)


def _refuse_reserved_words(body: dict[str, Any]) -> None:
    """Refuse a name that DynamoDB keeps for itself, and that moto lets pass in all but updates."""
    for name, text in body.items():
        if name.endswith("Expression"):
            reserved = set(re.findall(r"(?<![#:\w])[a-z]\w*", text)) & RESERVED
            assert not reserved, f"ValidationException: {name} uses reserved keywords: {reserved}"


def _create_table(dynamodb: Any, name: str, properties: dict[str, Any]) -> str:
    names = ("AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes", "BillingMode")
    dynamodb.create_table(TableName=name, **{key: properties[key] for key in names if key in properties})
    return name


def _create_queues(sqs: Any, queues: dict[str, dict[str, Any]]) -> dict[str, str]:
    urls: dict[str, str] = {}
    for name in sorted(queues, key=lambda name: "RedrivePolicy" in queues[name]):
        properties = queues[name]
        attributes: dict[Any, str] = {
            key: str(properties[key]) for key in ("VisibilityTimeout", "MessageRetentionPeriod") if key in properties
        }
        if policy := properties.get("RedrivePolicy"):
            target = policy["deadLetterTargetArn"]["Fn::GetAtt"][0]
            attributes["RedrivePolicy"] = json.dumps(
                {
                    "deadLetterTargetArn": f"arn:aws:sqs:{REGION}:{ACCOUNT}:{target}",
                    "maxReceiveCount": policy["maxReceiveCount"],
                }
            )
        urls[name] = sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]
    return urls
