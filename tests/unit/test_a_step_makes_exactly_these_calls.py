"""How many calls each step makes of AWS, which is what a job costs.

The counts are a budget: 0.6 ms of CPU a call, and the number of calls is the throughput.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from benchmarks.counts import CALLS, IDLE, ONE_MESSAGE, Calls
from tests.support import dead, jobs, schedules
from tests.support.lab import Context, Lab, event_of

import dead_letters
import dispatch
import tick
import worker
from onthedot import wiring
from onthedot.messages import ShardMessage, read_job, shard_text
from onthedot.rules.agenda import shard_of
from onthedot.steps.backfill import Window, backfill
from onthedot.steps.bulk import Bulk
from onthedot.steps.finish import Failure, Success, finish
from onthedot.steps.groups import cancel_group
from onthedot.steps.heartbeat import Beat, Pulse
from onthedot.steps.manage import Changed, Stopping, cancel, reschedule, stop
from onthedot.steps.revive import Dead, revive, revive_dead
from onthedot.steps.start import Attempt, start
from onthedot.steps.trigger import Wish, trigger

FAR, NEAR = 3_600, 10
AT_NINE, AT_TEN = "0 9 * * *", "0 10 * * *"
BEFORE_NINE = 52 * 60
"""From the lab's first minute to 08:52:30, when 09:00 becomes a job."""
LARGE = f'"{"x" * 2000}"'


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


def one_dead(lab: Lab, **said: Any) -> None:
    dead.die(lab, "a", **said)


def ten_dead(lab: Lab) -> None:
    """Have ten dead jobs, and as many of another handler."""
    dead.bury(lab, [dead.corpse(f"j{n}", lab.now()) for n in range(10)])
    dead.bury(lab, [dead.corpse(f"k{n}", lab.now(), handler="other") for n in range(10)])
    lab.time.shift(1)


def group_of_ten(lab: Lab) -> None:
    for number in range(10):
        far(f"j{number}", group="g")
        far(f"k{number}")
    assert lab.now()


def again(lab: Lab) -> None:
    assert lab.now()
    assert isinstance(revive(wiring.world(), "job#a", "-"), Changed)


def again_all(lab: Lab) -> None:
    assert revive_dead(wiring.world(), Dead("test.record", lab.now(), timedelta(0))) == Bulk(10, more=False)


def cancel_all(lab: Lab) -> None:
    assert lab.now()
    assert cancel_group(wiring.world(), "g") == Bulk(10, more=False)


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


def taking_turns(lab: Lab, overlap: str) -> None:
    """Let the first slot come of a schedule whose slots must not overlap."""
    schedules.put("s", overlap=overlap, handler="example.echo")
    lab.time.shift(30)


def begin(lab: Lab) -> Attempt:
    """Start the job that has come, and leave its attempt at work."""
    (message,) = lab.receive("JobQueue")
    entry = read_job(message["Body"])
    assert entry is not None
    attempt = start(wiring.world(), entry, wiring.policies())
    assert isinstance(attempt, Attempt)
    return attempt


def second_comes(lab: Lab, overlap: str) -> Attempt:
    """Let the second slot come while the first runs."""
    taking_turns(lab, overlap)
    first = begin(lab)
    lab.time.shift(60)
    return first


def second_waits(lab: Lab) -> None:
    first = second_comes(lab, "wait")
    deliver(lab)
    RUNNING.append(first)


def end_first(lab: Lab) -> None:
    assert lab.now()
    assert finish(wiring.world(), RUNNING.pop(), Success("null"))


def quick(lab: Lab) -> None:
    jobs.create("a", 0, handler="test.quick")
    assert lab.messages()


def begin_near(lab: Lab) -> None:
    near(lab)
    RUNNING.append(begin(lab))


def calling_attempt(wait: timedelta | None) -> Callable[[Lab], Any]:
    """Return the end of an attempt that failed, and is followed by another after this wait, or by none."""
    failure = Failure("boom", "failed", final=wait is None, wait=wait)
    return lambda _: finish(wiring.world(), RUNNING.pop(), failure)


