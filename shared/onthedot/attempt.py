"""One attempt: a handler called with a time limit, and whatever it does turned into how the attempt ended.

A handler runs on a thread of its own. One that is not done in time is stopped by an exception that Python raises in its
thread. One that waits outside of Python does not meet it: its attempt is over all the same, and whoever called must end
the process, since a frozen thread would go on in the next invocation.
"""

import json
from collections.abc import Callable, Mapping
from ctypes import c_ulong, py_object, pythonapi
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import ceil, isfinite
from threading import Lock, Thread
from typing import Any

from onthedot.handler import Discard, Function, Handler, RetryAfter, Stopped
from onthedot.handler import Job as Given
from onthedot.rules.instants import MILLISECOND, from_text
from onthedot.rules.jobs import Job
from onthedot.rules.policies import Policies
from onthedot.rules.retry import LONGEST_WAIT
from onthedot.steps.finish import Ending, Failure, Success
from onthedot.steps.heartbeat import Beat, Pulse
from onthedot.steps.start import Attempt

MAX_ERROR = 400
"""Characters of an error that are kept."""
MAX_RESULT = 4096
"""Bytes of a result that are kept; of a larger one only its size."""
GRACE = timedelta(seconds=1)
"""How long a handler that is stopped may take to end."""
UNHEARD = 3
"""Heartbeats in a row without an answer, after which an attempt ends: another may soon own the job."""


class TimedOut(BaseException):
    """Raised in the thread of a handler whose time is over; no handler catches it by `except Exception`."""


@dataclass(frozen=True, slots=True)
class Attempts:
    """Runs handlers, in an invocation that must have ended them by `until`."""

    handlers: Mapping[str, Handler]
    said: Policies
    now: Callable[[], datetime]
    until: datetime

    def policies(self) -> Policies:
        """Return what the handlers say of their attempts."""
        return self.said

    def run(self, attempt: Attempt, payload: str, pulse: Pulse) -> Ending:
        """Call the job's handler, and return how that ended."""
        job, begun_at = attempt.job, self.now()
        handler = self.handlers.get(job.handler)
        if handler is None:
            known = ", ".join(sorted(self.handlers)) or "none"
            return Failure(f"no handler is named {job.handler!r}; known: {known}"[:MAX_ERROR], "no such handler")
        timeout = min(attempt.policy.timeout, self.until - begun_at)
        running = _Running(self.now, timeout, self.until, pulse, begun_at + timeout)
        return _ran(handler.function, _given(job, payload, running), running)


@dataclass(slots=True)
class _Running:
    """The time that an attempt has, which its heartbeats draw out."""

    now: Callable[[], datetime]
    timeout: timedelta
    until: datetime
    pulse: Pulse
    deadline: datetime
    unheard: int = field(default=0)
    alone: Lock = field(default_factory=Lock)

    def remaining(self) -> float:
        return max(0.0, (self.deadline - self.now()).total_seconds())

    def heartbeat(self) -> None:
        """Beat, one thread after the other: an older beat that came later would shorten the lease."""
        with self.alone:
            self._beat()

    def _beat(self) -> None:
        deadline = max(self.deadline, min(self.now() + self.timeout, self.until))
        beat = self.pulse(deadline)
        self.unheard = self.unheard + 1 if beat is Beat.UNHEARD else 0
        if beat is Beat.GO_ON:
            self.deadline = deadline
        elif beat is not Beat.UNHEARD or self.unheard >= UNHEARD:
            raise Stopped(beat.value)


def policies_of(handlers: Mapping[str, Handler]) -> Policies:
    """Return what handlers say of their attempts."""
    return Policies({name: handler.policy for name, handler in handlers.items()})


def _ran(function: Function, given: Given, running: _Running) -> Ending:
    endings: list[Ending] = []
    thread = Thread(target=_call, args=(function, given, endings), daemon=True)
    first = deadline = running.deadline
    thread.start()
    thread.join(running.timeout.total_seconds())
    while thread.is_alive() and deadline != running.deadline:
        deadline = running.deadline
        thread.join(running.remaining())
    if endings:
        return endings[0]
    return Failure(_timed_out(running, first), "timed out", stuck=not _stop(thread))


def _timed_out(running: _Running, first: datetime) -> str:
    """Return which time is over: its own, or that of the function, for one whose heartbeats have drawn its own out."""
    if first < running.deadline == running.until:
        return "timed out: its function's time was over, which no heartbeat draws out"
    return f"timed out after {running.timeout.total_seconds():g} s"


def _stop(thread: Thread) -> bool:
    """Stop a thread, and tell whether it has ended."""
    if thread.ident is not None:
        pythonapi.PyThreadState_SetAsyncExc(c_ulong(thread.ident), py_object(TimedOut))
    thread.join(GRACE.total_seconds())
    return not thread.is_alive()


def _call(function: Function, given: Given, endings: list[Ending]) -> None:
    try:
        endings.append(_ending(function, given))
    except TimedOut:
        return


def _given(job: Job, payload: str, running: _Running) -> Given:
    name, of_slot = job.schedule.split("#", 1)[1], job.of_schedule and not job.slot.startswith("manual#")
    return Given(
        id=job.id,
        payload=json.loads(payload),
        attempt=job.attempt,
        idempotency_key=job.idempotency_key,
        remaining=running.remaining,
        heartbeat=running.heartbeat,
        schedule=name if job.of_schedule else None,
        slot=from_text(job.slot) if of_slot else None,
        local_slot=datetime.fromisoformat(job.local_slot) if job.local_slot else None,
    )


def _ending(function: Function, given: Given) -> Ending:
    try:
        return Success(_result(function(given)))
    except TimedOut:
        raise
    except Discard as error:
        return Failure(_said(error), "discarded", final=True)
    except RetryAfter as error:
        return Failure(_said(error.__cause__ or error), "failed", wait=_wait(error.seconds))
    except BaseException as error:  # whatever a handler raises, SystemExit too, is how its attempt ended
        return Failure(_said(error), "failed")


def _wait(seconds: Any) -> timedelta | None:
    """Return the wait that a handler asked for; `None`, for the backoff, where that is no span."""
    try:
        if not isfinite(seconds):
            return None
        return min(ceil(float(seconds) * 1000), LONGEST_WAIT // MILLISECOND) * MILLISECOND
    except Exception:
        return None


def _said(error: BaseException) -> str:
    """Return an error's text as it can be stored; it is the handler's own, so that to ask for it may fail too."""
    name = type(error).__name__
    try:
        text = str(error.reason if isinstance(error, Discard) else error)
    except Exception:
        text = ""
    if not isinstance(error, Discard) or not text:
        text = f"{name}: {text}" if text else name
    return text.encode(errors="replace").decode()[:MAX_ERROR]


def _result(value: Any) -> str:
    try:
        text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        size = len(text.encode())
    except Exception as error:
        raise TypeError(f"what the handler returned is no JSON: {error}") from error
    return text if size <= MAX_RESULT else f'{{"truncated":true,"bytes":{size}}}'
