"""The `sqs`, `lambda` and `eventbridge` handlers: what they may reach, what they refuse, and what they hand on."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws
from tests.unit.outgoing.conftest import KEY, a_job

from onthedot import Discard, Job
from onthedot.outgoing.calls import call_function
from onthedot.outgoing.errors import NotDelivered
from onthedot.outgoing.events import put_event
from onthedot.outgoing.queues import send_message
from onthedot.outgoing.targets import Targets, matches

ACCOUNT, REGION = "123456789012", "eu-central-1"
QUEUE = f"arn:aws:sqs:{REGION}:{ACCOUNT}:reports"
FIFO = f"{QUEUE}.fifo"
FUNCTION = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:report"
BUS = f"arn:aws:events:{REGION}:{ACCOUNT}:event-bus/reports"
MESSAGE = {"arn": QUEUE, "body": {"a": 1}}
EVENT = {"arn": BUS, "source": "snip", "detail_type": "Link expired"}


class Fake:
    """A client that answers what the test says, and keeps what it was asked."""

    def __init__(self, **answer: Any) -> None:
        self.answer, self.asked = answer, list[dict[str, Any]]()

    def invoke(self, **asked: Any) -> dict[str, Any]:
        """Answer, as all its verbs do."""
        self.asked.append(asked)
        return self.answer

    put_events = invoke


def nobody(service: str, region: str) -> Any:
    raise AssertionError(f"reached {service} in {region}")


@pytest.fixture
def client() -> Iterator[Callable[[str, str], Any]]:
    with mock_aws():
        made: Any = boto3.client
        yield made


@pytest.mark.parametrize(
    ("pattern", "is_meant"),
    [
        (QUEUE, True),
        (f"arn:aws:sqs:{REGION}:{ACCOUNT}:*", True),
        (f"arn:aws:sqs:{REGION}:{ACCOUNT}:rep*s", True),
        (f"arn:aws:sqs:*:{ACCOUNT}:report?", True),
        (f"arn:*:sqs:eu-*:{ACCOUNT}:reports", True),
        (f"arn:aws:sqs:{REGION}:{ACCOUNT}:report", False),
        (f"arn:aws:sqs:{REGION}:{ACCOUNT}:reports?", False),
        (f"arn:aws:sqs:{REGION}:{ACCOUNT}:Reports", False),
        (f"arn:aws:sqs:{REGION}:{ACCOUNT}:[a-z]*", False),
        (f"arn:aws:sqs:{REGION}:999999999999:*", False),
        (f"arn:aws:lambda:{REGION}:{ACCOUNT}:*", False),
        ("*", False),
        ("arn:aws:sqs:*", False),
        ("arn:aws:sqs:*:reports", False),
        ("", False),
    ],
)
def test_a_star_reaches_no_further_than_in_iam(pattern: str, is_meant: bool) -> None:
    """In one word a `*` would allow every account's queues, which the role then does not: the job would fail late."""
    assert matches(QUEUE, pattern) == is_meant


