"""What SQS gave up on is judged once more, on the table of a start: no job dies unseen, none runs twice."""

from datetime import timedelta

import pytest
from tests.support.handlers import RAN, ran
from tests.support.jobs import create, entry, job, message
from tests.support.lab import Lab
from tests.support.worlds import Holds, Runner

from onthedot import wiring
from onthedot.rules.jobs import State
from onthedot.steps.manage import cancel
from onthedot.steps.rescue import rescue
from onthedot.steps.start import Attempt, start

WAIT = timedelta(seconds=60)
POLICIES = Runner(3).policies()


def give_up_on(lab: Lab) -> None:
    """Let SQS give up, as it does when throttled workers received a message a hundred times without trying."""
    for copy in lab.messages():
        copy.approximate_receive_count = 100
    assert lab.receive("JobQueue") == []


def test_messages_received_a_hundred_times_without_one_attempt(lab: Lab) -> None:
    """L06: on the hour the workers were throttled, each throttle was a receive, and jobs were dead before a try."""
    made = create("j1")
    give_up_on(lab)
    assert len(lab.messages("JobDeadLetterQueue")) == 1
    assert lab.deliver("JobDeadLetterQueue") == 1
    rescued = job("j1")
    assert (rescued.state, rescued.attempt, rescued.run_at) == (State.SCHEDULED, 0, lab.now() + WAIT)
    assert rescued.wake != made.wake
    lab.advance(seconds=62)
    assert [call.attempt for call in RAN] == [1]
    assert lab.messages("JobDeadLetterQueue") == []


@pytest.mark.usefixtures("lab")
def test_a_running_job_is_left_to_its_owner() -> None:
    """B3: the dead letters' handler put a running job back without a look at its lease, and two ran at once."""
    made, world, holds = create("j1"), wiring.world(), Holds()
    begun = start(world, entry(made), POLICIES)
    assert isinstance(begun, Attempt)
    assert not rescue(world, message(made), POLICIES, holds)
    assert holds.spans == [75 + 4 + 1]
    assert job("j1") == begun.job


def test_a_job_whose_worker_died_goes_on_while_attempts_are_left(lab: Lab) -> None:
    """The attempt is counted, whoever finds it."""
    made, world = create("j1"), wiring.world()
    start(world, entry(made), POLICIES)
    lab.time.shift(80)
    assert rescue(world, message(made), POLICIES, Holds())
    waiting = job("j1")
    assert (waiting.state, waiting.attempt, waiting.lease_until) == (State.SCHEDULED, 1, None)
    assert [(past.number, past.error, past.finished_at) for past in waiting.past] == [(1, "worker died", None)]
    assert waiting.run_at == lab.now() + WAIT
    lab.advance(seconds=62)
    assert [call.attempt for call in RAN] == [2]


def test_a_job_whose_worker_died_for_the_last_time_is_dead(lab: Lab) -> None:
    """Dead after real attempts, and only then."""
    made, world = create("j1"), wiring.world()
    start(world, entry(made), POLICIES)
    lab.time.shift(80)
    assert rescue(world, message(made), Runner(1).policies(), Holds())
    assert (job("j1").state, job("j1").reason, job("j1").wake) == (State.DEAD, "worker died", None)


def test_a_job_that_is_early_keeps_its_time(lab: Lab) -> None:
    """A sender with a fast clock made it early a hundred times over; nothing of the job may change, nor crash."""
    made = create("j1", 600)
    assert rescue(wiring.world(), message(made), POLICIES, Holds())
    assert job("j1") == made
    lab.advance(seconds=602)
    assert ran() == ["j1"]


def test_what_is_stale_or_over_is_dropped(lab: Lab) -> None:
    """A letter may be two weeks old; the job has another time by then, or an outcome."""
    world, made = wiring.world(), create("j1", 60)
    cancel(world, *made.key)
    after = job("j1")
    assert rescue(world, message(made), POLICIES, Holds())
    assert job("j1") == after
    old = message(create("j2", 60))
    lab.time.shift(1)
    moved = create("j3", 60)
    assert rescue(world, old.replace("job#j2", "job#j3"), POLICIES, Holds())
    assert job("j3") == moved
    assert rescue(world, old.replace("job#j2", "job#nobody"), POLICIES, Holds())


def test_a_rescued_job_that_cannot_wait_is_tried_at_once(lab: Lab) -> None:
    """The wait is ours and not the job's: with a `start_within` under a minute it was skipped for our delay."""
    create("j1", start_within=30)
    give_up_on(lab)
    lab.advance(seconds=62)
    assert ran() == ["j1"]
    assert job("j1").state is State.SUCCEEDED


def test_a_job_that_came_too_late_is_skipped_and_not_made_punctual(lab: Lab) -> None:
    """It missed its time before the dead letters saw it; with another run_at it would look as if it had not."""
    made = create("j1", start_within=30)
    give_up_on(lab)
    lab.time.shift(31)
    lab.settle()
    assert (job("j1").state, job("j1").reason, job("j1").run_at) == (State.SKIPPED, "late", made.run_at)
    assert ran() == []
