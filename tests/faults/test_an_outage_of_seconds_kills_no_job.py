"""Nobody died, so nobody is told "worker died": what AWS refuses for a moment is done in the next."""

import threading

import pytest
from tests.faults.failing import Faults, refused, throttled
from tests.support.handlers import SCRIPT, ran
from tests.support.jobs import create, job, wake_at
from tests.support.lab import Lab

import worker
from onthedot import wiring
from onthedot.rules.jobs import Retry, State
from onthedot.rules.timing import INDEX_LAG

LARGE = f'"{"x" * 3_000}"'
OUTAGE = "InternalServerError"


def test_a_finish_that_is_throttled_is_made_again(lab: Lab, faults: Faults) -> None:
    """A job that had done its work was dead, for one throttled write."""
    create("now")
    faults.on("UpdateItem", None, throttled(), throttled())
    lab.settle()
    assert job("now").state is State.SUCCEEDED


def test_a_start_whose_answers_are_all_lost_is_looked_for(lab: Lab, faults: Faults) -> None:
    """It had started, nobody knew, and the lease ended without a call of the handler."""
    create("now")

    def done_and_lost(asked: dict[str, object]) -> dict[str, object]:
        lab.dynamodb.update_item(**asked)
        raise refused(OUTAGE, 500)

    faults.on("UpdateItem", done_and_lost, None)
    lab.settle()
    assert (ran(), job("now").state) == (["now"], State.SUCCEEDED)


def test_a_start_that_was_refused_waits_for_the_message(lab: Lab, faults: Faults) -> None:
    create("now")
    faults.on("UpdateItem", throttled())
    lab.settle()
    assert ran() == []
    lab.advance(minutes=4)
    assert job("now").state is State.SUCCEEDED


@pytest.mark.parametrize("outage", [20, 100])
def test_a_failed_attempt_that_is_written_late_is_ahead_of_the_watermark(lab: Lab, faults: Faults, outage: int) -> None:
    """It had the wake of before the outage: drain may have passed that by then, and its message was lost, too."""
    create("now", handler="test.fail", timeout=90, retry=Retry(max_attempts=2))

    def later(_: dict[str, object]) -> None:
        lab.time.shift(outage / 2)
        raise throttled()

    faults.on("UpdateItem", None, later, later)
    (message,) = lab.receive("JobQueue")
    lab.invoke("JobQueue", [message])
    watermark = lab.now() + wiring.world().timing.look_ahead
    lab.purge()
    assert wake_at(job("now")) >= watermark + INDEX_LAG
    lab.advance(minutes=8)
    assert ran() == ["now", "now"]


def test_a_payload_that_cannot_be_read_costs_no_attempt(lab: Lab, faults: Faults) -> None:
    create("large", payload=LARGE)
    faults.on("GetItem", refused(OUTAGE, 500))
    faults.on("UpdateItem", None, throttled())
    lab.advance(seconds=5)
    assert (ran(), job("large").attempt) == (["large"], 1)


def test_a_stuck_handler_never_outlives_its_invocation(
    lab: Lab, faults: Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its finish failed, so nobody ended the process, and the thread went on in the next invocation."""
    ended: list[int] = []
    monkeypatch.setattr(worker, "end_process", lambda: ended.append(threading.active_count()))
    create("never", handler="test.never", timeout=0.05)
    faults.on("UpdateItem", None, refused("ValidationException"))
    (message,) = lab.receive("JobQueue")
    lab.invoke("JobQueue", [message])
    SCRIPT.go_on.set()
    assert len(ended) == 1
