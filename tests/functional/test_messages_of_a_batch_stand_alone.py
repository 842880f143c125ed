"""Each message of a batch is judged by itself: a slow, late or broken neighbour changes nothing for the others."""

import threading
from typing import Any

import pytest
from tests.support.handlers import RAN, SCRIPT, ran
from tests.support.jobs import create, job, message
from tests.support.lab import Lab
from tests.support.worlds import Died, die

import worker
from onthedot import wiring
from onthedot.rules.jobs import State
from onthedot.steps.work import work


def batch(lab: Lab) -> list[dict[str, Any]]:
    return sorted(lab.receive("JobQueue"), key=lambda copy: str(copy["Body"]))


def test_what_is_not_done_is_reported_and_the_rest_is_acknowledged(lab: Lab) -> None:
    """Reported as a whole, one failed message brought its nine neighbours back."""
    for name in ("a", "b", "c"):
        create(name, 0)
    early = message(create("early", 500))
    copies = [*batch(lab), {"MessageId": "m", "ReceiptHandle": "r", "Body": early}]
    copies.insert(1, {"MessageId": "s", "ReceiptHandle": "s", "Body": "no job"})
    assert lab.answer("JobQueue", copies) == ["m"]
    assert sorted(ran()) == ["a", "b", "c"]


def test_a_message_that_breaks_the_worker_is_reported_alone(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception that left the function failed the whole batch, and every job of it waited for its visibility."""
    for name in ("a", "b", "c"):
        create(name)
    copies = batch(lab)

    def breaks(*arguments: Any) -> Any:
        if '"job#b"' in arguments[1]:
            raise RuntimeError("a bug of ours")
        return work(*arguments)

    monkeypatch.setattr(worker, "work", breaks)
    assert lab.invoke("JobQueue", copies) == {copies[1]["Body"]}
    assert sorted(ran()) == ["a", "c"]


def test_a_slow_job_delays_none_of_its_batch(lab: Lab) -> None:
    """One after the other, the second job started when the first was over."""
    create("a-slow", handler="test.meanwhile")
    create("b-quick")
    SCRIPT.meanwhile = lambda: SCRIPT.go_on.wait(10)
    SCRIPT.afterwards = SCRIPT.go_on.set
    assert lab.invoke("JobQueue", batch(lab)) == set()
    assert job("a-slow").result == "true", "it waited for its neighbour, which had to run meanwhile"


def test_what_cannot_be_done_in_the_time_left_is_shown_again_at_once(lab: Lab) -> None:
    """B8: started late it would have died with the function, and its job waited for the lease."""
    made = create("j1")
    [copy] = batch(lab)
    assert lab.invoke("JobQueue", [copy], remaining=104_999) == {copy["Body"]}
    assert job("j1") == made
    lab.time.shift(0.001)
    [again] = batch(lab)
    assert again["MessageId"] == copy["MessageId"], "its visibility is 0"
    assert lab.invoke("JobQueue", [again], remaining=105_000) == set()
    assert ran() == ["j1"]


def test_no_thread_is_left_when_an_invocation_ends(lab: Lab) -> None:
    """A thread that is left freezes with the process, and goes on in the next invocation."""
    for number in range(8):
        create(f"j{number}")
    create("far", 1_000)
    lab.settle()
    lab.time.shift(900)
    lab.tick()
    assert len(RAN) == 8
    assert threading.active_count() == 1


def test_a_handler_that_never_ends_is_recorded_and_its_process_ended(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """B10: its thread thawed in the next invocation, beside the next attempt. Its neighbours are written first."""
    create("a")
    create("never", handler="test.never", timeout=0.05)
    create("z")
    states: dict[str, State] = {}

    def end_process() -> None:
        states.update({name: job(name).state for name in ("a", "never", "z")})
        die()

    monkeypatch.setattr(worker, "end_process", end_process)
    with pytest.raises(Died):
        lab.invoke("JobQueue", batch(lab))
    assert states == {"a": State.SUCCEEDED, "never": State.DEAD, "z": State.SUCCEEDED}
    assert (job("never").error, job("never").reason) == ("timed out after 0.05 s", "timed out")
    SCRIPT.go_on.set()
    lab.advance(minutes=4)
    assert sorted(ran()) == ["a", "never", "z"], "their messages come back, and find outcomes"
    assert lab.messages() == []


def test_a_process_is_ended_for_nothing_else(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ending it costs a cold start, and every other message of the batch its visibility."""
    monkeypatch.setattr(worker, "end_process", die)
    for handler in ("record", "fail", "discard", "retry_after", "unknown"):
        create(handler, handler=f"test.{handler}")
    assert lab.invoke("JobQueue", batch(lab)) == set()
    assert {name: job(name).state for name in ("record", "fail", "unknown")} == {
        "record": State.SUCCEEDED,
        "fail": State.DEAD,
        "unknown": State.SCHEDULED,
    }


def test_the_longest_attempt_fits_into_the_lease_of_one_that_says_nothing(lab: Lab) -> None:
    """A handler with a short timeout of its own shortened every job's lease, also of those that may take a minute."""
    create("j1", handler="test.meanwhile")
    seen = []
    SCRIPT.meanwhile = lambda: seen.append(job("j1"))
    lab.settle()
    [running] = seen
    assert running.lease_until is not None
    timeout = wiring.policies().of(running).timeout
    assert running.lease_until >= lab.now() + timeout + wiring.world().timing.margin
