"""No silence: whatever a handler returns, raises or breaks, its job has an outcome that says what happened."""

import json
from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Any, NoReturn

import pytest
from tests.support.handlers import SCRIPT
from tests.support.jobs import create, job
from tests.support.lab import Lab

import worker
from onthedot import Discard, RetryAfter
from onthedot.rules.jobs import Job, Retry, State


def outcome(lab: Lab, handler: str = "test.meanwhile", does: Callable[[], Any] = lambda: None) -> Job:
    SCRIPT.meanwhile = does
    name = f"j{len(lab.items())}"
    create(name, handler=handler, retry=Retry(max_attempts=1))
    lab.settle()
    assert lab.messages() == [], "its message is done with"
    return job(name)


def raising(error: BaseException) -> Callable[[], NoReturn]:
    def raises() -> NoReturn:
        raise error

    return raises


class Unspeakable(Exception):
    """An error whose text is an error."""

    def __str__(self) -> str:
        """Fail."""
        raise RuntimeError("no words")


class Mute:
    """A value with no JSON."""


def test_a_result_is_kept(lab: Lab) -> None:
    """As JSON, whatever it is; a handler that returns nothing has the result null."""
    for value in (None, 0, "é", {"a": [1.5]}):
        assert json.loads(outcome(lab, does=partial(copy, value)).result or "") == value


def test_a_large_result_is_replaced_by_its_size(lab: Lab) -> None:
    """4 KiB are kept, in bytes and not in characters."""
    assert outcome(lab, does=lambda: "x" * 4_094).result == '"' + "x" * 4_094 + '"'
    assert outcome(lab, does=lambda: "x" * 4_095).result == '{"truncated":true,"bytes":4097}'
    assert outcome(lab, does=lambda: "é" * 3_000).result == '{"truncated":true,"bytes":6002}'


NO_JSON = "TypeError: what the handler returned is no JSON: "
ERRORS: list[tuple[Callable[[], Any], str]] = [
    (raising(RuntimeError("boom")), "RuntimeError: boom"),
    (raising(SystemExit(3)), "SystemExit: 3"),
    (raising(KeyboardInterrupt()), "KeyboardInterrupt"),
    (raising(Unspeakable()), "Unspeakable"),
    (raising(RetryAfter(30)), "RetryAfter: retry after 30 s"),
    (raising(ValueError("x" * 1_000)), "ValueError: xxx"),
    (raising(OSError("no file \udcff")), "OSError: no file ?"),
    (Mute, f"{NO_JSON}Object of type Mute is not JSON serializable"),
    (lambda: float("nan"), f"{NO_JSON}Out of range float values are not JSON compliant"),
    (lambda: "\ud800", NO_JSON),
]


def test_whatever_it_raises_or_returns_the_attempt_has_failed(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error without a text passed for a timeout and ended the process; one that no table can keep was lost."""
    monkeypatch.setattr(worker, "end_process", raising(AssertionError("nothing is stuck")))
    for does, error in ERRORS:
        dead = outcome(lab, does=does)
        assert (dead.state, dead.reason) == (State.DEAD, "failed"), error
        assert dead.error is not None
        assert dead.error.startswith(error)
        assert len(dead.error) <= 400
        dead.error.encode()


def test_what_it_says_on_purpose_is_kept(lab: Lab) -> None:
    """Discard ends the job with its reason; RetryAfter fails the attempt, here the last one."""
    discarded, later = outcome(lab, "test.discard"), outcome(lab, "test.retry_after")
    assert (discarded.state, discarded.reason, discarded.error) == (State.DEAD, "discarded", "the link is gone")
    assert (later.state, later.reason) == (State.DEAD, "failed")
    odd = outcome(lab, does=raising(Discard(404)))  # type: ignore[arg-type]
    assert (odd.reason, odd.error) == ("discarded", "404")


def test_an_error_without_words_is_known_by_its_name(lab: Lab) -> None:
    """A job that was given up with an empty reason had no error at all, and `raise KeyboardInterrupt` left a colon."""
    unsaid = [outcome(lab, does=raising(error)).error for error in (Discard(""), KeyboardInterrupt(), Unspeakable())]
    assert unsaid == ["Discard", "KeyboardInterrupt", "Unspeakable"]


def test_an_unknown_handler_is_named_with_those_that_are_known(lab: Lab) -> None:
    """A job for a handler that was not deployed yet failed with a KeyError."""
    dead = outcome(lab, "no.such")
    assert (dead.state, dead.reason, dead.attempt) == (State.DEAD, "no such handler", 1)
    assert dead.error is not None
    assert dead.error.startswith("no handler is named 'no.such'; known: ")
    assert ", example.echo, " in dead.error
    assert "test.record" in dead.error