def test_a_star_in_the_last_part_reaches_over_its_colons() -> None:
    assert matches(f"{FUNCTION}:live", f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:*")
    assert not matches(f"{FUNCTION}:live", FUNCTION)


@pytest.mark.parametrize(
    ("handler", "payload"),
    [(send_message, MESSAGE), (call_function, {"arn": FUNCTION}), (put_event, EVENT)],
)
@pytest.mark.parametrize("allowed", [(), (f"{QUEUE}-other", f"{FUNCTION}-other", f"{BUS}-other")])
def test_what_the_template_does_not_allow_is_not_reached(
    handler: Callable[[Job, Targets], Any], payload: dict[str, Any], allowed: tuple[str, ...]
) -> None:
    with pytest.raises(Discard, match="AllowedTargetArns"):
        handler(a_job(payload), Targets(allowed, nobody))
    with pytest.raises(Discard) as discarded:
        handler(a_job(payload | {"extra": 1}), Targets(allowed, nobody))
    for fault in ("AllowedTargetArns", "extra: is no field"):
        assert fault in discarded.value.reason, "what was allowed was told only when all else had been mended"


@pytest.mark.parametrize(
    ("handler", "payload", "faults"),
    [
        (send_message, None, ["payload: must be an object"]),
        (send_message, {}, ["arn: is missing", "body: is missing"]),
        (send_message, MESSAGE | {"arn": FUNCTION}, ["arn: must be an ARN"]),
        (send_message, MESSAGE | {"arn": "https://sqs/1/q"}, ["arn: must be an ARN"]),
        (send_message, MESSAGE | {"arn": [QUEUE]}, ["arn: must be an ARN"]),
        (send_message, MESSAGE | {"arn": f"{QUEUE}\n"}, ["arn: must be an ARN"]),
        (send_message, MESSAGE | {"arn": f"{QUEUE}/../x"}, ["arn: must be an ARN"]),
        (send_message, MESSAGE | {"body": ""}, ["body: must not be empty"]),
        (send_message, MESSAGE | {"body": "a\x00"}, ["body: must not be empty, nor hold a control"]),
        (send_message, {"arn": FIFO, "body": 1}, ["group_id: is missing"]),
        (send_message, MESSAGE | {"group_id": "a b", "delay": 5}, ["group_id: must be", "delay: is no field"]),
        (send_message, MESSAGE | {"attributes": []}, ["attributes: must be an object"]),
        (send_message, MESSAGE | {"attributes": {f"a{n}": "x" for n in range(10)}}, ["attributes: must be an object"]),
        (send_message, MESSAGE | {"attributes": {"idempotency_key": "x", "ok": "x", "b": 1}}, ["attributes: 'idem"]),
        (send_message, MESSAGE | {"attributes": {"AWS.x": "x"}}, ["attributes: 'AWS.x'"]),
        (call_function, {"payload": {}}, ["arn: is missing"]),
        (call_function, {"arn": "report"}, ["arn: must be an ARN"]),
        (call_function, {"arn": FUNCTION, "payload": [1]}, ["payload: must be an object"]),
        (
            call_function,
            {"arn": FUNCTION, "payload": {"idempotency_key": 1}},
            ["payload: must not hold idempotency_key"],
        ),
        (put_event, {}, ["arn: is missing", "source: is missing", "detail_type: is missing"]),
        (put_event, EVENT | {"arn": QUEUE}, ["arn: must be an ARN"]),
        (put_event, EVENT | {"source": "aws.ec2"}, ["source: must be 1 to 256 characters, and not begin with aws."]),
        (put_event, EVENT | {"detail_type": "x" * 129}, ["detail_type: must be 1 to 128 characters"]),
        (put_event, EVENT | {"detail": "text"}, ["detail: must be an object"]),
        (put_event, EVENT | {"detail": {"idempotency_key": 1}}, ["detail: must not hold idempotency_key"]),
    ],
)
def test_every_fault_of_a_payload_is_named(
    handler: Callable[[Job, Targets], Any], payload: Any, faults: list[str]
) -> None:
    """What AWS would refuse each time is dead at once, with all that is wrong with it."""
    with pytest.raises(Discard) as discarded:
        handler(a_job(payload), Targets((QUEUE, FIFO, FUNCTION, BUS), nobody))
    for fault in faults:
        assert fault in discarded.value.reason


@pytest.mark.parametrize("handler", [send_message, call_function, put_event])
def test_an_arn_that_is_none_is_answered_with_one_that_fits(handler: Callable[[Job, Targets], Any]) -> None:
    """Whoever wrote a name for an ARN was shown a regular expression."""
    with pytest.raises(Discard) as discarded:
        handler(a_job(MESSAGE | EVENT | {"arn": "reports"}), Targets((), nobody))
    [shown] = re.findall("must be an ARN such as ([^;]+)", discarded.value.reason)
    with pytest.raises(Discard) as shown_discarded:
        handler(a_job(MESSAGE | EVENT | {"arn": shown}), Targets((), nobody))
    assert "arn: must be" not in shown_discarded.value.reason


def received(client: Any, url: str) -> list[dict[str, Any]]:
    answer = client.receive_message(QueueUrl=url, MaxNumberOfMessages=10, MessageAttributeNames=["All"])
    found: list[dict[str, Any]] = answer.get("Messages", [])
    return found


def test_a_message_is_sent_with_the_idempotency_key(client: Callable[[str, str], Any]) -> None:
    sqs = client("sqs", REGION)
    url = sqs.create_queue(QueueName="reports")["QueueUrl"]
    payload = MESSAGE | {"body": {"a": [1.0, "ä"]}, "attributes": {"team": "7"}}
    result = send_message(a_job(payload), Targets((QUEUE,), client))
    [message] = received(sqs, url)
    assert (message["MessageId"], message["Body"]) == (result["message_id"], '{"a":[1.0,"ä"]}')
    said = {name: it["StringValue"] for name, it in message["MessageAttributes"].items()}
    assert said == {"team": "7", "idempotency_key": KEY}


def test_a_text_is_sent_as_it_is(client: Callable[[str, str], Any]) -> None:
    url = client("sqs", REGION).create_queue(QueueName="reports")["QueueUrl"]
    send_message(a_job(MESSAGE | {"body": "<a/>"}), Targets((QUEUE,), client))
    assert [it["Body"] for it in received(client("sqs", REGION), url)] == ["<a/>"]


def test_two_attempts_put_one_message_into_a_fifo_queue(client: Callable[[str, str], Any]) -> None:
    sqs = client("sqs", REGION)
    url = sqs.create_queue(QueueName="reports.fifo", Attributes={"FifoQueue": "true"})["QueueUrl"]
    for _ in range(2):
        send_message(a_job({"arn": FIFO, "body": "x", "group_id": "g"}), Targets((FIFO,), client))
    assert [it["Body"] for it in received(sqs, url)] == ["x"]


def test_a_queue_is_reached_in_its_own_region(client: Callable[[str, str], Any]) -> None:
    far = QUEUE.replace(REGION, "us-west-2")
    url = client("sqs", "us-west-2").create_queue(QueueName="reports")["QueueUrl"]
    send_message(a_job(MESSAGE | {"arn": far}), Targets((far,), client))
    assert len(received(client("sqs", "us-west-2"), url)) == 1


def test_a_queue_that_is_not_there_fails_the_attempt(client: Callable[[str, str], Any]) -> None:
    """It may be made a moment later, by the same deploy that made the schedule."""
    with pytest.raises(ClientError, match="does not exist"):
        send_message(a_job(MESSAGE), Targets((QUEUE,), client))


@pytest.mark.parametrize("arn", [FUNCTION, f"{FUNCTION}:live", f"{FUNCTION}:$LATEST"])
def test_a_function_is_called_without_waiting_for_it(arn: str) -> None:
    """The SDK tries a call again whose answer is late, and the function ran twice (aws-traps 54)."""
    fake = Fake(StatusCode=202)
    job = a_job({"arn": arn, "payload": {"a": "ä"}})
    assert call_function(job, Targets((arn,), lambda *_: fake)) == {"status": 202}
    [asked] = fake.asked
    assert (asked["FunctionName"], asked["InvocationType"]) == (arn, "Event")
    assert json.loads(asked["Payload"]) == {"a": "ä", "idempotency_key": KEY}


def test_a_call_that_lambda_did_not_take_fails_the_attempt() -> None:
    with pytest.raises(NotDelivered, match="Lambda answered 200"):
        call_function(a_job({"arn": FUNCTION}), Targets((FUNCTION,), lambda *_: Fake(StatusCode=200)))


def test_an_event_is_put_with_the_idempotency_key() -> None:
    fake = Fake(FailedEntryCount=0, Entries=[{"EventId": "e"}])
    job = a_job(EVENT | {"detail": {"code": "ä"}})
    assert put_event(job, Targets((BUS,), lambda *_: fake)) == {"event_id": "e"}
    [entry] = fake.asked[0]["Entries"]
    assert json.loads(entry.pop("Detail")) == {"code": "ä", "idempotency_key": KEY}
    assert entry == {"EventBusName": BUS, "Source": "snip", "DetailType": "Link expired"}


@pytest.mark.parametrize(
    "answer",
    [
        {"FailedEntryCount": 1, "Entries": [{"ErrorCode": "InternalFailure", "ErrorMessage": "later"}]},
        {"FailedEntryCount": 0, "Entries": [{"ErrorCode": "InternalFailure", "ErrorMessage": "later"}]},
    ],
)
def test_an_event_that_the_bus_refused_fails_the_attempt(answer: dict[str, Any]) -> None:
    """EventBridge says 200 and the failure inside, and the job was a success (aws-traps 49)."""
    with pytest.raises(NotDelivered, match="the bus refused the event: InternalFailure: later"):
        put_event(a_job(EVENT), Targets((BUS,), lambda *_: Fake(**answer)))
