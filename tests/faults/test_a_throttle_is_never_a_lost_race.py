"""What AWS says about load and outages is one of two errors of ours; all else passes as it is (aws-traps 10 and 13)."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import (
    ClientError,
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    ReadTimeoutError,
)
from tests.faults.failing import Faults, refused, throttled
from tests.support import jobs
from tests.support.handlers import ran
from tests.support.lab import Lab
from tests.unit.making import a_schedule

from onthedot import wiring
from onthedot.rules.errors import Throttled, Unavailable
from onthedot.rules.jobs import ONE_SLOT, State
from onthedot.rules.transitions import started
from onthedot.steps.owned import CHANGES_TRIED
from onthedot.steps.ports import Index, Shard

KEY = ("job#a", ONE_SLOT)
SECOND = timedelta(seconds=1)
URL = "https://x"
THROTTLES = [
    "ThrottlingException",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "RequestThrottled",
    "TooManyRequestsException",
]
OUTAGES = ["InternalServerError", "InternalFailure", "ServiceUnavailable", "500", "502", "503", "504"]
BROKEN = [
    ConnectTimeoutError(endpoint_url=URL),
    ReadTimeoutError(endpoint_url=URL),
    EndpointConnectionError(endpoint_url=URL),
    ConnectionClosedError(endpoint_url=URL),
]


def now() -> Any:
    return wiring.world().clock.now()


def change() -> Any:
    job = jobs.new("a", 3_600).draft
    return wiring.world().jobs.change(job, started(job, "me", now(), now()))


def shards() -> Any:
    return wiring.world().shards.all()


def depths() -> Any:
    return wiring.world().depths()


CALLS: dict[str, tuple[str, Callable[[], Any]]] = {
    "add": ("PutItem", lambda: wiring.world().jobs.add(jobs.new("b").draft, now())),
    "get": ("GetItem", lambda: wiring.world().jobs.get(*KEY)),
    "start": ("UpdateItem", lambda: wiring.world().jobs.start(jobs.entry(jobs.job("a")), "me", now(), SECOND)),
    "change": ("UpdateItem", change),
    "store": ("PutItem", lambda: wiring.world().payloads.store("job#a", "payload#x", "1", now())),
    "page": ("Query", lambda: wiring.world().indexes.page(Index.AGENDA, "0", "", "~", 10)),
    "read": ("BatchGetItem", lambda: wiring.world().indexes.read([KEY])),
    "of_schedule": ("Query", lambda: wiring.world().indexes.of_schedule("job#a", "", 10)),
    "shards": ("Scan", shards),
    "acquire": ("UpdateItem", lambda: wiring.world().shards.acquire("0", "me", None, now(), now(), now())),
    "move": ("UpdateItem", lambda: wiring.world().shards.move(Shard("0", "me", "", None), "x")),
    "depths": ("GetQueueAttributes", depths),
    "remove": ("DeleteItem", lambda: wiring.world().jobs.remove(jobs.job("a"))),
    "schedule": ("GetItem", lambda: wiring.world().schedules.get("s")),
    "schedules": ("BatchGetItem", lambda: wiring.world().schedules.read(["s"])),
    "due": ("Query", lambda: list(wiring.world().schedules.due("0", now() - SECOND, now()))),
    "page of schedules": ("Scan", lambda: wiring.world().schedules.page("", 10)),
    "write a schedule": ("TransactWriteItems", lambda: wiring.world().schedules.write(None, a_schedule(), [])),
    "mark broken": ("UpdateItem", lambda: wiring.world().schedules.mark_broken(a_schedule(), "why", "stamp")),
}

SOME = ["add", "get", "start", "page", "shards", "depths", "due", "write a schedule", "mark broken"]


@pytest.fixture(autouse=True)
def _a_job(lab: Lab) -> None:  # noqa: ARG001 - in the lab
    jobs.create("a", 3_600)


def raised(faults: Faults, name: str, error: Exception) -> Exception:
    """Return what comes of a call that AWS answers with an error, however often it is made."""
    operation, call = CALLS[name]
    faults.on(operation, *[error] * 50)
    with pytest.raises(Exception, match=r".*") as caught:
        call()
    faults.on(operation)
    return caught.value


def test_a_full_index_is_a_throttle(faults: Faults) -> None:
    before = jobs.job("a")
    assert {name: type(raised(faults, name, throttled())) for name in CALLS} == dict.fromkeys(CALLS, Throttled)
    assert jobs.job("a") == before


def test_every_word_for_too_many_is_known(faults: Faults) -> None:
    for name in ("add", "get"):
        assert {type(raised(faults, name, throttled(code))) for code in THROTTLES} == {Throttled}


def test_every_answer_of_a_server_that_failed_is_an_outage(faults: Faults) -> None:
    """A proxy's answer has no code but its status: it was passed on as a crash."""
    for name in ("add", "get"):
        for code in OUTAGES:
            error = refused(code, status=int(code) if code.isdigit() else 500)
            assert type(raised(faults, name, error)) is Unavailable, (name, code)


def test_no_answer_is_an_outage(faults: Faults) -> None:
    for error in BROKEN:
        assert {name: type(raised(faults, name, error)) for name in SOME} == dict.fromkeys(SOME, Unavailable)


@pytest.mark.parametrize("code", ["AccessDeniedException", "ValidationException", "ResourceNotFoundException"])
def test_what_we_do_not_know_passes_as_it_is(faults: Faults, code: str) -> None:
    """It was raised from itself, a chain without an end for whoever walks it."""
    for name in CALLS:
        error = raised(faults, name, refused(code))
        assert isinstance(error, ClientError)
        assert error.__cause__ is not error


@pytest.mark.parametrize("error", [throttled(), refused("InternalServerError", 500), BROKEN[1]], ids=str)
def test_a_worker_that_could_not_start_leaves_its_message(lab: Lab, faults: Faults, error: Exception) -> None:
    jobs.create("now")
    faults.on("UpdateItem", error)
    (message,) = lab.receive("JobQueue")
    assert lab.invoke("JobQueue", [message]) == {message["Body"]}
    assert jobs.job("now").state is State.SCHEDULED
    assert ran() == []
    lab.advance(minutes=10)
    assert ran() == ["now"]


def test_a_worker_that_could_not_finish_leaves_its_message(lab: Lab, faults: Faults) -> None:
    jobs.create("now")
    faults.on("UpdateItem", None, *[throttled()] * CHANGES_TRIED)
    (message,) = lab.receive("JobQueue")
    assert lab.invoke("JobQueue", [message]) == {message["Body"]}
    assert jobs.job("now").state is State.RUNNING
    lab.advance(minutes=10)
    now = jobs.job("now")
    assert (now.state, now.attempt, now.past[0].error) == (State.SUCCEEDED, 2, "worker died")


def test_a_stray_that_cannot_be_kept_stays_where_it_is(lab: Lab, faults: Faults) -> None:
    lab.sqs.send_message(QueueUrl=lab.urls["JobQueue"], MessageBody="no job")
    faults.on("SendMessage", throttled())
    (message,) = lab.receive("JobQueue")
    assert lab.invoke("JobQueue", [message]) == {"no job"}


def test_a_visibility_that_cannot_be_set_costs_nothing_but_time(lab: Lab, faults: Faults) -> None:
    jobs.create("now")
    faults.on("ChangeMessageVisibility", throttled())
    lab.settle()
    assert ran() == ["now"]
    assert jobs.job("now").state is State.SUCCEEDED
