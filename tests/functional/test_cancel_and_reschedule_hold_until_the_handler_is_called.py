"""Cancel and reschedule hold until the handler is called, though a message that was sent cannot be recalled."""

from datetime import timedelta

import pytest
from tests.support.handlers import RAN, SCRIPT, ran
from tests.support.jobs import create, entry, job
from tests.support.lab import Lab
from tests.support.worlds import Interrupted, Runner, client_of, with_client

from onthedot import wiring
from onthedot.rules.jobs import Job, State
from onthedot.steps.manage import Changed, TooLate, cancel, reschedule
from onthedot.steps.start import Attempt, start

MINUTE = timedelta(minutes=1)


def test_a_job_cancelled_inside_its_delay_never_runs(lab: Lab) -> None:
    """R07: cancel removed the row but not the copy in the queue, and the job ran."""
    made = create("j1", 300)
    assert len(lab.messages()) == 1
    cancelled = cancel(wiring.world(), *made.key)
    assert isinstance(cancelled, Changed)
    assert cancelled.job == job("j1")
    assert (cancelled.job.state, cancelled.job.wake) == (State.CANCELLED, None)
    lab.advance(minutes=15)
    assert ran() == []
    assert lab.messages() == []
    assert lab.messages("JobDeadLetterQueue") == []
    assert job("j1") == cancelled.job


def test_a_far_job_cancelled_is_never_sent(lab: Lab) -> None:
    """Off the agenda, it is nothing that a dispatcher could find."""
    cancel(wiring.world(), *create("j1", 3_600).key)
    lab.advance(hours=2)
    assert not [call for call in lab.called("SendMessageBatch") if call["QueueUrl"] == lab.urls["JobQueue"]]


@pytest.mark.usefixtures("lab")
def test_cancelling_twice_is_done_and_cancelling_nothing_is_nothing() -> None:
    """A caller whose answer was lost asks again; the second answer must not be "too late"."""
    world, made = wiring.world(), create("j1", 60)
    first = cancel(world, *made.key)
    assert cancel(world, *made.key) == first == Changed(job("j1"))
    assert cancel(world, "job#nobody", "-") is None
    assert reschedule(world, "job#nobody", "-", made.run_at, None) is None
    assert reschedule(world, *made.key, made.run_at, None) == TooLate(job("j1"))


def test_while_it_runs_it_is_too_late_and_the_answer_says_since_when(lab: Lab) -> None:
    """The final state said cancelled while side effects went on."""
    made, answers = create("j1", handler="test.meanwhile"), []

    def meanwhile() -> None:
        answers.append(cancel(wiring.world(), *made.key))
        answers.append(reschedule(wiring.world(), *made.key, made.run_at + MINUTE, None))

    SCRIPT.meanwhile = meanwhile
    lab.settle()
    running, moved = answers
    assert running == moved
    assert isinstance(running, TooLate)
    assert (running.job.state, running.job.since) == (State.RUNNING, RAN[0].at)
    assert job("j1").state is State.SUCCEEDED
    assert cancel(wiring.world(), *made.key) == TooLate(job("j1"))


@pytest.mark.usefixtures("lab")
def test_a_start_between_look_and_write_is_seen() -> None:
    """Check-then-set let a worker start in between: cancelled, and run."""
    world, made = wiring.world(), create("j1")
    begun = []
    between = [lambda: begun.append(start(world, entry(made), Runner().policies()))]
    slow = with_client(world, "jobs", Interrupted(client_of(world, "jobs"), "update_item", between))
    assert cancel(slow, *made.key) == TooLate(job("j1"))
    [attempt] = begun
    assert isinstance(attempt, Attempt)
    assert job("j1") == attempt.job


FAR, NEAR = timedelta(hours=2), timedelta(minutes=10)


MOVES = [
    (NEAR, NEAR / 2),
    (NEAR, NEAR + 2 * MINUTE),
    (NEAR, NEAR + 5 * MINUTE),
    (NEAR, FAR),
    (FAR, NEAR),
    (FAR, FAR / 2),
    (FAR, FAR * 2),
    (FAR, timedelta(0)),
    (2 * NEAR, 2 * NEAR - 5 * MINUTE),
]


def test_a_moved_job_runs_once_at_its_new_time(lab: Lab) -> None:
    """Earlier, later, from the queue to the table and back; at five minutes apart both times can have one wake."""
    due = {}
    for number, (first, then) in enumerate(MOVES):
        made = create(f"j{number}", first.total_seconds())
        moved = reschedule(wiring.world(), *made.key, made.created_at + then, None)
        assert moved == Changed(job(made.id))
        due[made.id] = made.created_at + then
    lab.advance(hours=4, seconds=400)
    assert sorted(ran()) == sorted(due)
    assert all(timedelta(0) <= call.at - due[call.id] <= timedelta(seconds=2) for call in RAN), RAN
    assert lab.messages() == []


