"""What the jobs do: they take time, fail, give up or hang as their payload says, and note each call."""

import time
from secrets import token_hex
from typing import Any

from tests.races.journal import note

from onthedot import Discard, Job, RetryAfter, handler

RETRY_AFTER = 1.5
"""Units: seconds."""


@handler("race.play", timeout=2)
def play(job: Job) -> dict[str, Any]:
    """Do what the payload says; the result names the call that made it."""
    said, call = job.payload, token_hex(6)
    due = job.slot.timestamp() if job.slot else said["due"]
    facts = {"call": call, "job": job.id, "key": job.idempotency_key, "attempt": job.attempt}
    note("begin", **facts, left=job.remaining(), due=due)
    how = "stopped"
    try:
        time.sleep(_seconds(said, job.attempt))
        how = said["how"] if job.attempt <= said.get("fails", 0) else "well"
    finally:
        note("end", call=call, how=how)
    if how != "well":
        raise _failure(how)
    return {"call": call, "attempt": job.attempt}


def _seconds(said: dict[str, Any], attempt: int) -> float:
    """Return how long a call takes: longer where another died, so that whoever thaws meets one that runs."""
    if said.get("hangs") and attempt == 1:
        return 600
    return float(said.get("seconds", 0) if attempt == 1 or "fails" in said else 0.7)


def _failure(how: str) -> Exception:
    match how:
        case "discarded":
            return Discard("as it was told")
        case "asked":
            return RetryAfter(RETRY_AFTER)
    return RuntimeError("boom")
