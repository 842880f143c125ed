"""A worker waits before the start, so that lease, timeout and all promises are those of a worker that never waits."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
from tests.support.handlers import RAN, SCRIPT, ran
from tests.support.jobs import create, job, message
from tests.support.lab import Lab
from tests.support.worlds import Died, Holds, Skewed, die, stalling, with_clock

from onthedot import wiring
from onthedot.clock import SystemClock
from onthedot.rules.jobs import State
from onthedot.steps.manage import cancel
from onthedot.steps.work import Worked, work

SECOND = timedelta(seconds=1)
DONE, BACK = Worked(acknowledged=True), Worked(acknowledged=False)
LONGEST, MARGIN, LEFT = 90 * SECOND, 15 * SECOND, 120 * SECOND
BATCH = 3


@pytest.fixture
def waiting() -> Iterator[Lab]:
    """Return a deployment whose workers wait for a second, with its job queue off: the test brings the messages."""
    with Lab(WorkerWaitMilliseconds=1_000, WorkerBatchSize=10) as lab:
        lab.off.add("JobQueue")
        yield lab


class Watched(Skewed):
    """A clock that notes how long is waited by it; so much of that passes in the lab."""

    def __init__(self, lab: Lab, passes: float = 1) -> None:
        super().__init__()
        self.lab, self.passes, self.waits = lab, passes, list[timedelta]()

    def wait(self, span: timedelta) -> None:
        """Note it."""
        self.waits.append(span)
        self.lab.time.shift(span * self.passes)


@dataclass(slots=True)
class Seen:
    """A message that came so many seconds before its job's time, and what its worker did with it."""

    lab: Lab
    early: float
    passes: float = 1
    timeout: float | None = None
    holds: Holds = field(default_factory=Holds)

    def worked(self, slow: float = 0) -> tuple[Worked, list[timedelta]]:
        """Work on it, by a start that takes so many seconds; return what it became, and what was waited for."""
        made = create("j1", 600.25, handler="test.given", timeout=self.timeout)
        self.lab.time.move_to(made.run_at - self.early * SECOND)
        clock = Watched(self.lab, self.passes)
        world = stalling(with_clock(clock), lambda: self.lab.time.shift(slow))
        return work(world, message(made), wiring.attempts(LEFT), self.holds), clock.waits


def test_the_rest_is_waited_for_and_then_the_job_starts(waiting: Lab) -> None:
    assert Seen(waiting, early=0.75).worked() == (DONE, [0.75 * SECOND])
    assert [call.at for call in RAN] == [job("j1").run_at]


def test_what_comes_on_time_is_not_waited_for(waiting: Lab) -> None:
    assert Seen(waiting, early=-0.001).worked() == (DONE, [])


def test_a_message_of_far_ahead_goes_back_at_once(waiting: Lab) -> None:
    """A worker that waited for whatever comes early was busy for an hour with what a fast clock had sent."""
    seen = Seen(waiting, early=1.251)
    assert seen.worked() == (BACK, [])
    assert (seen.holds.spans, job("j1").attempt) == ([2], 0)


def test_where_nobody_waits_an_early_message_goes_back(lab: Lab) -> None:
    lab.off.add("JobQueue")
    seen = Seen(lab, early=0.001)
    assert seen.worked() == (BACK, [])
    assert seen.holds.spans == [1]


def test_a_clock_that_is_set_back_meanwhile_makes_no_job_early(waiting: Lab) -> None:
    """It is the start that decides, by the time after the wait."""
    seen = Seen(waiting, early=0.75, passes=0.5)
    assert seen.worked() == (BACK, [0.75 * SECOND])
    assert (ran(), seen.holds.spans) == ([], [1])


def test_lease_and_timeout_begin_when_the_wait_is_over(waiting: Lab) -> None:
    """Counted from the message on, the lease was over while the handler still ran, and another worker took the job."""
    given: list[Any] = []
    SCRIPT.with_job = lambda it: given.append((it.remaining(), job("j1")))
    assert Seen(waiting, early=1, timeout=LONGEST.total_seconds()).worked() == (DONE, [SECOND])
    [(remaining, running)] = given
    assert running.lease_until == running.run_at + LONGEST + MARGIN
    assert remaining == LONGEST.total_seconds()


@pytest.mark.parametrize(("slow", "attempts"), [(13.75, 1), (13.751, 0)])
def test_a_wait_and_a_slow_start_together_leave_an_attempt_its_time(waiting: Lab, slow: float, attempts: int) -> None:
    """Each alone left the longest attempt its 90 s; after both it was ended too soon, and had failed."""
    given: list[float] = []
    SCRIPT.with_job = lambda it: given.append(it.remaining())
    Seen(waiting, early=1.25, timeout=LONGEST.total_seconds()).worked(slow)
    assert (job("j1").attempt, given) == (attempts, [LONGEST.total_seconds()] * attempts)


def test_a_job_that_is_cancelled_meanwhile_does_not_start(waiting: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Watched, "wait", lambda *_: cancel(wiring.world(), "job#j1", "-"))
    assert Seen(waiting, early=0.75).worked() == (DONE, [])
    assert (ran(), job("j1").state) == ([], State.CANCELLED)


def test_a_worker_that_dies_meanwhile_has_changed_nothing(waiting: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Watched, "wait", lambda *_: die())
    with pytest.raises(Died):
        Seen(waiting, early=0.75).worked()
    assert (job("j1").state, job("j1").attempt, job("j1").lease_until) == (State.SCHEDULED, 0, None)


def test_messages_of_a_batch_wait_side_by_side(waiting: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other, the third started two seconds late, and each had less of its function's time."""
    together = Barrier(BATCH, action=lambda: waiting.time.shift(1))
    monkeypatch.setattr(SystemClock, "wait", lambda *_: together.wait(20))
    for number in range(BATCH):
        create(f"j{number}", 600.25 + 0.125 * number)
    waiting.time.shift(600)
    copies = waiting.receive("JobQueue")
    assert len(copies) == BATCH
    assert waiting.answer("JobQueue", copies) == []
    assert sorted(ran()) == [f"j{number}" for number in range(BATCH)]
