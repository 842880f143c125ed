"""Jobs of the shipped handlers, through the worker, in a deployment that names what they may reach."""

import json
from collections.abc import Iterator

import pytest
from tests.support import jobs
from tests.support.lab import ACCOUNT, REGION, Lab

from onthedot import wiring
from onthedot.adapters.aws import CONNECT_SECONDS, READ_SECONDS, TRIES
from onthedot.rules.jobs import Job, State

QUEUE = f"arn:aws:sqs:{REGION}:{ACCOUNT}:reports"


@pytest.fixture
def lab() -> Iterator[Lab]:
    with Lab(AllowedTargetArns=f"{QUEUE},{QUEUE}-*") as lab:
        yield lab


def outcome(lab: Lab, handler: str, payload: object) -> Job:
    jobs.create("j", handler=handler, payload=json.dumps(payload))
    lab.deliver("JobQueue")
    return jobs.job("j")


def test_a_message_is_sent(lab: Lab) -> None:
    url = lab.sqs.create_queue(QueueName="reports-weekly")["QueueUrl"]
    job = outcome(lab, "sqs", {"arn": f"{QUEUE}-weekly", "body": "now"})
    assert (job.state, job.error) == (State.SUCCEEDED, None)
    [message] = lab.sqs.receive_message(QueueUrl=url, MessageAttributeNames=["All"])["Messages"]
    assert message["MessageAttributes"]["idempotency_key"]["StringValue"] == job.idempotency_key


@pytest.mark.parametrize(
    ("handler", "payload", "why"),
    [
        ("sqs", {"arn": QUEUE.replace("reports", "other"), "body": "now"}, "AllowedTargetArns"),
        ("lambda", {"arn": f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:f"}, "AllowedTargetArns"),
        ("eventbridge", {"arn": QUEUE}, "source: is missing"),
        ("http", {"url": "https://localhost/2018-06-01/runtime/invocation/next"}, "not public"),
        ("http", {"url": "https://[::ffff:169.254.169.254]/"}, "not public"),
        ("http", {"method": "POST"}, "url: is missing"),
    ],
)
def test_what_can_never_work_is_dead_at_once(lab: Lab, handler: str, payload: object, why: str) -> None:
    job = outcome(lab, handler, payload)
    assert (job.state, job.reason, job.attempt) == (State.DEAD, "discarded", 1)
    assert why in str(job.error)


def test_every_client_has_the_one_config(lab: Lab) -> None:
    """With the SDK's own one stuck socket outlives a lease (aws-traps 13)."""
    assert lab.now()
    for client in (wiring._client("lambda", "us-west-2"), wiring._client("events", REGION), wiring._secrets()):
        config = client.meta.config
        assert (config.connect_timeout, config.read_timeout) == (CONNECT_SECONDS, READ_SECONDS)
        assert config.retries["total_max_attempts"] == TRIES
    assert wiring._client("lambda", "us-west-2").meta.region_name == "us-west-2"
