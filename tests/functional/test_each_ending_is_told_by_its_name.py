"""How an attempt ended is told once, by the event that dashboards and alarms count."""

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import cast

import pytest
from tests.support.jobs import create, entry, job

from onthedot import wiring
from onthedot.rules.events import Event
from onthedot.rules.jobs import Job
from onthedot.steps.finish import Ending, Failure, Success, finish
from onthedot.steps.manage import stop
from onthedot.steps.ports import Journal
from onthedot.steps.start import Attempt, start


@dataclass(slots=True)
class Notes:
    """A journal that remembers what it was told of jobs."""

    events: list[Event] = field(default_factory=list)

    def job(self, event: Event, job: Job) -> None:  # noqa: ARG002
        """Remember an event."""
        self.events.append(event)


def told(ending: Ending, *, stopped: bool = False, twice: bool = False) -> list[Event]:
    """Return what is told when an attempt ends so."""
    create("j1")
    attempt, notes = start(wiring.world(), entry(job("j1")), wiring.policies()), Notes()
    assert isinstance(attempt, Attempt)
    if stopped:
        stop(wiring.world(), *attempt.job.key)
    if twice:
        finish(wiring.world(), attempt, Success("1"))
    finish(replace(wiring.world(), journal=cast(Journal, notes)), attempt, ending)
    return notes.events


@pytest.mark.usefixtures("lab")
@pytest.mark.parametrize(
    ("ending", "event"),
    [
        (Success("null"), Event.JOB_SUCCEEDED),
        (Failure("boom", "failed"), Event.ATTEMPT_FAILED),
        (Failure("boom", "failed", wait=timedelta(days=1)), Event.ATTEMPT_FAILED),
        (Failure("gone", "discarded", final=True), Event.JOB_DEAD),
    ],
    ids=str,
)
def test_an_attempt_that_ends_is_told_of_once(ending: Ending, event: Event) -> None:
    assert told(ending) == [event]


@pytest.mark.usefixtures("lab")
def test_one_that_was_asked_to_stop_is_cancelled() -> None:
    assert told(Failure("boom", "failed"), stopped=True) == [Event.JOB_CANCELLED]


@pytest.mark.usefixtures("lab")
def test_one_that_came_too_late_is_told_as_lost() -> None:
    assert told(Failure("boom", "failed"), twice=True) == [Event.FINISH_LOST]
