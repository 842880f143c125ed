"""A handler called with a time limit, and whatever it does turned into how its attempt ended."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from threading import Event
from typing import Any

import pytest
from tests.unit.making import NOW, SECOND, a_job

from onthedot import Discard, RetryAfter
from onthedot.attempt import MAX_ERROR, MAX_RESULT, Attempts
from onthedot.handler import Handler
from onthedot.handler import Job as Given
from onthedot.rules.jobs import Job
from onthedot.rules.policies import DEFAULT_TIMEOUT
from onthedot.steps.finish import Failure, Success

NO_REASON: Any = None


class Wordless(Exception):
    """An error that cannot even be shown."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


def attempts(function: Callable[[Given], Any], timeout: timedelta | None = None) -> Attempts:
    return Attempts({"h": Handler("h", function, None, timeout)}, lambda: NOW)


def ending(function: Callable[[Given], Any], payload: str = "null", **facts: Any) -> Success | Failure:
    return attempts(function).run(a_job(handler="h", **facts), payload, timedelta(seconds=5))


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
        (ValueError(), Failure("ValueError: ", "failed")),
        (SystemExit(3), Failure("SystemExit: 3", "failed")),
        (KeyboardInterrupt(), Failure("KeyboardInterrupt: ", "failed")),
        (RetryAfter(30), Failure("RetryAfter: retry after 30 s", "failed")),
        (Discard("the link is gone"), Failure("the link is gone", "discarded")),
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
    failure = attempts(lambda _: None).run(a_job(handler="g"), "null", SECOND)
    assert failure == Failure("no handler is named 'g'; known: h", "no such handler")
    assert Attempts({}, lambda: NOW).run(a_job(handler="g"), "null", SECOND).error.endswith("known: none")  # type: ignore[union-attr]


@pytest.fixture
def done() -> Iterator[Event]:
    event = Event()
    yield event
    event.set()


def test_one_that_is_not_done_in_time_is_stuck(done: Event) -> None:
    runner = attempts(lambda _: done.wait(30))
    failure = runner.run(a_job(handler="h"), "null", timedelta(milliseconds=20))
    assert failure == Failure("timed out after 0.02 s", "timed out", stuck=True)


def test_no_thread_is_left_when_it_is_done() -> None:
    """One that is frozen between two invocations goes on in the next (aws-traps 53)."""
    before = set(threading.enumerate())
    ending(lambda _: None)
    assert set(threading.enumerate()) <= before


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
    times = iter([NOW, NOW + SECOND, NOW + 9 * SECOND])
    left: list[float] = []
    handlers = {"h": Handler("h", lambda job: left.extend([job.remaining(), job.remaining()]), None, None)}
    Attempts(handlers, lambda: next(times)).run(a_job(handler="h"), "null", 5 * SECOND)
    assert left == [4.0, 0.0]


def policy_of(timeout: timedelta | None, job: Job) -> timedelta:
    return attempts(lambda _: None, timeout).policies().of(job).timeout


def test_the_handlers_word_on_its_timeout_is_heard() -> None:
    job = a_job(handler="h")
    assert policy_of(7 * SECOND, job) == 7 * SECOND
    assert policy_of(None, job) == DEFAULT_TIMEOUT
    assert policy_of(7 * SECOND, replace(job, timeout=9 * SECOND)) == 9 * SECOND
