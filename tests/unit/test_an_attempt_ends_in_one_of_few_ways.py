"""A handler called with a time limit, and whatever it does turned into how its attempt ended."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from threading import Event
from typing import Any

import pytest
from tests.unit.making import NOW, SECOND, a_job

from onthedot import Discard, RetryAfter, Stopped
from onthedot.attempt import MAX_ERROR, MAX_RESULT, Attempts, policies_of
from onthedot.handler import Handler
from onthedot.handler import Job as Given
from onthedot.rules.instants import MINUTE
from onthedot.rules.jobs import Job
from onthedot.rules.policies import DEFAULT_TIMEOUT, Policy
from onthedot.rules.retry import LONGEST_WAIT
from onthedot.steps.finish import Ending, Failure, Success
from onthedot.steps.heartbeat import Beat
from onthedot.steps.start import Attempt

NO_REASON: Any = None


class Wordless(Exception):
    """An error that cannot even be shown."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


def because(error: Exception, cause: Exception) -> Exception:
    """Return what `raise error from cause` raises."""
    error.__cause__ = cause
    return error


@dataclass(slots=True)
class Beats:
    """Answers heartbeats with what the test says, and notes for how long each asked to go on."""

    answers: list[Beat] = field(default_factory=list)
    deadlines: list[datetime] = field(default_factory=list)

    def __call__(self, deadline: datetime) -> Beat:
        """Answer one."""
        self.deadlines.append(deadline)
        return self.answers.pop(0) if self.answers else Beat.GO_ON


def attempts(function: Callable[[Given], Any], timeout: timedelta | None = None, **facts: Any) -> Attempts:
    handlers = {"h": Handler("h", function, None, timeout)}
    return Attempts(handlers, policies_of(handlers), facts.get("now", lambda: NOW), NOW + MINUTE)


def run(runner: Attempts, payload: str = "null", timeout: timedelta = 5 * SECOND, **facts: Any) -> Ending:
    beats: Any = facts.pop("beats", Beats())
    return runner.run(Attempt(a_job(**{"handler": "h", **facts}), Policy(timeout), NOW), payload, beats)


def ending(function: Callable[[Given], Any], payload: str = "null", **facts: Any) -> Ending:
    return run(attempts(function), payload, **facts)


def raising(error: BaseException) -> Callable[[Given], Any]:
    def function(job: Given) -> None:  # noqa: ARG001
        raise error

    return function


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        ({"a": [1, 2.5, "ä"]}, '{"a":[1,2.5,"ä"]}'),
        ("x" * (MAX_RESULT - 2), json.dumps("x" * (MAX_RESULT - 2))),
        ("x" * (MAX_RESULT - 1), '{"truncated":true,"bytes":4097}'),
        ("€" * 2000, '{"truncated":true,"bytes":6002}'),
    ],
    ids=["nothing", "json", "largest", "too large", "counted in bytes"],
)
def test_what_it_returns_is_the_result(value: Any, text: str) -> None:
    assert ending(lambda _: value) == Success(text)


@pytest.mark.parametrize(
    "value",
    [object(), {1, 2}, float("nan"), float("inf"), "\ud800", {("a",): 1}],
    ids=["an object", "a set", "no number", "infinity", "half a surrogate", "a key that is no text"],
)
def test_what_is_no_json_fails_the_attempt(value: Any) -> None:
    failure = ending(lambda _: value)
    assert isinstance(failure, Failure)
    assert failure.reason == "failed"


def test_a_result_that_holds_itself_fails_the_attempt() -> None:
    value: list[Any] = []
    value.append(value)
    assert isinstance(ending(lambda _: value), Failure)


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (ValueError("boom"), Failure("ValueError: boom", "failed")),
        (ValueError(), Failure("ValueError", "failed")),
        (SystemExit(3), Failure("SystemExit: 3", "failed")),
        (KeyboardInterrupt(), Failure("KeyboardInterrupt", "failed")),
        (RetryAfter(30), Failure("RetryAfter: retry after 30 s", "failed", wait=30 * SECOND)),
        (because(RetryAfter(30), OSError("busy")), Failure("OSError: busy", "failed", wait=30 * SECOND)),
        (RetryAfter(0.0001), Failure("RetryAfter: retry after 0.0001 s", "failed", wait=timedelta(milliseconds=1))),
        (RetryAfter(-5), Failure("RetryAfter: retry after -5 s", "failed", wait=-5 * SECOND)),
        (RetryAfter(1e300), Failure("RetryAfter: retry after 1e+300 s", "failed", wait=LONGEST_WAIT)),
        (RetryAfter(float("nan")), Failure("RetryAfter: retry after nan s", "failed")),
        (RetryAfter(float("inf")), Failure("RetryAfter: retry after inf s", "failed")),
        (RetryAfter(NO_REASON), Failure("RetryAfter: retry after None s", "failed")),
        (Discard("the link is gone"), Failure("the link is gone", "discarded", final=True)),
        (Stopped("somebody asked for it"), Failure("Stopped: somebody asked for it", "failed")),
    ],
    ids=str,
)
def test_what_it_raises_is_how_it_failed(error: BaseException, failure: Failure) -> None:
    assert ending(raising(error)) == failure


