"""What each function calls is what its role allows: no call is refused in AWS, and no right is left over."""

from datetime import timedelta
from typing import Any

import pytest
from tests.faults.failing import cancelled, install
from tests.support import jobs, schedules
from tests.support.lab import Context, Lab, event_of
from tests.template.expansion import expand, listed, referenced
from tests.unit.test_a_step_makes_exactly_these_calls import (
    AT_NINE,
    BEFORE_NINE,
    LARGE,
    begin,
    deliver,
    look,
    many_wake,
    rescue,
    superseded,
)

import dead_letters
import dispatch
import tick
import worker
from onthedot.messages import ShardMessage, shard_text
from onthedot.rules.instants import to_text

OWN_EVENTS = {"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ChangeMessageVisibility"}
"""What Lambda does with a function's role for its queue."""
ON_REFUSAL = {("dynamodb:GetItem", "JobsTable")}
"""A refused write returns its item, which may count as a read (aws-traps 47)."""
Grants = set[tuple[str, str]]


def used(lab: Lab) -> Grants:
    """Return what was called, as IAM names it: a transaction by each of its writes (aws-traps 47)."""
    found: Grants = set()
    for call in lab.calls:
        if url := call.body.get("QueueUrl"):
            found.add((f"sqs:{call.operation.removesuffix('Batch')}", url.rsplit("/", 1)[1]))
            continue
        if writes := call.body.get("TransactItems"):
            found |= {(f"dynamodb:{kind}Item", write[kind]["TableName"]) for write in writes for kind in write}
            continue
        index = f"/index/{call.body['IndexName']}" if "IndexName" in call.body else ""
        tables = [call.body["TableName"]] if "TableName" in call.body else list(call.body["RequestItems"])
        found |= {(f"dynamodb:{call.operation}", f"{table}{index}") for table in tables}
    lab.calls.clear()
    return {(action, what) for action, what in found if action not in OWN_EVENTS}


def allowed(role: str) -> Grants:
    """Return what a role allows beside its logs and its queue."""
    found: Grants = set()
    for policy in expand().properties(role)["Policies"]:
        for statement in policy["PolicyDocument"]["Statement"]:
            for resource in listed(statement["Resource"]):
                found |= {(action, referenced(resource)) for action in listed(statement["Action"])}
    return {(action, what) for action, what in found if action not in OWN_EVENTS and not action.startswith("logs:")}


def stray(function: Any) -> None:
    function.handler(event_of([{"MessageId": "m", "ReceiptHandle": "r", "Body": "no job"}]), Context("f"))


def test_tick_may_do_what_it_does(lab: Lab) -> None:
    lab.calls.clear()
    tick.handler({}, Context("tick"))
    assert used(lab) == allowed("TickRole")


