"""An attempt that beats keeps its job and its message for as long as it goes on, and no longer than its function."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Thread
from typing import Any

import pytest
from tests.faults.failing import Faults, install, refused, throttled
from tests.support.handlers import RAN, SCRIPT, ran
from tests.support.interleavings import Meets, play_all
from tests.support.jobs import create, entry, job, message
from tests.support.lab import Lab
from tests.support.worlds import Died, Holds, Runner, Skewed, die, with_clock

from onthedot import RetryAfter, Stopped, wiring
from onthedot.handler import Job as Given
from onthedot.rules.errors import Unavailable
from onthedot.rules.instants import MILLISECOND
from onthedot.rules.jobs import Retry, State
from onthedot.steps.finish import Ending, Failure, Success, finish
from onthedot.steps.heartbeat import Beat, Pulse
from onthedot.steps.start import Attempt, Wait, start
from onthedot.steps.work import Worked, work
from onthedot.testing import inside

SECOND = timedelta(seconds=1)
MARGIN, SKEW = 15 * SECOND, 2 * SECOND
POLICIES = Runner(3).policies()


@pytest.fixture(name="faults")
def _faults(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Faults:  # noqa: ARG001 - the lab comes first
    return install(monkeypatch)


@dataclass(slots=True)
class Worker:
    """A worker that has a job, and what it hides of its message."""

    attempt: Attempt
    holds: Holds = field(default_factory=Holds)

    @property
    def pulse(self) -> Pulse:
        """Its heartbeats."""
        return Pulse(wiring.world(), self.attempt, self.holds)

    def beat(self, seconds: float = 60) -> Beat:
        """Beat once, to go on for so long."""
        pulse = self.pulse
        told = pulse(wiring.world().clock.now() + seconds * SECOND)
        self.attempt = pulse.attempt
        return told


def begun(name: str) -> Worker:
    attempt = start(wiring.world(), entry(job(name)), POLICIES)
    assert isinstance(attempt, Attempt)
    return Worker(attempt)


def running(lab: Lab, does: Callable[[Given], Any], **said: Any) -> None:
    """Run a job on the real worker, with a real message."""
    SCRIPT.with_job = does
    create("j1", handler="test.given", **said)
    lab.settle()


def seen_at(lab: Lab) -> list[datetime]:
    """Return when each message of the queue is visible again."""
    return [inside.seen_at(each) - MILLISECOND for each in lab.messages()]


def send_copy(lab: Lab) -> None:
    lab.sqs.send_message(QueueUrl=lab.urls["JobQueue"], MessageBody=message(job("j1")))


def test_l04_a_job_that_takes_longer_than_its_timeout_runs_once(lab: Lab) -> None:
    """It was started anew each time its message was seen again; here it is not seen, and copies of it run nothing."""
    left: list[float] = []

    def does(given: Given) -> str:
        for _ in range(6):
            lab.time.shift(15)
            send_copy(lab)
            lab.settle()
            given.heartbeat()
            left.append(given.remaining())
        return "done"

    running(lab, does, timeout=20)
    assert left == [20, 20, 20, 20, 20, 15], "and no longer than its function has"
    assert (ran(), job("j1").result, job("j1").attempt) == (["j1"], '"done"', 1)
    assert len(lab.messages()) == 6, "no copy was acknowledged while it ran, and its own was, at its end"
    lab.advance(minutes=6)
    assert (ran(), lab.messages()) == (["j1"], [])


def test_its_lease_and_its_message_are_drawn_out_together(lab: Lab) -> None:
    def does(given: Given) -> None:
        for seconds in (1, 8, 3):
            lab.time.shift(seconds)
            given.heartbeat()
            lease = lab.now() + 10 * SECOND + MARGIN
            assert job("j1").lease_until == lease
            assert seen_at(lab) == [lease + 2 * SKEW + SECOND]

    running(lab, does, timeout=10)
    assert job("j1").state is State.SUCCEEDED, job("j1").error


def test_l05_a_copy_is_hidden_for_the_rest_of_the_new_lease(lab: Lab) -> None:
    """It was acknowledged, and when the worker died no message was left."""
    create("j1")
    worker, text = begun("j1"), message(job("j1"))
    for seconds in (50, 60, 70):
        lab.time.shift(seconds)
        assert worker.beat() is Beat.GO_ON
        lab.time.shift(2)
        copy = Holds()
        assert work(wiring.world(), text, Runner(3), copy) == Worked(acknowledged=False)
        assert copy.spans == [60 + 15 + 4 + 1 - 2]
    assert (ran(), job("j1")) == ([], worker.attempt.job)


def test_the_message_that_drain_sends_for_one_that_runs_is_held_too(lab: Lab) -> None:
    """Its entry is looked at 300 s after its time, whoever has it by then."""
    lab.off |= {"JobQueue"}
    create("j1", handler="test.given")
    lab.advance(seconds=280)

    def does(given: Given) -> None:
        for _ in range(3):
            given.heartbeat()
            lab.time.shift(20)
            lab.tick()
            lab.settle()
        assert len(lab.messages()) == 2

    SCRIPT.with_job = does
    lab.off.clear()
    lab.settle()
    assert (ran(), job("j1").state) == (["j1"], State.SUCCEEDED), job("j1").error
    lab.advance(minutes=10)
    assert (ran(), lab.messages()) == (["j1"], [])


def test_without_a_beat_another_takes_over(lab: Lab) -> None:
    create("j1")
    worker = begun("j1")
    lab.time.shift(50)
    worker.beat()
    lab.time.shift(60 + 15 + 4)
    assert isinstance(start(wiring.world(), entry(job("j1")), POLICIES), Wait)
    lab.time.shift(0.001)
    assert begun("j1").attempt.job.attempt == 2


def test_r08_a_heartbeat_of_one_that_lost_its_job_draws_out_nothing(lab: Lab) -> None:
    """A worker that woke up at 70 s renewed the lease of the one that had taken over at 65 s."""
    create("j1", timeout=45)
    a = begun("j1")
    lab.time.shift(65)
    b = begun("j1")
    lab.time.shift(5)
    assert [a.beat(), a.beat()] == [Beat.LOST] * 2
    assert a.holds.spans == []
    assert job("j1") == b.attempt.job
    lab.time.shift(10)
    assert finish(wiring.world(), b.attempt, Success("7"))
    before = job("j1")
    assert a.beat() is b.beat() is Beat.LOST, "nothing is left to draw out"
    assert not finish(wiring.world(), a.attempt, Failure("late", "failed"))
    assert job("j1") == before


def test_one_that_lost_its_job_is_stopped(lab: Lab) -> None:
    told: list[str] = []

    def does(given: Given) -> None:
        SCRIPT.with_job = lambda _: 7
        lab.time.shift(85)
        lab.settle()
        assert [call.attempt for call in RAN] == [1, 2]
        with pytest.raises(Stopped) as stopped:
            given.heartbeat()
        told.append(str(stopped.value))

    running(lab, does)
    assert told == ["the job is no longer this attempt's"]
    assert (job("j1").state, job("j1").result, job("j1").attempt) == (State.SUCCEEDED, "7", 2)


def test_a_beat_and_a_takeover_at_once_leave_one_owner(lab: Lab) -> None:
    """Who found the lease over took the job, though it had been drawn out since, and its owner was told to go on."""
    seen = set()

    def story(name: str, meets: Meets) -> None:
        create(name)
        worker, beats, starts = begun(name), list[Beat](), list[Any]()
        lab.time.shift(80)
        takes = lambda: starts.append(start(wiring.world(), entry(job(name)), POLICIES))  # noqa: E731
        meets(takes, lambda: beats.append(worker.beat()))
        owner, [beat], [taken] = job(name).owner, beats, starts
        seen.add((beat, type(taken)))
        assert (beat is Beat.GO_ON) == (owner == worker.attempt.job.owner) == isinstance(taken, Wait)

    assert play_all(story) >= 6
    assert seen == {(Beat.GO_ON, Wait), (Beat.LOST, Attempt)}


ENDINGS: list[Ending] = [
    Success("7"),
    Failure("boom", "failed", final=True),
    Failure("boom", "failed", wait=30 * SECOND),
    Failure("boom", "failed", wait=7_200 * SECOND),
]


@pytest.mark.parametrize("ending", ENDINGS, ids=["success", "dead", "near", "far"])
@pytest.mark.parametrize("first", ["finish", "beat"])
def test_a_beat_in_flight_changes_no_ending(lab: Lab, ending: Ending, first: str) -> None:
    def story(name: str, meets: Meets) -> None:
        create(name)
        worker, done, beats = begun(name), list[bool](), list[Beat]()
        lab.time.shift(1)
        both = [
            lambda: done.append(finish(wiring.world(), worker.attempt, ending)),
            lambda: beats.append(Pulse(wiring.world(), worker.attempt, worker.holds)(lab.now() + 60 * SECOND)),
        ]
        meets(*both) if first == "finish" else meets(*reversed(both))
        now = job(name)
        assert done == [True]
        assert beats in ([Beat.GO_ON], [Beat.LOST])
        match ending:
            case Success():
                assert (now.state, now.result) == (State.SUCCEEDED, "7")
            case Failure(final=True):
                assert (now.state, now.error) == (State.DEAD, "boom")
            case Failure():
                assert (now.state, now.attempt, now.lease_until, len(now.past)) == (State.SCHEDULED, 1, None, 1)

    assert play_all(story) >= 3


@pytest.mark.parametrize(("failures", "told"), [(2, None), (3, "Stopped: AWS gave no answer")])
def test_three_beats_in_a_row_without_an_answer_stop_it(lab: Lab, faults: Faults, failures: int, told: str) -> None:
    """By then another may soon own the job. One that is heard again begins to count anew."""

    def does(given: Given) -> None:
        for _ in range(2):
            faults.on("UpdateItem", *[throttled()] * failures)
            for _ in range(failures + 1):
                lab.time.shift(5)
                given.heartbeat()

    running(lab, does, retry=Retry(first=600))
    assert job("j1").state is (State.SCHEDULED if told else State.SUCCEEDED)
    assert lab.job("j1").get("last_error") == told


def test_a_beat_that_was_not_heard_draws_out_nothing(lab: Lab, faults: Faults) -> None:
    create("j1")
    worker = begun("j1")
    before = job("j1")
    faults.on("UpdateItem", throttled())
    lab.time.shift(5)
    assert worker.beat() is Beat.UNHEARD
    assert (job("j1"), worker.holds.spans) == (before, [])


def test_a_beat_whose_answer_was_lost_is_followed_by_others(lab: Lab, faults: Faults) -> None:
    """The next one met the lease that it had written itself, and must not take it for another's."""

    def done_and_lost(asked: dict[str, Any]) -> dict[str, Any]:
        lab.dynamodb.update_item(**asked)
        raise refused("InternalServerError", 500)

    create("j1")
    worker = begun("j1")
    told = []
    for _ in range(3):
        lab.time.shift(10)
        faults.on("UpdateItem", done_and_lost)
        told += [worker.beat(), worker.beat()]
    assert told == [Beat.UNHEARD, Beat.GO_ON] * 3
    faults.on("UpdateItem", done_and_lost)
    lab.time.shift(10)
    assert worker.beat() is Beat.UNHEARD
    assert finish(wiring.world(), worker.attempt, Success("7"))
    assert job("j1").state is State.SUCCEEDED