def beat(lab: Lab) -> None:
    pulse = Pulse(wiring.world(), RUNNING.pop(), lambda _: None)
    assert pulse(lab.now() + timedelta(seconds=60)) is Beat.GO_ON


def ask_to_stop(lab: Lab) -> None:
    RUNNING.pop()
    assert lab.now()
    assert isinstance(stop(wiring.world(), "job#a", "-"), Stopping)


def abandon(lab: Lab) -> None:
    """Leave a job whose worker died, and its message when the lease is over."""
    begin_near(lab)
    RUNNING.pop()
    lab.time.shift(190)


def dying(lab: Lab) -> None:
    """Let the third job come of a schedule whose first two have died."""
    schedules.put("s", handler="test.fail", pause_after=3)
    lab.time.shift(30)
    for _ in range(2):
        assert lab.deliver("JobQueue") == 1
        lab.time.shift(60)


def run_by_hand(lab: Lab, job_id: str = "x") -> None:
    assert lab.now()
    trigger(wiring.world(), "s", Wish(job_id, "{}", None))


def ran_by_hand(lab: Lab) -> None:
    scheduled(lab)
    run_by_hand(lab)


def fill_ten(lab: Lab) -> None:
    """Fill in ten slots of the time before the schedule was made."""
    made = schedules.row("s").created_at
    lab.calls.clear()
    assert backfill(wiring.world(), "s", Window(made - timedelta(minutes=10), made, None)) == Bulk(10, more=False)


def moved_zone(lab: Lab) -> None:
    """Leave a schedule as another time zone database timed it, by which nine o'clock was an hour later."""
    scheduled(lab)
    later = {"next_at": {"S": "2027-01-04T10:00:00.000Z"}, "next_local": {"S": "2027-01-04T09:00:00"}}
    schedules.change(lab, "s", tzdata={"S": "1999a"}, **later)


def plan_again(lab: Lab) -> None:
    assert lab.now()
    schedules.look(schedules.row("s"))


def reading(path: str) -> Callable[[Lab], Any]:
    """Return a step that reads something over HTTP."""
    return lambda lab: lab.call("GET", path)


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


def ten_at_once(lab: Lab) -> None:
    batch = [{"id": f"j{number}", "handler": "example.echo", "delay": 1} for number in range(10)]
    assert lab.call("POST", "/jobs/batch", {"jobs": batch}).status == 200


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


