"""Whoever cancels, moves, pauses, edits, deletes or re-creates meanwhile: turns go on, and nobody is blocked."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from tests.support.handlers import once, ran
from tests.support.jobs import entry, message
from tests.support.lab import Lab
from tests.support.schedules import change, delete, hold, look, put, ran_slots, resume, row, slots_of
from tests.support.worlds import Holds, Runner, skewed

from onthedot import wiring
from onthedot.rules.jobs import Job, State
from onthedot.rules.transitions import given_back
from onthedot.steps.finish import Failure, Success, finish
from onthedot.steps.manage import cancel, reschedule
from onthedot.steps.put import put as put_job
from onthedot.steps.revive import revive
from onthedot.steps.start import Attempt
from onthedot.steps.start import start as begin
from onthedot.steps.work import work

HELD = "an earlier slot still runs"
EVERY_FIVE: dict[str, Any] = {"cron": "*/5 * * * *"}


def two_due(lab: Lab, overlap: str = "wait", **fields: Any) -> list[Job]:
    """Return the jobs of two slots that are due, and no message of them."""
    put("s", **{"overlap": overlap, "handler": "test.meanwhile", **EVERY_FIVE, **fields})
    lab.time.shift(600)
    lab.purge()
    return list(slots_of("s").values())[:2]


def now(job: Job) -> Job:
    found = wiring.world().jobs.get(*job.key)
    assert found is not None, f"{job.id} is gone"
    return found


def start(job: Job) -> None:
    work(wiring.world(), message(now(job)), Runner(), Holds())


def running(job: Job, meanwhile: Callable[[], Any]) -> None:
    """Let something happen while a job runs."""
    once(meanwhile)
    start(job)
    assert now(job).state is State.SUCCEEDED, now(job).error


def turn_taken_and_given_back(lab: Lab, job: Job) -> Job:
    """Return a job whose worker took the turn and found that it had been too slow to call the handler."""
    world = wiring.world()
    running_job = world.jobs.start(entry(job), "owner", lab.now(), timedelta(seconds=60)).job
    assert running_job is not None
    marked = world.schedules.mark("s", {"busy": job.slot}, {"busy": frozenset({None})})
    assert marked.won
    put_job(world, given_back(running_job), lambda draft: world.jobs.change(running_job, draft))
    return now(job)


def test_a_holder_that_is_cancelled_sends_who_waits(lab: Lab) -> None:
    first, second = two_due(lab)
    holder = turn_taken_and_given_back(lab, first)
    start(second)
    assert now(second).run_at == lab.now() + timedelta(seconds=60)
    cancel(wiring.world(), *holder.key)
    lab.settle()
    assert ran() == [second.id]


@pytest.mark.parametrize("moved", [True, False])
def test_the_turn_is_held_while_the_holder_waits_for_its_next_attempt(lab: Lab, moved: bool) -> None:
    """One that had been moved by hand lost its turn in each long wait, as if it had been moved out of the way."""
    first, second = two_due(lab, "skip", handler="test.flaky", retry={"first": 1_000, "max_attempts": 2})
    if moved:
        reschedule(wiring.world(), *first.key, lab.now(), None)
    start(first)
    waiting = now(first)
    assert (waiting.state, waiting.attempt) == (State.SCHEDULED, 1)
    start(second)
    assert (now(second).state, now(second).reason) == (State.SKIPPED, HELD)


@pytest.mark.parametrize("overlap", ["skip", "wait"])
def test_a_holder_that_is_moved_away_blocks_nobody(lab: Lab, overlap: str) -> None:
    """It had its turn, was given back unrun, and was moved by a week: for a week, each slot was skipped."""
    first, second = two_due(lab, overlap)
    holder = turn_taken_and_given_back(lab, first)
    reschedule(wiring.world(), *holder.key, lab.now() + timedelta(days=7), None)
    start(second)
    assert ran() == [second.id]
    assert now(first).state is State.SCHEDULED


def test_a_waiter_that_is_moved_away_blocks_nobody_and_stays_where_it_was_put(lab: Lab) -> None:
    """The holder's end sent it at once, against the word of who had moved it; and until it ran all were skipped."""
    first, second = two_due(lab)
    later = lab.now() + timedelta(days=7)

    def meanwhile() -> None:
        start(second)
        reschedule(wiring.world(), *second.key, later, None)

    running(first, meanwhile)
    lab.settle()
    assert now(second).run_at == later
    lab.advance(minutes=5)
    assert len(ran_slots("s")) == 2, "the next slot runs"


def test_a_waiter_that_is_moved_by_seconds_runs_not_before_them(lab: Lab) -> None:
    """It was moved by so little that it kept its place, and the holder's end sent it 100 s before its time."""
    first, second = two_due(lab)
    later = lab.now() + timedelta(seconds=100)

    def meanwhile() -> None:
        start(second)
        reschedule(wiring.world(), *second.key, later, None)

    running(first, meanwhile)
    lab.advance(seconds=99)
    assert (ran(), now(second).run_at) == ([first.id], later)
    lab.advance(seconds=2)
    assert ran() == [first.id, second.id]


def test_a_waiter_that_is_cancelled_blocks_nobody(lab: Lab) -> None:
    first, second = two_due(lab)

    def meanwhile() -> None:
        start(second)
        cancel(wiring.world(), *second.key)

    running(first, meanwhile)
    lab.advance(minutes=5)
    assert len(ran_slots("s")) == 2
    assert row("s").waiting is None


