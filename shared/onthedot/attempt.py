"""One attempt: a handler called with a time limit, and whatever it does turned into how the attempt ended.

A handler runs on a thread of its own. One that is not done at its timeout can't be stopped: its attempt is over, and
whoever called must end the process, since a frozen thread would go on in the next invocation.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Thread
from typing import Any

from onthedot.handler import Discard, Function, Handler
from onthedot.handler import Job as Given
from onthedot.rules.instants import from_text
from onthedot.rules.jobs import Job
from onthedot.rules.policies import Policies, Policy
from onthedot.steps.finish import Ending, Failure, Success

MAX_ERROR = 400
"""Characters of an error that are kept."""
MAX_RESULT = 4096
"""Bytes of a result that are kept; of a larger one only its size."""


@dataclass(frozen=True, slots=True)
class Attempts:
    """Runs handlers."""

    handlers: Mapping[str, Handler]
    now: Callable[[], datetime]

    def policies(self) -> Policies:
        """Return what the handlers say of their attempts."""
        own = {name: handler.timeout for name, handler in self.handlers.items() if handler.timeout is not None}
        return Policies({name: Policy(timeout) for name, timeout in own.items()})

    def run(self, job: Job, payload: str, timeout: timedelta) -> Ending:
        """Call the job's handler, and return how that ended."""
        handler = self.handlers.get(job.handler)
        if handler is None:
            known = ", ".join(sorted(self.handlers)) or "none"
            return Failure(f"no handler is named {job.handler!r}; known: {known}"[:MAX_ERROR], "no such handler")
        deadline = self.now() + timeout
        given = _given(job, payload, lambda: max(0.0, (deadline - self.now()).total_seconds()))
        endings: list[Ending] = []
        thread = Thread(target=lambda: endings.append(_ending(handler.function, given)), daemon=True)
        thread.start()
        thread.join(timeout.total_seconds())
        if not endings:
            return Failure(f"timed out after {timeout.total_seconds():g} s", "timed out", stuck=True)
        return endings[0]


def _given(job: Job, payload: str, remaining: Callable[[], float]) -> Given:
    name, of_slot = job.schedule.split("#", 1)[1], job.of_schedule and not job.slot.startswith("manual#")
    return Given(
        id=job.id,
        payload=json.loads(payload),
        attempt=job.attempt,
        idempotency_key=job.idempotency_key,
        remaining=remaining,
        schedule=name if job.of_schedule else None,
        slot=from_text(job.slot) if of_slot else None,
        local_slot=datetime.fromisoformat(job.local_slot) if job.local_slot else None,
    )


def _ending(function: Function, given: Given) -> Ending:
    try:
        return Success(_result(function(given)))
    except BaseException as error:  # whatever a handler raises, SystemExit too, is how its attempt ended
        return Failure(_said(error), "discarded" if isinstance(error, Discard) else "failed")


def _said(error: BaseException) -> str:
    """Return an error's text as it can be stored; it is the handler's own, so that to ask for it may fail too."""
    name = type(error).__name__
    try:
        text = str(error.reason) if isinstance(error, Discard) else f"{name}: {error}"
    except Exception:
        text = name
    return text.encode(errors="replace").decode()[:MAX_ERROR]


def _result(value: Any) -> str:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    size = len(text.encode())
    return text if size <= MAX_RESULT else f'{{"truncated":true,"bytes":{size}}}'