RUNNING: list[Attempt] = []
"""Attempts that are at work when the count begins."""
HOLD = {"ChangeMessageVisibility": 1}
WRITTEN = {"GetItem": 1, "TransactWriteItems": 1}
CREATED = WRITTEN | {"Query": 1}
ROWS = {
    "create, near": Row(CALLS["create, near"], near),
    "create, near, large": Row({"PutItem": 2, "SendMessageBatch": 1}, large),
    "create, far": Row(CALLS["create, far"], later),
    "create ten at once, near": Row(CALLS["create ten at once, near"], ten_at_once),
    "create, far, large": Row({"PutItem": 2}, far_and_large),
    "run a job": Row(CALLS["run a job"], deliver, near),
    "run a large job": Row({"UpdateItem": 2, "ChangeMessageVisibility": 1, "GetItem": 1}, deliver, large),
    "run a job whose handler is quicker than others": Row({"UpdateItem": 3} | HOLD, deliver, quick),
    "an attempt that fails, the next near": Row(
        CALLS["an attempt that fails, the next near"], calling_attempt(timedelta(seconds=30)), begin_near
    ),
    "an attempt that fails, the next far": Row({"UpdateItem": 1}, calling_attempt(timedelta(hours=1)), begin_near),
    "an attempt that fails for good": Row({"UpdateItem": 1}, calling_attempt(None), begin_near),
    "a heartbeat": Row({"UpdateItem": 1}, beat, begin_near),
    "ask a running job to stop": Row({"GetItem": 1, "UpdateItem": 1}, ask_to_stop, begin_near),
    "take over from a worker that died": Row({"UpdateItem": 3} | HOLD, deliver, abandon),
    "a message that is over": Row({"UpdateItem": 1}, deliver, over),
    "tick": Row(CALLS["tick"], fire),
    "two shards, first look": Row(CALLS["two shards, first look"], look),
    "two shards, idle": Row(IDLE, look, looked),
    "two shards, 25 entries in one": Row(CALLS["two shards, 25 entries in one"], look, in_one_shard),
    "two shards, one slot to plan": Row(CALLS["two shards, one slot to plan"], look, plan_one),
    "two shards, a page of slots in one": Row(CALLS["two shards, a page of slots in one"], look, plan_many),
    "run a slot's job": Row(CALLS["run a slot's job"], deliver, one_comes),
    "drop a slot's job that an edit made void": Row(
        {"UpdateItem": 1, "GetItem": 2, "DeleteItem": 1, "TransactWriteItems": 1}, deliver, superseded
    ),
    "run a slot's job that must not overlap": Row(
        {"UpdateItem": 4} | HOLD, deliver, partial(taking_turns, overlap="skip")
    ),
    "skip a slot, since another runs": Row(
        {"UpdateItem": 3, "GetItem": 1}, deliver, partial(second_comes, overlap="skip")
    ),
    "put a slot off, since another runs": Row(
        {"UpdateItem": 4, "GetItem": 2} | ONE_MESSAGE, deliver, partial(second_comes, overlap="wait")
    ),
    "finish a slot that another waits for": Row({"UpdateItem": 3, "GetItem": 1} | ONE_MESSAGE, end_first, second_waits),
    "pause a schedule whose third job dies": Row(
        {"UpdateItem": 2, "GetItem": 2, "Query": 2, "TransactWriteItems": 1} | HOLD, deliver, dying
    ),
    "run a schedule by hand": Row({"GetItem": 1, "PutItem": 1} | ONE_MESSAGE, run_by_hand, scheduled),
    "run it by hand again": Row({"GetItem": 1, "PutItem": 1} | ONE_MESSAGE, run_by_hand, ran_by_hand),
    "fill in ten slots": Row({"GetItem": 1, "Query": 1, "TransactWriteItems": 1} | ONE_MESSAGE, fill_ten, minutely),
    "a page of the ledger": Row({"GetItem": 1, "Query": 2}, reading("/schedules/s/ledger"), minutely),
    "the versions of a schedule": Row({"GetItem": 1, "Query": 1}, reading("/schedules/s/versions"), minutely),
    "time a schedule anew": Row({"GetItem": 1, "Query": 2, "TransactWriteItems": 1}, plan_again, moved_zone),
    "create a schedule": Row(CREATED, scheduled),
    "create a schedule, large": Row(CREATED | {"PutItem": 1}, partial(scheduled, payload=LARGE)),
    "create a schedule that comes at once": Row(CREATED | {"TransactWriteItems": 2, "SendMessageBatch": 1}, minutely),
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
    "retry a dead job": Row({"GetItem": 1, "UpdateItem": 1} | ONE_MESSAGE, again, one_dead),
    "retry a dead job, large": Row(
        {"GetItem": 1, "BatchGetItem": 1, "UpdateItem": 1} | ONE_MESSAGE, again, partial(one_dead, payload=LARGE)
    ),
    "retry ten dead jobs": Row(
        {"Scan": 1, "Query": 2, "BatchGetItem": 1, "UpdateItem": 10} | ONE_MESSAGE, again_all, ten_dead
    ),
    "count the dead of a handler": Row(
        {"Scan": 1, "Query": 2, "BatchGetItem": 1},
        lambda lab: lab.call("POST", "/dead/retry", {"handler": "test.record"}, dry_run="true"),
        ten_dead,
    ),
    "cancel ten jobs of a group": Row({"Query": 4, "BatchGetItem": 1, "UpdateItem": 10}, cancel_all, group_of_ten),
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
