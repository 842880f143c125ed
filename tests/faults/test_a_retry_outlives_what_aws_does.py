"""Whichever call of a retry AWS fails: no job is lost or runs twice, and what was done in bulk is told."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError
from tests.faults.failing import Faults, throttled
from tests.support.dead import bury, corpse
from tests.support.handlers import ran
from tests.support.jobs import create, job
from tests.support.lab import Answer, Lab

from onthedot.rules.jobs import State
from onthedot.steps import bulk

COUNT = 6
LOST = ReadTimeoutError(endpoint_url="here")
NAMES = [f"j{n}" for n in range(COUNT)]


def bury_some(lab: Lab) -> None:
    bury(lab, [corpse(name, lab.now()) for name in NAMES])
    lab.time.shift(1)


def retry_all(lab: Lab) -> Answer:
    return lab.call("POST", "/dead/retry", {})


def cancel_all(lab: Lab) -> Answer:
    return lab.call("DELETE", "/jobs", group="g")


def until_done(lab: Lab, call: Callable[[Lab], Answer]) -> None:
    """Call again as a client does, until there are no more."""
    for _ in range(5):
        answer = call(lab)
        if answer.status == 200 and not answer.body["more"]:
            return
    pytest.fail("it does not end")


CALLS = [("Scan", 0), ("Query", 0), ("Query", 1), ("BatchGetItem", 0), *[("UpdateItem", n) for n in range(COUNT)]]


@pytest.mark.parametrize("error", [throttled(), LOST], ids=["throttled", "no answer"])
@pytest.mark.parametrize(("operation", "number"), [*CALLS, ("SendMessageBatch", 0), ("SendMessageBatch", 1)])
def test_at_each_call_of_a_bulk_retry(
    lab: Lab, faults: Faults, monkeypatch: pytest.MonkeyPatch, operation: str, number: int, error: Exception
) -> None:
    monkeypatch.setattr(bulk, "AT_ONCE", 3)
    bury_some(lab)
    faults.on(operation, *[None] * number, error)
    answer = retry_all(lab)
    again = [name for name in NAMES if job(name).state is State.SCHEDULED]
    if answer.status == 200:
        assert answer.body == {"count": len(again), "more": len(again) < COUNT}
    else:
        assert (answer.status, again) == (429 if error is not LOST else 503, [])
    until_done(lab, retry_all)
    lab.advance(minutes=6)
    assert Counter(ran()) == dict.fromkeys(NAMES, 1)


def lose_answer(lab: Lab, faults: Faults) -> None:
    """Let the next update take effect, and answer it only with a timeout."""

    def lost(arguments: dict[str, Any]) -> dict[str, Any]:
        faults.answers["UpdateItem"] = []
        lab.dynamodb.update_item(**arguments)
        raise LOST

    faults.on("UpdateItem", lost)


@pytest.mark.parametrize("path", ["/jobs/j0/retry", "/dead/retry"])
def test_a_write_whose_answer_was_lost_is_run_once_all_the_same(lab: Lab, faults: Faults, path: str) -> None:
    """Its message was never sent: drain finds it on the agenda. Whoever asks again is told that it goes again."""
    bury(lab, [corpse("j0", lab.now())])
    lab.time.shift(1)
    lose_answer(lab, faults)
    assert lab.call("POST", path, {}).status == 503
    assert lab.call("POST", "/jobs/j0/retry").status == 409
    assert retry_all(lab).body == {"count": 0, "more": False}
    lab.advance(minutes=6)
    assert ran() == ["j0"]


def test_a_retry_that_nobody_could_hand_over_is_late_and_not_lost(lab: Lab, faults: Faults) -> None:
    bury(lab, [corpse("j0", lab.now())])
    faults.on("SendMessageBatch", *[LOST] * 5)
    assert lab.call("POST", "/jobs/j0/retry").status == 200
    assert lab.messages() == []
    faults.answers.clear()
    lab.advance(minutes=6)
    assert ran() == ["j0"]


GROUP_CALLS = [("Query", 0), ("Query", 3), ("BatchGetItem", 0), ("UpdateItem", 0), ("UpdateItem", 4)]


@pytest.mark.parametrize("error", [throttled(), LOST], ids=["throttled", "no answer"])
@pytest.mark.parametrize(("operation", "number"), GROUP_CALLS)
def test_at_each_call_of_a_groups_cancellation(
    lab: Lab, faults: Faults, monkeypatch: pytest.MonkeyPatch, operation: str, number: int, error: Exception
) -> None:
    monkeypatch.setattr(bulk, "AT_ONCE", 3)
    for name in NAMES:
        create(name, 600, group="g")
    faults.on(operation, *[None] * number, error)
    answer = cancel_all(lab)
    gone = [name for name in NAMES if job(name).state is State.CANCELLED]
    if answer.status == 200:
        assert answer.body == {"count": len(gone), "more": True}
    else:
        assert gone == []
    until_done(lab, cancel_all)
    lab.advance(minutes=11)
    assert ran() == []
