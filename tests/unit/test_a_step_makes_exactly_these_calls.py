"""How many calls each step makes of AWS, which is what a job costs, and what its function's role must allow.

The counts are a budget: 0.6 ms of CPU a call, and the number of calls is the throughput.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from tests.faults.failing import cancelled, install
from tests.support import jobs, schedules
from tests.support.lab import Context, Lab, event_of
from tests.template.expansion import expand, listed, referenced

import dead_letters
import dispatch
import tick
import worker
from onthedot import wiring
from onthedot.messages import ShardMessage, shard_text
from onthedot.rules.agenda import shard_of
from onthedot.rules.instants import to_text
from onthedot.steps.manage import cancel, reschedule

FAR, NEAR = 3_600, 10
AT_NINE, AT_TEN = "0 9 * * *", "0 10 * * *"
BEFORE_NINE = 52 * 60
"""From the lab's first minute to 08:52:30, when 09:00 becomes a job."""
LARGE = f'"{"x" * 2000}"'
OWN_EVENTS = {"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ChangeMessageVisibility"}
"""What Lambda does with a function's role for its queue."""
ON_REFUSAL = {("dynamodb:GetItem", "JobsTable")}
"""A refused write returns its item, which may count as a read (aws-traps 47)."""
Calls = dict[str, int]
Grants = set[tuple[str, str]]


def far(name: str = "a", **said: Any) -> None:
    jobs.create(name, FAR, **said)


def many_wake(lab: Lab) -> None:
    names = [name for name in map("n{}".format, range(100)) if shard_of(f"job#{name}", 2) == "0"]
    for name in names[:25]:
        far(name)
    lab.time.shift(FAR - 100)


def look(lab: Lab) -> None:
    for shard in ("0", "1"):
        text = shard_text(ShardMessage(shard, lab.now()))
        dispatch.handler(event_of([{"MessageId": "m", "ReceiptHandle": "r", "Body": text}]), Context("d", 50_000))


def deliver(lab: Lab, function: Any = worker) -> None:
    function.handler(event_of(lab.receive("JobQueue")), Context("w"))


def rescue(lab: Lab) -> None:
    deliver(lab, dead_letters)


def take_back(lab: Lab) -> None:
    assert lab.now()
    cancel(wiring.world(), "job#a", "-")


def move(lab: Lab, seconds: float, payload: str | None = None) -> None:
    run_at = jobs.new("x", seconds).draft.run_at
    assert lab.now() <= run_at
    reschedule(wiring.world(), "job#a", "-", run_at, payload)


def plan_one(lab: Lab) -> None:
    schedules.put("s", cron=AT_NINE)
    looked(lab)
    lab.time.shift(BEFORE_NINE)


def plan_many(lab: Lab) -> None:
    for name in schedules.same_shard(0, 100):
        schedules.put(name, cron=AT_NINE)
    looked(lab)
    lab.time.shift(BEFORE_NINE)


def one_comes(lab: Lab) -> None:
    plan_one(lab)
    look(lab)
    lab.time.shift(8 * 60)
    assert lab.messages()


def superseded(lab: Lab) -> None:
    """Let a job come that an edit made void, by whoever died before it was taken back."""
    one_comes(lab)
    schedules.change(lab, "s", version={"N": "2"}, since={"S": "2027-01-04T08:53:00.000Z"})


def scheduled(lab: Lab, **fields: Any) -> None:
    schedules.put("s", **{"cron": AT_NINE} | fields)
    assert lab.now()


def minutely(lab: Lab) -> None:
    schedules.put("s")
    assert len(lab.messages()) == 10


def paused(lab: Lab) -> None:
    scheduled(lab)
    schedules.hold("s")


def calling(step: Callable[..., Any], *arguments: Any, **fields: Any) -> Callable[[Lab], Any]:
    """Return a step that needs to know nothing of the lab."""
    return lambda _: step(*arguments, **fields)


@dataclass(frozen=True, slots=True)
class Row:
    """What is done before, what is counted, and what it costs."""

    calls: Calls
    step: Callable[[Lab], Any]
    before: Callable[[Lab], Any] | None = None


def looked(lab: Lab) -> None:
    look(lab)
    lab.time.shift(60)


def near(lab: Lab) -> None:
    jobs.create("a", 0, handler="example.echo")
    assert lab.messages()


def large(lab: Lab) -> None:
    jobs.create("a", 0, handler="example.echo", payload=LARGE)
    assert lab.messages()


def later(lab: Lab) -> None:
    far()
    assert not lab.messages()


def far_and_large(lab: Lab) -> None:
    far(payload=LARGE)
    assert not lab.messages()


def over(lab: Lab) -> None:
    near(lab)
    take_back(lab)


def in_one_shard(lab: Lab) -> None:
    looked(lab)
    many_wake(lab)


def fire(lab: Lab) -> None:
    tick.handler({}, Context("tick"))
    assert lab.messages("ShardQueue")


