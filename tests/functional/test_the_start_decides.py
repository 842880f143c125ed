"""The start's table, row by row, through the real conditional write: the poller may send whatever it likes."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from tests.support.handlers import ran
from tests.support.jobs import create, entry, job, there
from tests.support.lab import Lab
from tests.support.worlds import Runner, skewed

from onthedot import wiring
from onthedot.rules.agenda import Entry
from onthedot.rules.jobs import Job, State
from onthedot.rules.starting import Verdict
from onthedot.rules.transitions import WORKER_DIED, ended
from onthedot.steps.finish import Success, finish
from onthedot.steps.manage import cancel
from onthedot.steps.start import LATE, Attempt, Drop, Start, Wait, start

LEASE = timedelta(seconds=60 + 15)
GUARD = timedelta(seconds=4)  # twice the skew that is allowed for


def begin(name: str, policies: int = 3, ahead: float = 0) -> Start:
    """Start a job by the message of its present wake, on a machine whose clock is ahead."""
    return start(skewed(ahead), entry(job(name)), Runner(policies).policies())


def test_due_by_its_own_wake_it_runs(lab: Lab) -> None:
    """Row 1. The wake stays: a job that left the agenda at its start was lost with its message (A1)."""
    made = create("j1")
    begun = begin("j1")
    assert isinstance(begun, Attempt)
    assert begun.job == job("j1")
    assert begun.job == replace(
        made,
        state=State.RUNNING,
        attempt=1,
        owner=begun.job.owner,
        started_at=lab.now(),
        lease_until=lab.now() + LEASE,
    )
    assert begun.job.owner not in (None, made.owner)
    assert begun.job.wake == made.wake is not None
    assert [item for item in lab.items() if "agenda" in item]


def test_a_job_with_a_timeout_is_leased_for_it(lab: Lab) -> None:
    """One lease for all would let another worker in before a long attempt is over."""
    create("j1", timeout=90)
    begun = begin("j1")
    assert isinstance(begun, Attempt)
    assert begun.job.lease_until == lab.now() + timedelta(seconds=90 + 15)
    assert begun.policy.timeout == timedelta(seconds=90)


@pytest.mark.usefixtures("lab")
def test_before_its_time_the_message_waits() -> None:
    """Row 2: a clock is ahead."""
    create("j1", 12.5)
    assert begin("j1") == Wait(timedelta(seconds=12.5))
    assert job("j1").state is State.SCHEDULED


@pytest.mark.usefixtures("lab")
def test_by_another_wake_it_is_stale() -> None:
    """Row 3: a message of a time that the job no longer has."""
    made = create("j1")
    old = Entry(entry(made).wake - timedelta(seconds=1), *made.key)
    assert start(wiring.world(), old, Runner().policies()) == Drop(Verdict.STALE)
    assert job("j1") == made


def test_while_another_attempt_owns_it_the_message_waits_for_its_lease(lab: Lab) -> None:
    """Row 5, to the last millisecond of the lease and the skew of both clocks."""
    create("j1")
    first = begin("j1")
    assert isinstance(first, Attempt)
    assert begin("j1") == Wait(LEASE + GUARD + timedelta(seconds=1))
    lab.advance(seconds=0)
    lab.time.shift(LEASE + GUARD)
    assert begin("j1") == Wait(timedelta(seconds=1))
    assert job("j1") == first.job


def test_a_lease_that_is_over_is_taken_over_while_attempts_are_left(lab: Lab) -> None:
    """Row 6. The old owner wakes up, and its end must change nothing (A3: owners never repeat, numbers may)."""
    create("j1")
    first = begin("j1")
    lab.time.shift(LEASE + GUARD + timedelta(milliseconds=1))
    second = begin("j1")
    assert isinstance(first, Attempt)
    assert isinstance(second, Attempt)
    assert (second.job.attempt, second.job.lease_until) == (2, lab.now() + LEASE)
    assert second.job.owner != first.job.owner
    assert not finish(wiring.world(), first, Success('"stale"'))
    assert job("j1") == second.job
    assert finish(wiring.world(), second, Success('"mine"'))
    assert job("j1").result == '"mine"'


def test_a_lease_that_is_over_with_no_attempt_left_is_its_end(lab: Lab) -> None:
    """Row 7. A job that kills its process was taken over for ever (A4); two writes would leave it between them."""
    create("j1")
    begin("j1", 1)
    lab.time.shift(LEASE + GUARD + timedelta(milliseconds=1))
    lab.calls.clear()
    assert begin("j1", 1) == Drop(Verdict.OVER)
    dead = job("j1")
    assert (dead.state, dead.reason, dead.error, dead.attempt) == (State.DEAD, WORKER_DIED, WORKER_DIED, 1)
    assert dead.wake is None
    assert len(lab.called("UpdateItem")) == 2, "the refused start, and one write that ends it"


def test_the_cap_counts_attempts_and_not_receives(lab: Lab) -> None:
    """With three attempts a poison job runs three times; without the cap it ran until SQS gave up."""
    create("j1")
    for attempt in (1, 2, 3):
        begun = begin("j1", 3)
        assert isinstance(begun, Attempt)
        assert begun.job.attempt == attempt
        assert isinstance(begin("j1", 3), Wait), "more messages are no more attempts"
        lab.time.shift(LEASE + GUARD + timedelta(milliseconds=1))
    assert begin("j1", 3) == Drop(Verdict.OVER)
    assert job("j1").state is State.DEAD


def _cancelled(made: Job) -> None:
    cancel(wiring.world(), *made.key)


def _succeeded(made: Job) -> None:
    world = wiring.world()
    begun = start(world, entry(made), Runner().policies())
    assert isinstance(begun, Attempt)
    assert finish(world, begun, Success("null"))


def _gone(made: Job) -> None:
    wiring.world().jobs.change(made, ended(made, State.CANCELLED, made.created_at, timedelta(0)))


@pytest.mark.parametrize("end", [_cancelled, _succeeded, _gone])
def test_with_an_outcome_or_gone_the_message_is_dropped(lab: Lab, end: Callable[[Job], None]) -> None:  # noqa: ARG001
    """Row 8: whatever became of it, an old message must not bring it back."""
    made = create("j1")
    end(made)
    after = there("j1")
    assert start(wiring.world(), entry(made), Runner().policies()) == Drop(Verdict.OVER)
    assert there("j1") == after


def test_a_job_that_never_was_is_dropped(lab: Lab) -> None:
    """A start that writes where nothing is would make a job out of a message."""
    entry_of_none = Entry(lab.now(), "job#nobody", "-")
    assert start(wiring.world(), entry_of_none, Runner().policies()) == Drop(Verdict.OVER)
    assert lab.items() == []


def test_a_job_that_could_not_start_in_time_is_skipped(lab: Lab) -> None:
    """`start_within`: a reminder an hour late is worse than none. Its outcome says so; nothing is silent."""
    create("late", start_within=10)
    create("punctual", start_within=10)
    lab.time.shift(10)
    assert isinstance(begin("punctual"), Attempt)
    lab.time.shift(0.001)
    lab.settle()
    late = job("late")
    assert (late.state, late.reason, late.error, late.attempt) == (State.SKIPPED, LATE, None, 0)
    assert late.wake is None
    assert ran() == []
    assert late.expires_at is not None


NO_JOBS = [
    "",
    "hello",
    "[1]",
    '{"v":2,"schedule":"job#j1","slot":"-","wake":"2027-01-04T08:05:30.000Z"}',
    '{"v":1,"schedule":"job#j1","slot":"-","wake":"tomorrow"}',
    '{"v":1,"schedule":"","slot":"-","wake":"2027-01-04T08:05:30.000Z"}',
    "[" * 100_000,
]


@pytest.mark.parametrize("queue", ["JobQueue", "JobDeadLetterQueue"])
def test_a_message_that_is_no_job_is_kept_for_a_person(lab: Lab, queue: str) -> None:
    """One poison message came back a hundred times, then vanished from the dead letters with nobody the wiser."""
    made = create("j1", 300)
    records = [{"MessageId": f"m{n}", "ReceiptHandle": f"r{n}", "Body": text} for n, text in enumerate(NO_JOBS)]
    assert lab.answer(queue, records) == []
    assert sorted(stray.body for stray in lab.messages("StrayQueue")) == sorted(text or " " for text in NO_JOBS)
    reasons = {call["MessageAttributes"]["reason"]["StringValue"] for call in lab.called("SendMessage")}
    assert reasons == {"this message is no job"}
    assert job("j1") == made


def test_what_is_held_says_for_how_long_on_its_queue(lab: Lab) -> None:
    """The message of a running job comes back when its lease is over, not a hundred times before."""
    create("j1")
    begin("j1")
    [message] = lab.receive("JobQueue")
    assert lab.invoke("JobQueue", [message]) == {message["Body"]}
    [kept] = lab.messages()
    assert kept.visible_at / 1000 == (lab.now() + LEASE + GUARD + timedelta(seconds=1)).timestamp()
