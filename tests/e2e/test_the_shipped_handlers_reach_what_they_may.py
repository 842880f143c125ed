"""Jobs of the shipped handlers on the deployed stack, with IAM enforced: what AWS's services beside it get of them."""

import io
import json
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import boto3
import pytest
from local import account
from tests.e2e.conftest import OURS
from tests.e2e.deployed import Deployed
from tests.e2e.test_a_job_lives_on_the_deployed_stack import PATIENCE_SECONDS, create, ended

pytestmark = pytest.mark.e2e

QUEUE = f"arn:aws:sqs:{OURS}:e2e-reports"
BUS = f"arn:aws:events:{OURS}:event-bus/e2e-reports"
FUNCTION = f"arn:aws:lambda:{OURS}:function:e2e-report"
CODE = """
import json, os
def handler(event, context):
    with open(event["path"] + ".new", "w") as file:
        json.dump(event, file)
    os.rename(event["path"] + ".new", event["path"])
"""


def client(stack: Deployed, service: str) -> Any:
    with account.isolated():
        made: Callable[..., Any] = boto3.client
        return made(service, endpoint_url=stack.endpoint)


def ran(stack: Deployed, handler: str, payload: object) -> dict[str, Any]:
    return ended(stack, create(stack, handler=handler, payload=payload)["id"])


@pytest.fixture(scope="module")
def queue(stack: Deployed) -> str:
    return stack.sqs.create_queue(QueueName="e2e-reports")["QueueUrl"]


def received(stack: Deployed, queue: str) -> Any:
    answer = stack.sqs.receive_message(QueueUrl=queue, WaitTimeSeconds=20, MessageAttributeNames=["All"])
    [message] = answer.get("Messages", [])
    stack.sqs.delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])
    return message


def test_a_message_reaches_its_queue(stack: Deployed, queue: str) -> None:
    job = ran(stack, "sqs", {"arn": QUEUE, "body": {"a": "ä"}, "attributes": {"team": "7"}})
    assert job["state"] == "succeeded", job
    message = received(stack, queue)
    assert (message["MessageId"], message["Body"]) == (job["result"]["message_id"], '{"a":"ä"}')
    said = {name: it["StringValue"] for name, it in message["MessageAttributes"].items()}
    assert said == {"team": "7", "idempotency_key": job["idempotency_key"]}


def test_an_event_reaches_the_rules_of_its_bus(stack: Deployed, queue: str) -> None:
    events = client(stack, "events")
    events.create_event_bus(Name="e2e-reports")
    events.put_rule(Name="e2e-all", EventBusName="e2e-reports", EventPattern='{"source": ["snip"]}')
    events.put_targets(Rule="e2e-all", EventBusName="e2e-reports", Targets=[{"Id": "q", "Arn": QUEUE}])
    asked = {"arn": BUS, "source": "snip", "detail_type": "Link expired", "detail": {"code": "x7Kp"}}
    job = ran(stack, "eventbridge", asked)
    assert job["state"] == "succeeded", job
    seen = json.loads(received(stack, queue)["Body"])
    assert (seen["id"], seen["detail-type"]) == (job["result"]["event_id"], "Link expired")
    assert seen["detail"] == {"code": "x7Kp", "idempotency_key": job["idempotency_key"]}


def test_a_function_gets_its_event(stack: Deployed, tmp_path: Path) -> None:
    code = io.BytesIO()
    with zipfile.ZipFile(code, "w") as archive:
        archive.writestr("report.py", CODE)
    with account.isolated():
        runtime = stack.functions.get_function_configuration(FunctionName=stack.outputs["WorkerFunctionName"])
        stack.functions.create_function(
            FunctionName="e2e-report",
            Runtime=runtime["Runtime"],
            Role=runtime["Role"],
            Handler="report.handler",
            Code={"ZipFile": code.getvalue()},
        )
    path = tmp_path / "seen.json"
    job = ran(stack, "lambda", {"arn": FUNCTION, "payload": {"path": str(path)}})
    assert (job["state"], job["result"]) == ("succeeded", {"status": 202}), job
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not path.exists():
        assert time.monotonic() < deadline, "the function was not called"
        time.sleep(0.1)
    assert json.loads(path.read_text()) == {"path": str(path), "idempotency_key": job["idempotency_key"]}


@pytest.mark.parametrize(
    ("handler", "payload"),
    [
        ("sqs", {"arn": QUEUE.replace("e2e", "other"), "body": "x"}),
        ("lambda", {"arn": FUNCTION.replace("e2e", "other")}),
        ("eventbridge", {"arn": BUS.replace("e2e", "other"), "source": "snip", "detail_type": "d"}),
    ],
)
def test_what_the_template_does_not_allow_is_refused(stack: Deployed, handler: str, payload: object) -> None:
    job = ran(stack, handler, payload)
    assert (job["state"], job["outcome"]["reason"]) == ("dead", "discarded")
    assert "AllowedTargetArns" in job["last_error"]


def test_the_workers_own_machine_is_refused(stack: Deployed) -> None:
    """With a secret that it may read, and reads: what is refused is the address."""
    client(stack, "secretsmanager").create_secret(Name="e2e-hooks", SecretString="5ecret")
    for url in ("https://localhost:9001/2018-06-01/runtime/invocation/next", "https://[::1]/", "https://2130706433/"):
        job = ran(stack, "http", {"url": url, "body": {}, "secret_name": "e2e-hooks"})
        assert (job["state"], job["outcome"]["reason"]) == ("dead", "discarded")
        assert job["last_error"].endswith("has an address that is not public")


def test_a_secret_that_the_template_does_not_allow_is_not_read(stack: Deployed) -> None:
    client(stack, "secretsmanager").create_secret(Name="other-hooks", SecretString="5ecret")
    retry = {"max_attempts": 1}
    payload = {"url": "https://localhost/", "secret_name": "other-hooks"}
    job = ended(stack, create(stack, handler="http", payload=payload, retry=retry)["id"])
    assert job["state"] == "dead"
    assert "AllowedSecretArns" in job["last_error"]