def used_to_plan(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Grants:
    """Return what dispatch calls when it skips slots, moves some, finds one that has its job, and loses a race."""
    kept, taken, lost, moved = schedules.same_shard(0, 4)
    schedules.put(kept, missed="skip")
    for name in (taken, lost):
        schedules.put(name, cron=AT_NINE)
    lab.time.shift(BEFORE_NINE)
    schedules.put(moved, cron="0-59 * * * *")
    elsewhere = {"next_at": {"S": to_text(lab.now() + timedelta(minutes=30))}}
    schedules.change(lab, moved, tzdata={"S": "1999a"}, **elsewhere)
    before = schedules.row(taken)
    schedules.look(before)
    schedules.change(lab, taken, planned_until={"S": to_text(before.planned_until)}, next_at={"S": to_text(lab.now())})

    def race(asked: dict[str, Any]) -> None:
        if asked["TransactItems"][0]["Update"]["Key"]["name"] == {"S": lost}:
            raise cancelled("ConditionalCheckFailed", None)

    lab.calls.clear()
    with monkeypatch.context() as patch:
        install(patch).on("TransactWriteItems", *[race] * 9)
        look(lab)
    return used(lab)


def test_dispatch_may_do_what_it_does(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a full page, for which it asks for another look, and a message that SQS will never accept."""
    planning = used_to_plan(lab, monkeypatch)
    monkeypatch.setattr("onthedot.steps.drain.PAGE", 1)
    many_wake(lab)
    lab.calls.clear()
    left = iter([50_000, 0, 0, 0])
    context = Context("dispatch")
    monkeypatch.setattr(Context, "get_remaining_time_in_millis", lambda _: next(left, 0))
    text = shard_text(ShardMessage("0", lab.now()))
    event = event_of([{"MessageId": "m", "ReceiptHandle": "r", "Body": text}])
    assert dispatch.handler(event, context) == {"batchItemFailures": []}
    (again,) = lab.receive("ShardQueue")
    failed = {"Failed": [{"Id": "0", "SenderFault": True, "Code": "InvalidMessageContents"}]}
    install(monkeypatch).on("SendMessageBatch", failed)
    left = iter([50_000, 0, 0, 0])
    dispatch.handler(event_of([again]), context)
    assert used(lab) | planning == allowed("DispatchRole")


def fragile(lab: Lab) -> None:
    """Make a schedule that its first death pauses."""
    schedules.put("dies", handler="test.fail", pause_after=1, missed="skip", grace=600, retry={"max_attempts": 1})
    assert lab.now()


def lag(lab: Lab) -> None:
    """Leave slots of it unplanned: of those that are planned before it is paused some are made and some skipped."""
    since = lab.now() - timedelta(minutes=12)
    schedules.change(lab, "dies", planned_until={"S": to_text(since)}, next_at={"S": to_text(since)})
    lab.calls.clear()


def test_worker_may_do_what_it_does(lab: Lab) -> None:
    """With a job whose death pauses its schedule, of which slots that were missed must be planned before."""
    jobs.create("a")
    jobs.create("b", payload=LARGE)
    superseded(lab)
    fragile(lab)
    lab.time.shift(60)
    lag(lab)
    deliver(lab)
    stray(worker)
    assert used(lab) | ON_REFUSAL == allowed("WorkerRole")


def test_dead_letters_may_do_what_it_does(lab: Lab) -> None:
    """With a job whose worker died, which pauses its schedule as its failure would have."""
    fragile(lab)
    lab.time.shift(30)
    begin(lab)
    jobs.create("a")
    lab.time.shift(200)
    lag(lab)
    rescue(lab)
    stray(dead_letters)
    assert used(lab) == allowed("DeadLettersRole")


def test_the_api_may_do_what_it_does(lab: Lab) -> None:
    lab.calls.clear()
    asked: list[tuple[str, str, Any, dict[str, str]]] = [
        ("POST", "/jobs", {"handler": "example.echo", "id": "a", "group": "g", "payload": "x" * 2000}, {}),
        ("GET", "/jobs/a", None, {}),
        ("GET", "/jobs", None, {}),
        ("GET", "/jobs", None, {"group": "g"}),
        ("GET", "/jobs", None, {"state": "dead"}),
        ("GET", "/jobs", None, {"schedule": "s"}),
        ("PATCH", "/jobs/a", {"delay": 60}, {}),
        ("DELETE", "/jobs/a", None, {}),
        ("POST", "/jobs/a/retry", None, {}),
        ("DELETE", "/jobs", None, {"group": "g"}),
        ("POST", "/dead/retry", {"handler": "example.echo"}, {}),
        ("PUT", "/schedules/s", {"handler": "example.echo", "cron": "* * * * *", "payload": "x" * 2000}, {}),
        ("PUT", "/schedules/s", {"handler": "example.echo", "cron": "*/2 * * * *"}, {}),
        ("POST", "/schedules/s/pause", None, {}),
        ("POST", "/schedules/s/resume", None, {}),
        ("GET", "/schedules", None, {}),
        ("GET", "/schedules/s", None, {}),
        ("GET", "/schedules/s/jobs", None, {}),
        ("GET", "/schedules/s/ledger", None, {}),
        ("GET", "/schedules/s/versions", None, {}),
        ("POST", "/schedules/s/trigger", None, {}),
        ("DELETE", "/schedules/s", None, {}),
        ("GET", "/health", None, {}),
    ]
    for method, path, body, query in asked:
        answer = lab.call(method, path, body, **query)
        assert answer.status < 300 or path == "/health", (method, path, answer)
    looks = {("sqs:GetQueueAttributes", queue) for queue in lab.urls}
    found = {call.body["QueueUrl"].rsplit("/", 1)[1] for call in lab.calls if call.operation == "GetQueueAttributes"}
    assert found == lab.urls.keys()
    assert used(lab) == allowed("ApiRole") - looks