IDLE = {"UpdateItem": 6, "Query": 8}
"""Two shards in which nothing is to be done: two of a shard's four queries look for schedules."""
PLANNED = {"BatchGetItem": 1}
WRITTEN = {"GetItem": 1, "TransactWriteItems": 1}
ROWS = {
    "create, near": Row({"PutItem": 1, "SendMessageBatch": 1}, near),
    "create, near, large": Row({"PutItem": 2, "SendMessageBatch": 1}, large),
    "create, far": Row({"PutItem": 1}, later),
    "create, far, large": Row({"PutItem": 2}, far_and_large),
    "run a job": Row({"UpdateItem": 2, "ChangeMessageVisibility": 1}, deliver, near),
    "run a large job": Row({"UpdateItem": 2, "ChangeMessageVisibility": 1, "GetItem": 1}, deliver, large),
    "a message that is over": Row({"UpdateItem": 1}, deliver, over),
    "tick": Row({"Scan": 1, "SendMessageBatch": 1}, fire),
    "two shards, first look": Row({"UpdateItem": 8, "Query": 10}, look),
    "two shards, idle": Row(IDLE, look, looked),
    "two shards, 25 entries in one": Row(IDLE | {"SendMessageBatch": 3}, look, in_one_shard),
    "two shards, one slot to plan": Row(
        IDLE | PLANNED | {"TransactWriteItems": 1, "SendMessageBatch": 1}, look, plan_one
    ),
    "two shards, a page of slots in one": Row(
        IDLE | PLANNED | {"TransactWriteItems": 100, "SendMessageBatch": 10}, look, plan_many
    ),
    "run a slot's job": Row({"UpdateItem": 2, "ChangeMessageVisibility": 1, "GetItem": 1}, deliver, one_comes),
    "drop a slot's job that an edit made void": Row(
        {"UpdateItem": 1, "GetItem": 1, "DeleteItem": 1}, deliver, superseded
    ),
    "create a schedule": Row(WRITTEN, scheduled),
    "create a schedule, large": Row(WRITTEN | {"PutItem": 1}, partial(scheduled, payload=LARGE)),
    "create a schedule that comes at once": Row(WRITTEN | {"TransactWriteItems": 2, "SendMessageBatch": 1}, minutely),
    "edit a schedule": Row(WRITTEN | {"Query": 1}, partial(scheduled, cron=AT_TEN), scheduled),
    "edit a schedule that has planned ten": Row(WRITTEN | {"Query": 1, "DeleteItem": 10}, scheduled, minutely),
    "edit nothing": Row({"GetItem": 1}, scheduled, scheduled),
    "pause": Row(WRITTEN | {"Query": 1}, calling(schedules.hold, "s"), scheduled),
    "pause what has planned ten": Row(WRITTEN | {"Query": 1}, calling(schedules.hold, "s"), minutely),
    "resume": Row(WRITTEN, calling(schedules.resume, "s"), paused),
    "resume nothing": Row({"GetItem": 1}, calling(schedules.resume, "s"), scheduled),
    "delete a schedule": Row(WRITTEN | {"Query": 1}, calling(schedules.delete, "s"), scheduled),
    "delete a schedule that has planned ten": Row(
        WRITTEN | {"Query": 1, "UpdateItem": 10}, calling(schedules.delete, "s"), minutely
    ),
    "cancel": Row({"GetItem": 1, "UpdateItem": 1}, take_back, later),
    "reschedule, far": Row({"GetItem": 1, "UpdateItem": 1}, lambda lab: move(lab, 2 * FAR), later),
    "reschedule, far, to the time it had": Row({"GetItem": 1, "UpdateItem": 1}, lambda lab: move(lab, FAR), later),
    "reschedule, near": Row({"GetItem": 1, "UpdateItem": 1, "SendMessageBatch": 1}, lambda lab: move(lab, NEAR), later),
    "reschedule, large": Row(
        {"GetItem": 1, "PutItem": 1, "UpdateItem": 1}, lambda lab: move(lab, 2 * FAR, LARGE), later
    ),
    "rescue": Row({"GetItem": 1, "UpdateItem": 1, "SendMessageBatch": 1}, rescue, near),
}


@pytest.mark.parametrize("name", ROWS)
def test_the_table(lab: Lab, name: str) -> None:
    row = ROWS[name]
    if row.before is not None:
        row.before(lab)
    lab.calls.clear()
    row.step(lab)
    made = Counter(call.operation for call in lab.calls)
    made.pop("ReceiveMessage", None)  # by the test, as by Lambda
    assert made == row.calls


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
    """Return what dispatch calls when it skips slots, finds one that has its job, and loses a race of planners."""
    kept, taken, lost = schedules.same_shard(0, 3)
    schedules.put(kept, missed="skip")
    for name in (taken, lost):
        schedules.put(name, cron=AT_NINE)
    lab.time.shift(BEFORE_NINE)
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


def test_worker_may_do_what_it_does(lab: Lab) -> None:
    jobs.create("a")
    jobs.create("b", payload=LARGE)
    superseded(lab)
    lab.calls.clear()
    deliver(lab)
    stray(worker)
    assert used(lab) | ON_REFUSAL == allowed("WorkerRole")


def test_dead_letters_may_do_what_it_does(lab: Lab) -> None:
    jobs.create("a")
    lab.calls.clear()
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
        ("PUT", "/schedules/s", {"handler": "example.echo", "cron": "* * * * *", "payload": "x" * 2000}, {}),
        ("PUT", "/schedules/s", {"handler": "example.echo", "cron": "*/2 * * * *"}, {}),
        ("POST", "/schedules/s/pause", None, {}),
        ("POST", "/schedules/s/resume", None, {}),
        ("GET", "/schedules", None, {}),
        ("GET", "/schedules/s", None, {}),
        ("GET", "/schedules/s/jobs", None, {}),
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