def test_a_waiter_is_skipped_by_a_pause(lab: Lab) -> None:
    first, second = two_due(lab)

    def meanwhile() -> None:
        start(second)
        hold("s")

    running(first, meanwhile)
    lab.settle()
    assert (now(second).state, now(second).reason) == (State.SKIPPED, "its schedule is paused")
    resume("s")
    lab.advance(minutes=10)
    assert len(ran_slots("s")) == 3
    assert row("s").waiting is None


def test_who_waits_for_longer_than_it_may_is_late(lab: Lab) -> None:
    first, second = two_due(lab, start_within=350)

    def meanwhile() -> None:
        start(second)
        lab.time.shift(400)

    running(first, meanwhile)
    lab.settle()
    assert (now(second).state, now(second).reason) == (State.SKIPPED, "late")
    lab.advance(minutes=5)
    assert len(ran_slots("s")) >= 2


def fail_at_once(waiter: Job) -> None:
    begun = begin(wiring.world(), entry(waiter), wiring.policies())
    assert isinstance(begun, Attempt)
    finish(wiring.world(), begun, Failure("boom", "failed"))


def cancel_and_retry(waiter: Job) -> None:
    cancel(wiring.world(), *waiter.key)
    revive(wiring.world(), *waiter.key)


def move(waiter: Job) -> None:
    reschedule(wiring.world(), *waiter.key, waiter.run_at + timedelta(days=1), None)


@pytest.mark.parametrize("happening", [fail_at_once, cancel_and_retry, move])
def test_who_waited_has_as_long_as_any_from_its_next_time_on(lab: Lab, happening: Callable[[Job], None]) -> None:
    """What it had waited was taken off: moved to tomorrow, or sent again, it was late at once and skipped."""
    first, second = two_due(lab, start_within=400)
    begun = begin(wiring.world(), entry(first), wiring.policies())
    start(second)
    assert isinstance(begun, Attempt)
    assert finish(wiring.world(), begun, Success("1"))
    happening(now(second))
    assert now(second).start_before == now(second).run_at + timedelta(seconds=400)


@pytest.mark.parametrize("overlap", ["skip", "wait"])
def test_a_schedule_that_is_made_anew_waits_for_nobody_of_the_old_one(lab: Lab, overlap: str) -> None:
    """A job of the old one neither takes nor gives back a turn of the new one."""
    first, second = two_due(lab, overlap)

    def meanwhile() -> None:
        delete("s")
        put("s", overlap=overlap, handler="test.record", **EVERY_FIVE)
        start_again = wiring.world().jobs.get(*second.key)
        assert start_again is None or start_again.state is State.CANCELLED
        assert row("s").busy is None

    running(first, meanwhile)
    assert now(first).state is State.SUCCEEDED
    assert (row("s").busy, row("s").waiting) == (None, None)
    lab.advance(minutes=5)
    assert len(ran_slots("s")) == 2


def test_a_job_of_a_former_generation_takes_no_turn(lab: Lab) -> None:
    """It held the turn of the new one for a moment, and a slot was skipped for that."""
    first, _ = two_due(lab, "skip")
    change(lab, "s", generation={"S": "another"})
    lab.calls.clear()
    start(first)
    assert (now(first).state, now(first).reason) == (State.CANCELLED, "its schedule was deleted")
    marks = [body for body in lab.called("UpdateItem") if body["TableName"] == lab.tables["SchedulesTable"]]
    assert len(marks) == 1, "refused"


def test_an_edit_of_the_policy_holds_for_whoever_starts_after_it(lab: Lab) -> None:
    """A backlog was planned while overlap was allowed; its owner forbids it, and all of it ran at once."""
    first, second = two_due(lab, "allow")
    put("s", overlap="skip", handler="test.meanwhile", **EVERY_FIVE)
    running(first, lambda: start(second))
    assert ran() == [first.id]
    assert now(second).reason == HELD


def test_an_edit_from_skip_to_allow_to_wait_while_one_runs(lab: Lab) -> None:
    first, second = two_due(lab, "skip")
    third: list[Job] = []

    def meanwhile() -> None:
        put("s", overlap="allow", handler="test.meanwhile", **EVERY_FIVE)
        start(second)
        assert ran() == [first.id, second.id], "allowed"
        put("s", overlap="wait", handler="test.meanwhile", **EVERY_FIVE)
        lab.time.shift(300)
        lab.purge()
        third.append(list(slots_of("s").values())[2])
        start(third[0])
        assert now(third[0]).state is State.SCHEDULED, "it waits for the first"

    running(first, meanwhile)
    lab.settle()
    assert ran() == [first.id, second.id, third[0].id]


@pytest.mark.parametrize("by", [look, None])
def test_a_plan_an_edit_and_a_pause_leave_the_marks_alone(lab: Lab, by: Any) -> None:
    """Who writes the schedule has read it before the turn was taken; and who takes a turn stops no planner."""
    first, second = two_due(lab)
    read = row("s")

    def meanwhile() -> None:
        start(second)
        marks = (first.slot, second.slot)
        stamp = row("s").stamp
        assert stamp == read.stamp, "marks are no edit"
        if by:
            look(read, skewed(300))
            assert row("s").stamp != stamp, "planned as it was read before the marks"
        else:
            put("s", '"new"', overlap="wait", handler="test.meanwhile", **EVERY_FIVE)
            assert (row("s").busy, row("s").waiting) == marks
            hold("s")
        assert (row("s").busy, row("s").waiting) == marks

    running(first, meanwhile)
    assert row("s").busy is None