class Waiting(Skewed):
    """A clock whose pauses take three seconds."""

    def __init__(self, lab: Lab) -> None:
        super().__init__()
        self.lab = lab

    def pause(self) -> None:
        """Let three seconds pass."""
        self.lab.time.shift(3)


@pytest.mark.parametrize(("outage", "is_done"), [(60, True), (90, False)])
def test_its_finish_insists_as_long_as_its_latest_lease(lab: Lab, faults: Faults, outage: int, is_done: bool) -> None:
    """It gave up when the lease of its start was over, though many beats had drawn it out."""
    create("j1")
    worker = begun("j1")
    for _ in range(4):
        lab.time.shift(25)
        worker.beat()
    faults.on("UpdateItem", *[throttled()] * (outage // 3))
    world = with_clock(Waiting(lab))
    if is_done:
        assert finish(world, worker.attempt, Success("7"))
    else:
        with pytest.raises(Unavailable):
            finish(world, worker.attempt, Success("7"))
    assert (job("j1").state is State.SUCCEEDED) == is_done


def test_beats_never_go_beyond_the_functions_own_time(lab: Lab) -> None:
    """Its worker has 120 s: a margin to finish in, the rest for handlers."""
    begins, leases, left = lab.now(), list[float](), list[float]()

    def does(given: Given) -> None:
        for _ in range(5):
            lab.time.shift(20)
            given.heartbeat()
            left.append(given.remaining())
            lease = job("j1").lease_until
            assert lease is not None
            leases.append((lease - begins) / SECOND)

    running(lab, does)
    assert job("j1").state is State.SUCCEEDED, job("j1").error
    assert left == [60, 60, 45, 25, 5]
    assert leases == [95, 115, 120, 120, 120]


def test_one_with_no_time_to_gain_is_told_to_stop_all_the_same(lab: Lab) -> None:
    """A beat that changes no lease was taken for one that had been written before: nobody was told."""
    told: list[str] = []

    def does(given: Given) -> None:
        lab.time.shift(100)
        given.heartbeat()
        assert lab.call("DELETE", "/jobs/j1", stop="true").status == 202
        with pytest.raises(Stopped):
            given.heartbeat()
        told.append("stopped")

    running(lab, does, timeout=90)
    assert told == ["stopped"]


def test_an_attempt_after_heartbeats_has_a_time_of_its_own(lab: Lab) -> None:
    left: list[float] = []

    def does(given: Given) -> None:
        left.append(given.remaining())
        lab.time.shift(20)
        given.heartbeat()
        if given.attempt == 1:
            raise RetryAfter(30)

    running(lab, does, timeout=30)
    waiting = job("j1")
    assert (waiting.state, waiting.lease_until) == (State.SCHEDULED, None)
    lab.advance(minutes=2)
    assert left == [30, 30]
    assert (job("j1").state, job("j1").attempt, len(job("j1").past)) == (State.SUCCEEDED, 2, 1)


def test_no_message_is_hidden_for_longer_than_sqs_allows(lab: Lab) -> None:
    """SQS refuses more than 12 hours, and the message would be seen when the queue itself shows it."""
    create("j1")
    [held] = lab.receive("JobQueue")
    wiring.held("job").hold(held["ReceiptHandle"], 1_000_000)
    assert seen_at(lab) == [lab.now() + timedelta(hours=12)]


def test_several_threads_of_one_handler_beat(lab: Lab) -> None:
    errors: list[BaseException] = []

    def beats(given: Given) -> None:
        try:
            for _ in range(5):
                given.heartbeat()
                lab.time.shift(0.5)
        except BaseException as error:
            errors.append(error)

    def does(given: Given) -> None:
        threads = [Thread(target=beats, args=(given,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        given.heartbeat()
        assert job("j1").lease_until == lab.now() + timedelta(seconds=60) + MARGIN

    running(lab, does)
    assert errors == []
    assert job("j1").state is State.SUCCEEDED, job("j1").error


def test_a_beat_that_comes_late_shortens_no_lease(lab: Lab) -> None:
    """One thread's call was stuck on the wire while another's went through; the older lease was written last."""

    def story(name: str, meets: Meets) -> None:
        create(name)
        worker = begun(name)
        older = worker.attempt

        def later() -> None:
            lab.time.shift(30)
            assert worker.beat() is Beat.GO_ON

        meets(lambda: Pulse(wiring.world(), older, Holds())(lab.now() + 60 * SECOND), later)
        assert job(name).lease_until == lab.now() + 60 * SECOND + MARGIN

    assert play_all(story) >= 3


def test_whoever_dies_while_beating_is_replaced(lab: Lab) -> None:
    def story(name: str, meets: Meets) -> None:
        create(name, timeout=5)
        worker = begun(name)
        lab.time.shift(4)
        with suppress(Died):
            meets(lambda: worker.beat(5), die)
        lab.time.shift(25)
        lab.settle()
        assert (job(name).state, job(name).attempt) == (State.SUCCEEDED, 2)
        assert ran().count(name) == 1

    assert play_all(story) >= 3
