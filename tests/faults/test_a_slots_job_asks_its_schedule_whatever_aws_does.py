"""A job of a slot starts once its schedule was read, and whatever AWS does then costs it no attempt."""

from datetime import timedelta
from typing import Any

import pytest
from tests.faults.failing import Faults, refused, throttled
from tests.support import jobs, schedules
from tests.support.lab import Lab

from onthedot import wiring
from onthedot.rules.jobs import Job, State
from onthedot.steps.finish import Success, finish
from onthedot.steps.start import Attempt, Drop, Wait, start

AT_NINE, NINE = "0 9 * * *", "2027-01-04T09:00:00Z"
OUTAGE = refused("InternalServerError", 500)


@pytest.fixture(autouse=True)
def _due(lab: Lab) -> None:
    schedules.put("due", cron=AT_NINE)
    lab.time.shift(52 * 60)


def arrived(lab: Lab) -> Job:
    """Return the job of the slot that is due, on time."""
    schedules.look(schedules.row("due"))
    lab.time.shift(8 * 60)
    return schedules.slots_of("due")[NINE]


def begin(job: Job) -> Any:
    """Start a job as the worker does."""
    return start(wiring.world(), jobs.entry(job), wiring.policies())


@pytest.mark.parametrize("times", [1, 2])
def test_a_slots_job_starts_and_finishes_as_if_nothing_had_been_in_the_way(
    lab: Lab, faults: Faults, times: int
) -> None:
    """Trap 1: its place is held by a planner's transaction, which no SDK waits for."""
    job, conflicts = arrived(lab), [refused("TransactionConflictException")] * times
    faults.on("UpdateItem", *conflicts, None, *conflicts)
    attempt = begin(job)
    assert isinstance(attempt, Attempt)
    assert finish(wiring.world(), attempt, Success("1"))
    found = schedules.slots_of("due")[NINE]
    assert (found.state, found.attempt) == (State.SUCCEEDED, 1)


def test_a_start_whose_schedule_cannot_be_read_gives_the_attempt_back(lab: Lab, faults: Faults) -> None:
    """Who runs it unread may run what was paused; who lets the lease pass costs it minutes and an attempt."""
    job = arrived(lab)
    faults.on("GetItem", throttled())
    begun = begin(job)
    assert begun == Wait(timedelta(0))
    again = schedules.slots_of("due")[NINE]
    assert (again.state, again.attempt, again.wake) == (State.SCHEDULED, 0, job.wake)
    lab.settle()
    assert schedules.ran_slots("due") == [NINE]
    assert schedules.slots_of("due")[NINE].attempt == 1


def test_a_worker_that_cannot_read_the_schedule_leaves_its_message(lab: Lab, faults: Faults) -> None:
    arrived(lab)
    faults.on("GetItem", OUTAGE)
    [message] = lab.receive("JobQueue")
    assert lab.invoke("JobQueue", [message]) == {message["Body"]}
    lab.advance(seconds=1)
    assert schedules.ran_slots("due") == [NINE]


@pytest.mark.parametrize("times", [1, 2])
def test_a_void_job_is_deleted_as_if_nothing_had_been_in_the_way(lab: Lab, faults: Faults, times: int) -> None:
    job = arrived(lab)
    schedules.change(lab, "due", version={"N": "2"}, since={"S": "2027-01-04T08:53:00.000Z"})
    faults.on("DeleteItem", *[refused("TransactionConflictException")] * times)
    assert isinstance(begin(job), Drop)
    assert NINE not in schedules.slots_of("due")