@pytest.mark.parametrize(
    "error",
    [Wordless(), Discard(NO_REASON), ValueError("\ud800")],
    ids=["wordless", "no reason", "no unicode"],
)
def test_an_error_that_has_no_words_is_still_an_error(error: Exception) -> None:
    """It killed the handler's thread, which looked like a timeout: the worker's process was ended for it."""
    failure = ending(raising(error))
    assert isinstance(failure, Failure)
    assert not failure.stuck
    assert failure.error.encode()


@pytest.mark.parametrize("error", [ValueError("x" * 10**6), Discard("x" * 10**6)], ids=["error", "discard"])
def test_an_error_is_cut(error: Exception) -> None:
    """It is written into the job's item, which is paid for by the KB."""
    failure = ending(raising(error))
    assert isinstance(failure, Failure)
    assert len(failure.error) == MAX_ERROR


def test_a_handler_that_nobody_wrote_is_named_with_those_that_are_known() -> None:
    failure = ending(lambda _: None, handler="g")
    assert failure == Failure("no handler is named 'g'; known: h", "no such handler")
    nobody = run(Attempts({}, policies_of({}), lambda: NOW, NOW))
    assert nobody == Failure("no handler is named 'h'; known: none", "no such handler")


@pytest.fixture
def done() -> Iterator[Event]:
    event = Event()
    yield event
    event.set()


def test_one_that_is_not_done_in_time_is_stuck(done: Event) -> None:
    failure = run(attempts(lambda _: done.wait(30)), timeout=timedelta(milliseconds=20))
    assert failure == Failure("timed out after 0.02 s", "timed out", stuck=True)


def test_no_thread_is_left_when_it_is_done() -> None:
    """One that is frozen between two invocations goes on in the next (aws-traps 53)."""
    before = set(threading.enumerate())
    ending(lambda _: None)
    assert set(threading.enumerate()) <= before


def busy(_: Given) -> None:
    while True:
        time.sleep(0.001)


def stubborn(_: Given) -> None:
    while True:
        try:
            time.sleep(0.001)
        except Exception:
            continue


@pytest.mark.parametrize("function", [busy, stubborn])
def test_one_that_python_can_stop_is_stopped_at_its_timeout(function: Callable[[Given], Any]) -> None:
    """Nothing of it is left, so that nobody needs to end the process, and with it the jobs beside it."""
    before = set(threading.enumerate())
    failure = run(attempts(function), timeout=timedelta(milliseconds=20))
    assert failure == Failure("timed out after 0.02 s", "timed out", stuck=False)
    assert set(threading.enumerate()) <= before


def test_what_it_returns_when_its_time_is_over_counts_no_more() -> None:
    """An attempt that was stopped half way must not look like one that did its work."""

    def swallowing(job: Given) -> str:
        with suppress(BaseException):
            busy(job)
        return "done"

    failure = run(attempts(swallowing), timeout=timedelta(milliseconds=20))
    assert failure == Failure("timed out after 0.02 s", "timed out", stuck=False)


def test_a_heartbeat_begins_its_time_anew() -> None:
    beats, clock, left = Beats(), [NOW], list[float]()

    def beat(job: Given) -> None:
        for seconds in (4, 8, 12):
            clock[0] = NOW + seconds * SECOND
            job.heartbeat()
            left.append(job.remaining())

    assert run(attempts(beat, now=lambda: clock[0]), beats=beats) == Success("null")
    assert left == [5.0, 5.0, 5.0]
    assert beats.deadlines == [NOW + seconds * SECOND for seconds in (9, 13, 17)]


def test_a_heartbeat_gives_no_more_than_the_function_has() -> None:
    clock, left = [NOW], list[float]()

    def beat(job: Given) -> None:
        clock[0] = NOW + 58 * SECOND
        job.heartbeat()
        left.append(job.remaining())

    run(attempts(beat, now=lambda: clock[0]))
    assert left == [2.0]


def test_one_that_was_promised_more_than_the_function_has_ends_with_it(done: Event) -> None:
    """Accepted when workers had longer, it was killed by Lambda, and each attempt looked like the death of a worker."""
    runner = replace(attempts(lambda _: done.wait(30)), until=NOW + timedelta(milliseconds=20))
    assert run(runner, timeout=900 * SECOND) == Failure("timed out after 0.02 s", "timed out", stuck=True)


