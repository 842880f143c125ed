"""A database that fails for minutes, a queue that takes nothing: no job is dead untried, and afterwards all run."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any

import pytest
from botocore.client import BaseClient
from botocore.exceptions import ClientError, ConnectTimeoutError
from tests.faults.failing import refused, throttled
from tests.support import schedules
from tests.support.handlers import RAN, SCRIPT, ran
from tests.support.jobs import create, job
from tests.support.lab import Lab

from onthedot.clock import SystemClock
from onthedot.rules.errors import Unavailable
from onthedot.rules.jobs import Retry, State

OUTAGE = timedelta(minutes=5)
QUEUE_CALLS = {"SendMessage", "SendMessageBatch", "ReceiveMessage", "DeleteMessage", "ChangeMessageVisibility"}
SECONDS = {ClientError: 0.3, ConnectTimeoutError: 3.0}
"""What the SDK's own tries take."""

Fails = Callable[[str, dict[str, Any]], bool]


def no_answer() -> Exception:
    return ConnectTimeoutError(endpoint_url="https://dynamodb")


def broken() -> Exception:
    return refused("InternalServerError", 500)


def everything(operation: str, _: dict[str, Any]) -> bool:
    """Tell whether it is one of DynamoDB's calls."""
    return operation not in {*QUEUE_CALLS, "GetQueueAttributes"}


def agenda(operation: str, arguments: dict[str, Any]) -> bool:
    """Tell whether it reads the agenda, or writes a job: a full index holds back the table's own writes (trap 10)."""
    if operation == "Query":
        return arguments.get("IndexName") == "agenda"
    return operation in {"PutItem", "UpdateItem"} and "Jobs" in arguments["TableName"]


def job_queue(operation: str, arguments: dict[str, Any]) -> bool:
    """Tell whether it sends jobs."""
    return operation == "SendMessageBatch" and arguments["QueueUrl"].endswith("/JobQueue")


@contextmanager
def outage(lab: Lab, fails: Fails, error: Callable[[], Exception]) -> Iterator[None]:
    """Have calls fail for as long as it lasts; each takes its time."""
    original, tick = BaseClient._make_api_call, Lab.tick  # type: ignore[attr-defined]

    def call(client: BaseClient, operation: str, arguments: dict[str, Any]) -> Any:
        if not fails(operation, arguments):
            return original(client, operation, arguments)
        failed = error()
        lab.time.shift(SECONDS[type(failed)])
        raise failed

    def tick_or_fail(lab: Lab) -> None:
        with suppress(ClientError, Unavailable, RuntimeError):
            tick(lab)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Lab, "tick", tick_or_fail)
        patch.setattr(BaseClient, "_make_api_call", call)
        patch.setattr(SystemClock, "pause", lambda _: lab.time.shift(0.03))
        yield


def jobs_of_all_kinds() -> list[str]:
    """Create jobs that are due, on their way, and handed over while the outage lasts, and one that waits to retry."""
    made = [create(f"due-{seconds}", seconds) for seconds in (61, 90, 200)]
    made += [create(f"far-{minutes}", minutes * 60) for minutes in (16, 30)]
    made.append(create("retries", handler="test.flaky", retry=Retry(first=100, factor=1)))
    return [one.id for one in made]


def at_last(lab: Lab, names: list[str]) -> None:
    """Let the time after an outage pass, and look whether each job has run, once."""
    lab.rhythm = timedelta(minutes=2)
    lab.advance(minutes=45)
    assert {name: job(name).state for name in names} == dict.fromkeys(names, State.SUCCEEDED)
    assert {name: [call.attempt for call in RAN if call.id == name] for name in names} == {
        name: [1, 2] if name == "retries" else [1] for name in names
    }
    assert not any("job#" in message.body for message in (*lab.messages(), *lab.messages("JobDeadLetterQueue")))


FAILURES: list[tuple[Fails, Callable[[], Exception]]] = [
    (everything, throttled),
    (everything, no_answer),
    (everything, broken),
    (agenda, throttled),
]


@pytest.mark.parametrize(("fails", "error"), FAILURES, ids=["throttles", "no answer", "errors", "the agenda only"])
def test_a_database_that_fails_for_five_minutes(lab: Lab, fails: Fails, error: Callable[[], Exception]) -> None:
    """Each start that failed was a receive, and each finish that failed a lease that ran out."""
    SCRIPT.succeeds_at = 2
    schedules.put("s", cron="*/5 * * * *", handler="test.record")
    names = jobs_of_all_kinds()
    lab.advance(seconds=60)
    with outage(lab, fails, error):
        ends_at = lab.now() + OUTAGE
        assert lab.call("POST", "/jobs", {"handler": "test.record"}).status in {429, 503}
        lab.calls.clear()
        while lab.now() < ends_at:
            lab.advance(seconds=10)
    acknowledged = [call for call in lab.called("DeleteMessage") if call["QueueUrl"] == lab.urls["JobQueue"]]
    assert acknowledged == [], "each message still has something to tell"
    assert not any(one["state"]["S"] == State.DEAD for one in lab.items() if "state" in one)
    at_last(lab, names)
    slots = schedules.slots_of("s").values()
    assert {one.state for one in slots if one.run_at < lab.now() - timedelta(minutes=10)} == {State.SUCCEEDED}


def test_a_finish_that_fails_for_longer_than_its_lease(lab: Lab) -> None:
    """It had succeeded, and nobody could write it: the next attempt does it again, with the same key."""
    create("j1", handler="test.meanwhile")
    with outage(lab, lambda *asked: bool(RAN) and everything(*asked), throttled):
        lab.advance(minutes=5)
        assert (ran(), RAN[0].attempt) == (["j1"], 1)
    lab.advance(minutes=10)
    assert [call.attempt for call in RAN] == [1, 2]
    assert len({call.key for call in RAN}) == 1
    assert (job("j1").state, [past.error for past in job("j1").past]) == (State.SUCCEEDED, ["worker died"])


REFUSALS = ["OverLimit", "RequestThrottled", "ServiceUnavailable", "InternalFailure"]


@pytest.mark.parametrize("code", REFUSALS)
def test_a_queue_that_takes_nothing_for_minutes(lab: Lab, code: str) -> None:
    """L02: what is stored is accepted; what was not sent stays before the watermark, and goes once there is room."""
    SCRIPT.succeeds_at = 2
    with outage(lab, job_queue, lambda: refused(code)):
        names = jobs_of_all_kinds()
        assert lab.call("POST", "/jobs", {"handler": "test.record", "id": "asked"}).status == 201
        lab.advance(minutes=12)
        assert (ran(), lab.messages()) == ([], [])
    ended_at = lab.now()
    at_last(lab, [*names, "asked"])
    late = [call.at - max(job(call.id).run_at, ended_at) for call in RAN if call.attempt == 1 and call.id != "retries"]
    assert max(late) <= timedelta(minutes=3), "the next look hands it over"