def test_a_job_can_be_moved_until_its_last_second(lab: Lab) -> None:
    """The message is on its way already, drained from the agenda and not only sent by the writer."""
    made = create("j1", 3_600)
    lab.advance(seconds=3_599)
    assert len(lab.messages()) == 1
    later = reschedule(wiring.world(), *made.key, made.run_at + MINUTE, None)
    assert isinstance(later, Changed)
    lab.advance(seconds=50)
    assert ran() == []
    lab.advance(seconds=13)
    assert ran() == ["j1"]


def test_moved_to_the_time_it_has_nothing_changes(lab: Lab) -> None:
    """The update had nothing to set: AWS refuses an empty expression, and the caller got a 500. No mock shows it."""
    made = create("j1", 60)
    assert reschedule(wiring.world(), *made.key, made.run_at, None) == Changed(made)
    lab.advance(seconds=62)
    assert ran() == ["j1"]


def test_what_bounds_its_start_moves_along(lab: Lab) -> None:
    """A job moved by an hour, whose `start_within` stayed behind, was skipped as late the moment it was due."""
    made = create("j1", 60, start_within=30)
    moved = reschedule(wiring.world(), *made.key, made.run_at + 60 * MINUTE, None)
    assert isinstance(moved, Changed)
    assert moved.job.start_before == moved.job.run_at + timedelta(seconds=30)
    lab.advance(seconds=3_660 + 2)
    assert job("j1").state is State.SUCCEEDED


LARGE = '"' + "x" * 5_000 + '"'


@pytest.mark.parametrize(("before", "after"), [("1", "2"), ("1", LARGE), (LARGE, "2"), (LARGE, f'"{LARGE[1:9]}"')])
def test_a_new_payload_replaces_the_old_one_wherever_it_lay(lab: Lab, before: str, after: str) -> None:
    """Left behind in its item, the old payload came back with the next read."""
    made = create("j1", 60, payload=before)
    moved = reschedule(wiring.world(), *made.key, made.run_at + MINUTE, after)
    assert isinstance(moved, Changed)
    assert moved.job == job("j1")
    assert (moved.job.payload.text is None) == (len(after) > 1_000)
    lab.advance(seconds=122)
    assert [call.payload for call in RAN] == [after.strip('"') if '"' in after else int(after)]


def test_without_a_new_payload_it_keeps_the_one_it_has(lab: Lab) -> None:
    """A large payload is not copied for a move."""
    made = create("j1", 60, payload=LARGE)
    reschedule(wiring.world(), *made.key, made.run_at + 60 * MINUTE, None)
    assert job("j1").payload == made.payload
    lab.advance(seconds=3_662)
    assert RAN[0].payload == LARGE.strip('"')


@pytest.mark.parametrize(("mine", "other"), [("2", LARGE), (LARGE, "2"), (LARGE, LARGE.replace("x", "y"))])
def test_of_two_who_replace_the_payload_at_once_one_has_it_whole(lab: Lab, mine: str, other: str) -> None:
    """Both kept the time, so neither's condition saw the other: the item held two payloads, and the wrong one ran."""
    world, made = wiring.world(), create("j1", 60, payload="1")
    between = [lambda: reschedule(world, *made.key, made.run_at, other)]
    slow = with_client(world, "jobs", Interrupted(client_of(world, "jobs"), "update_item", between))
    assert reschedule(slow, *made.key, made.run_at, mine) == Changed(job("j1"))
    lab.advance(seconds=62)
    assert RAN[0].payload == (mine.strip('"') if '"' in mine else int(mine))


def moved_far(lab: Lab, made: Job, days: int) -> Job:
    lab.time.shift(1)
    moved = reschedule(wiring.world(), *made.key, made.run_at + timedelta(days=days), None)
    assert isinstance(moved, Changed)
    return moved.job


def test_a_job_moved_by_years_takes_its_large_payload_along(lab: Lab) -> None:
    """The payload's item expires a year after the job was to run; moved beyond that, the job would find nothing."""
    made = create("j1", 60, payload=LARGE)
    near = moved_far(lab, made, 30)
    assert near.payload == made.payload, "there is room: nothing is written"
    far = moved_far(lab, near, 700)
    assert far.payload.stored_as != made.payload.stored_as
    assert far.payload.kept_until is not None
    assert far.payload.kept_until > far.run_at + timedelta(days=60 + 30)
    assert wiring.world().payloads.text(job("j1")) == LARGE
