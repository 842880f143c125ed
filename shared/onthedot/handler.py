"""What users import to say what jobs do.

    from onthedot import Job, handler

    @handler("report.weekly", timeout=45)
    def report(job: Job) -> dict[str, int]: ...

A handler runs at least once for each job, perhaps more: `job.idempotency_key` is the same for every attempt.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

from onthedot.rules.jobs import NAME, Retry
from onthedot.rules.policies import MOST_ATTEMPTS, Policy


@dataclass(frozen=True, slots=True)
class Job:
    """The job that a handler is called for.

    `heartbeat` says that the attempt goes on: its timeout begins anew, as far as the function's own time allows.
    Units: `remaining` in seconds.
    Raises: `heartbeat` raises Stopped when the attempt must end.
    """

    id: str
    payload: Any
    attempt: int
    idempotency_key: str
    remaining: Callable[[], float]
    heartbeat: Callable[[], None]
    schedule: str | None = None
    slot: datetime | None = None
    local_slot: datetime | None = None


Function = Callable[[Job], Any]


class RetryAfter(Exception):
    """Raised by a handler: this attempt failed, and the next should wait for so long."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"retry after {seconds} s")
        self.seconds = seconds


class Discard(Exception):
    """Raised by a handler: the job is dead at once, and no attempt is worth making."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Stopped(Exception):
    """Raised by `job.heartbeat()`: this attempt is over, whatever it does; the handler should tidy up and end."""


@dataclass(frozen=True, slots=True)
class Handler:
    """A function with its name and what it says of its attempts."""

    name: str
    function: Function
    max_attempts: int | None
    timeout: timedelta | None

    @property
    def policy(self) -> Policy:
        """What governs the attempts of a job that says nothing."""
        return Policy().said(self.timeout, Retry(self.max_attempts))


_HANDLERS: dict[str, Handler] = {}

HANDLERS: Mapping[str, Handler] = MappingProxyType(_HANDLERS)
"""Every handler that was imported, by name."""


def handler(
    name: str, *, max_attempts: int | None = None, timeout: float | None = None
) -> Callable[[Function], Function]:
    """Register the function below as what jobs with this handler's name do.

    Units: `timeout` in seconds.
    Raises: ValueError when another function has the name, when no request could name it, or for limits that are none.
    """
    if not re.fullmatch(NAME, name):
        raise ValueError(f"no request can name a handler {name!r}: {NAME}")
    if timeout is not None and not 0 < timeout < float("inf"):
        raise ValueError(f"the timeout of {name} is {timeout}; it must be a number of seconds above 0")
    if max_attempts is not None and not 1 <= max_attempts <= MOST_ATTEMPTS:
        raise ValueError(f"the max_attempts of {name} is {max_attempts}; it must be 1 to {MOST_ATTEMPTS}")
    span = None if timeout is None else timedelta(seconds=timeout)

    def register(function: Function) -> Function:
        there = _HANDLERS.get(name)
        if there is not None and _home(there.function) != _home(function):
            raise ValueError(f"two handlers are named {name!r}: {_home(there.function)} and {_home(function)}")
        _HANDLERS[name] = Handler(name, function, max_attempts, span)
        return function

    return register


def _home(function: Function) -> str:
    return f"{function.__module__}.{function.__qualname__}"
