"""Handlers for tests: `RAN` tells which jobs ran, when, and in which attempt."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Event
from typing import Any

from onthedot import Discard, Job, RetryAfter, handler


@dataclass(frozen=True, slots=True)
class Ran:
    """One call of a handler."""

    id: str
    attempt: int
    at: datetime
    payload: Any
    key: str
    local_slot: str | None


@dataclass(slots=True)
class Script:
    """What the test wants to happen: `meanwhile` inside `test.meanwhile`, `afterwards` when `test.record` is done.

    `with_job` is told the job inside `test.given`. `succeeds_at` is the first attempt of `test.flaky` that does;
    `go_on` ends `test.never`.
    """

    meanwhile: Callable[[], Any] = lambda: None
    afterwards: Callable[[], Any] = lambda: None
    with_job: Callable[[Job], Any] = lambda _: None
    succeeds_at: int = 1_000
    go_on: Event = field(default_factory=Event)


RAN: list[Ran] = []
SCRIPT = Script()


def once(happening: Callable[[], Any]) -> None:
    """Have something happen inside the next run of `test.meanwhile`, and in no later one."""

    def meanwhile() -> None:
        SCRIPT.meanwhile = lambda: None
        happening()

    SCRIPT.meanwhile = meanwhile


def ran() -> list[str]:
    """Return the ids of the jobs that ran, in order."""
    return [call.id for call in RAN]


def note(job: Job) -> None:
    """Note that a job runs."""
    local = job.local_slot.isoformat() if job.local_slot else None
    RAN.append(Ran(job.id, job.attempt, datetime.now(UTC), job.payload, job.idempotency_key, local))


@handler("test.record")
def record(job: Job) -> Any:
    """Return the payload."""
    note(job)
    SCRIPT.afterwards()
    return job.payload


@handler("test.meanwhile")
def meanwhile(job: Job) -> Any:
    """Do what the test wants to happen while the job runs."""
    note(job)
    return SCRIPT.meanwhile()


@handler("test.quick", timeout=5)
def quick(job: Job) -> None:
    """Take so little time that nobody needs to wait long for the next attempt."""
    note(job)


@handler("test.given")
def given(job: Job) -> Any:
    """Do with the job what the test wants, such as a heartbeat."""
    note(job)
    return SCRIPT.with_job(job)


@handler("test.fail", max_attempts=1)
def fail(job: Job) -> None:
    """Fail."""
    note(job)
    raise RuntimeError("boom")


@handler("test.flaky")
def flaky(job: Job) -> Any:
    """Fail, in every attempt but those that the test lets pass."""
    note(job)
    if job.attempt < SCRIPT.succeeds_at:
        raise RuntimeError(f"boom {job.attempt}")
    return job.attempt


@handler("test.discard")
def discard(job: Job) -> None:
    """Give up for good."""
    note(job)
    raise Discard("the link is gone")


@handler("test.retry_after")
def retry_after(job: Job) -> None:
    """Ask for another attempt."""
    note(job)
    raise RetryAfter(30)


@handler("test.never", max_attempts=1)
def never(job: Job) -> None:
    """Never end, as long as the test lasts."""
    note(job)
    SCRIPT.go_on.wait(30)