def test_threads_of_a_handler_beat_one_after_the_other() -> None:
    """An older beat that came later shortened the time that the newer one had given."""
    clock, left = [NOW], list[float]()

    class Slow(Beats):
        """The first beat is on its way while another thread beats."""

        def __call__(self, deadline: datetime) -> Beat:
            if not self.deadlines:
                self.deadlines.append(deadline)
                clock[0] = NOW + 4 * SECOND
                others[0].start()
                others[0].join(0.05)
            return Beats.__call__(self, deadline)

    others: list[threading.Thread] = []

    def beat(job: Given) -> None:
        others.append(threading.Thread(target=job.heartbeat))
        job.heartbeat()
        others[0].join()
        left.append(job.remaining())

    assert run(attempts(beat, now=lambda: clock[0]), beats=Slow()) == Success("null")
    assert left == [5.0]


def test_one_that_beats_in_time_is_not_stopped() -> None:
    def slow(job: Given) -> str:
        for _ in range(8):
            time.sleep(0.02)
            job.heartbeat()
        return "done"

    runner = attempts(slow, now=lambda: datetime.now(UTC))
    runner = replace(runner, until=datetime.now(UTC) + MINUTE)
    assert run(runner, timeout=timedelta(milliseconds=100)) == Success('"done"')


def test_one_that_beats_until_the_function_ends_is_told_which_time_was_over() -> None:
    """A handler that beat each second for 105 s was said to have timed out after 5 s."""

    def endless(job: Given) -> None:
        while True:
            time.sleep(0.02)
            job.heartbeat()

    runner = replace(attempts(endless, now=lambda: datetime.now(UTC)), until=datetime.now(UTC) + SECOND / 5)
    said = "timed out: its function's time was over, which no heartbeat draws out"
    assert run(runner, timeout=SECOND / 10) == Failure(said, "timed out", stuck=False)


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        ([Beat.STOP], "Stopped: somebody asked for it"),
        ([Beat.LOST], "Stopped: the job is no longer this attempt's"),
        ([Beat.GO_ON, Beat.LOST], "Stopped: the job is no longer this attempt's"),
        ([Beat.UNHEARD] * 3, "Stopped: AWS gave no answer"),
        ([Beat.UNHEARD, Beat.UNHEARD, Beat.GO_ON] * 3, None),
    ],
)
def test_a_heartbeat_tells_when_the_attempt_is_over(answers: list[Beat], told: str | None) -> None:
    """A worker that had lost its job went on and overwrote what the new one did."""
    beats = Beats(list(answers))

    def beat(job: Given) -> None:
        for _ in range(len(answers)):
            job.heartbeat()

    how = ending(beat, beats=beats)
    assert how == (Success("null") if told is None else Failure(told, "failed"))
    assert beats.answers == []


def given(**facts: Any) -> Given:
    seen: list[Given] = []
    ending(seen.append, '{"a":1.0}', **facts)
    return seen[0]


def test_it_is_given_its_job() -> None:
    job = given(attempt=2)
    assert (job.id, job.payload, job.attempt, job.schedule, job.slot) == ("a", {"a": 1.0}, 2, None, None)
    assert job.idempotency_key == a_job().idempotency_key


def test_a_job_of_a_schedule_knows_its_slot() -> None:
    job = given(schedule="schedule#monday", slot="2027-03-28T01:00:00.000Z")
    assert (job.id, job.schedule, job.slot) == ("monday@2027-03-28T01:00:00Z", "monday", NOW)


def test_a_job_that_was_started_by_hand_has_no_slot() -> None:
    job = given(schedule="schedule#monday", slot="manual#x")
    assert (job.id, job.schedule, job.slot) == ("monday@manual-x", "monday", None)


def test_it_knows_how_long_it_has_left() -> None:
    clock, left = [NOW], list[float]()

    def look(job: Given) -> None:
        for seconds in (1, 9):
            clock[0] = NOW + seconds * SECOND
            left.append(job.remaining())

    run(attempts(look, now=lambda: clock[0]))
    assert left == [4.0, 0.0]


def policy_of(timeout: timedelta | None, job: Job) -> timedelta:
    return attempts(lambda _: None, timeout).policies().of(job).timeout


def test_the_handlers_word_on_its_timeout_is_heard() -> None:
    job = a_job(handler="h")
    assert policy_of(7 * SECOND, job) == 7 * SECOND
    assert policy_of(None, job) == DEFAULT_TIMEOUT
    assert policy_of(7 * SECOND, replace(job, timeout=9 * SECOND)) == 9 * SECOND
