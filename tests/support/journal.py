"""The journal: every call of a handler, when it began and how it ended. No death of a process tears it.

The handlers do what the job's payload says: `{"fails": 2, "seconds": 5, "version": 1}` fails in the first two
attempts, takes five seconds each time, and notes the version of the schedule that it comes from.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from onthedot import Job, handler

TIMEOUT = timedelta(seconds=20)
MAX_ATTEMPTS = 3


@dataclass(slots=True)
class Called:
    """One call of a handler; `ended_at` stays `None` if its process died.

    `job_asked_at` and `schedule_asked_at` are when its worker last asked the tables whether it may begin.
    """

    id: str
    attempt: int
    key: str
    slot: datetime | None
    schedule: str | None
    payload: dict[str, Any]
    began_at: datetime
    job_asked_at: datetime
    schedule_asked_at: datetime
    ended_at: datetime | None = None
    result: str | None = None


def _now_both() -> tuple[datetime, datetime]:
    return datetime.now(UTC), datetime.now(UTC)


def _nothing(_: Job) -> None:
    return


@dataclass(slots=True)
class Journal:
    """All calls, in order; `asked` and `meanwhile` are what whoever plays the processes knows and does."""

    calls: list[Called] = field(default_factory=list)
    asked: Callable[[], tuple[datetime, datetime]] = _now_both
    meanwhile: Callable[[Job], None] = _nothing

    def clear(self) -> None:
        """Forget everything."""
        self.calls.clear()
        self.asked, self.meanwhile = _now_both, _nothing


JOURNAL = Journal()


@handler("journal.work", max_attempts=MAX_ATTEMPTS, timeout=TIMEOUT.total_seconds())
def work(job: Job) -> str:
    """Do what the payload says, and return a text that no other call returns."""
    payload = job.payload or {}
    called = Called(
        job.id,
        job.attempt,
        job.idempotency_key,
        job.slot,
        job.schedule,
        payload,
        datetime.now(UTC),
        *JOURNAL.asked(),
    )
    JOURNAL.calls.append(called)
    JOURNAL.meanwhile(job)
    called.ended_at = datetime.now(UTC)
    if job.attempt <= payload.get("fails", 0):
        raise RuntimeError(f"attempt {job.attempt} fails")
    called.result = f"{job.id} {job.attempt} {len(JOURNAL.calls)}"
    return called.result
