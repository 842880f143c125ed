"""`@handler`: what users write."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

import handlers  # noqa: F401 - found by import
from onthedot import Job, handler
from onthedot.handler import _HANDLERS, HANDLERS


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    before = dict(_HANDLERS)
    yield
    _HANDLERS.clear()
    _HANDLERS.update(before)


def function_of(module: str) -> Callable[[Job], Any]:
    def function(job: Job) -> str:
        return job.id

    function.__module__ = module
    return function


def test_a_function_is_found_by_the_name_it_was_given() -> None:
    function = function_of("one")
    assert handler("unit.a", max_attempts=8, timeout=2.5)(function) is function
    found = HANDLERS["unit.a"]
    assert (found.name, found.function, found.max_attempts) == ("unit.a", function, 8)
    assert found.timeout == timedelta(seconds=2.5)


def test_what_it_does_not_say_is_left_open() -> None:
    handler("unit.a")(function_of("one"))
    assert (HANDLERS["unit.a"].max_attempts, HANDLERS["unit.a"].timeout) == (None, None)


def test_two_modules_may_not_use_one_name() -> None:
    """Which of them ran would depend on the order of imports."""
    handler("unit.a")(function_of("one"))
    with pytest.raises(ValueError, match=r"'unit\.a': one\..* and two\."):
        handler("unit.a")(function_of("two"))
    assert HANDLERS["unit.a"].function.__module__ == "one"


def test_a_module_may_be_imported_again() -> None:
    handler("unit.a")(function_of("one"))
    again = function_of("one")
    handler("unit.a")(again)
    assert HANDLERS["unit.a"].function is again


def test_nobody_else_changes_the_handlers() -> None:
    with pytest.raises(TypeError):
        HANDLERS["x"] = HANDLERS["example.echo"]  # type: ignore[index]


@pytest.mark.parametrize("name", ["", "has space", "-first", "a" * 65, "a/b"])
def test_a_name_that_no_request_can_say_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no request can name"):
        handler(name)


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf")])
def test_a_timeout_that_is_none_is_refused(timeout: float) -> None:
    with pytest.raises(ValueError, match="above 0"):
        handler("unit.a", timeout=timeout)


@pytest.mark.parametrize("attempts", [0, 51])
def test_attempts_that_are_none_or_more_than_sqs_would_bear_are_refused(attempts: int) -> None:
    with pytest.raises(ValueError, match="must be 1 to 50"):
        handler("unit.a", max_attempts=attempts)


def test_two_functions_of_one_module_may_not_share_a_name() -> None:
    """The second one silently took the place of the first."""
    first, second = function_of("one"), function_of("one")
    second.__qualname__ = "another"
    handler("unit.a")(first)
    with pytest.raises(ValueError, match="two handlers"):
        handler("unit.a")(second)
