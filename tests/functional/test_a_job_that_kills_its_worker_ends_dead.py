"""A job that kills its worker each time has all of its attempts, and ends dead after the last: no more, no fewer."""

from contextlib import suppress

import pytest
from tests.support.handlers import RAN
from tests.support.jobs import create, job
from tests.support.lab import Lab
from tests.support.worlds import Died, die

from onthedot.rules.jobs import Retry, State
from onthedot.steps import work

ATTEMPTS = 8


@pytest.fixture(autouse=True)
def _deadly(monkeypatch: pytest.MonkeyPatch) -> None:
    """End each process before it can write how its attempt ended."""
    monkeypatch.setattr(work, "finish", lambda *_: die())


def pass_minutes(lab: Lab, minutes: int) -> None:
    for _ in range(minutes * 2):
        with suppress(Died):
            lab.advance(seconds=30)


@pytest.mark.parametrize("receives", [100, 3], ids=["template", "three"])
def test_eight_crashes_of_one_job(lab: Lab, receives: int) -> None:
    """A4, trap 9: a takeover had no limit, or SQS gave up on the message of a job that had attempts left."""
    lab.give_up_after(receives)
    create("j1", retry=Retry(max_attempts=ATTEMPTS))
    pass_minutes(lab, 30)
    assert [call.attempt for call in RAN] == list(range(1, ATTEMPTS + 1))
    dead = job("j1")
    assert (dead.state, dead.reason, dead.error) == (State.DEAD, "worker died", "worker died")
    assert [(past.number, past.error) for past in dead.past] == [(n, "worker died") for n in range(1, ATTEMPTS)]
    assert lab.messages() == lab.messages("JobDeadLetterQueue") == []
