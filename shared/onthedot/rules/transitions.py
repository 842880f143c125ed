"""What each transition makes of a job, from its start to its outcome. Whether it is made, a condition decides.

        +------ failed, attempts left -----+
        v                                  |
    scheduled --start--> running --finish--+--> succeeded | dead
        |                 |   ^
        |                 +---+ its worker died, attempts left
        |                 +--- its worker died, none left ---> dead
        |                 +--- asked to stop, and did not succeed ---> cancelled
        +--cancel--> cancelled
        +--late (start_within)--> skipped

    dead | cancelled --retry by hand--> scheduled

A job is on the agenda (it has a `wake`) until it has an outcome; from then on it only waits to expire.
"""

from dataclasses import replace
from datetime import datetime, timedelta

from onthedot.rules.instants import up_to_second
from onthedot.rules.jobs import Job, State
from onthedot.rules.past import Past, remembered

WORKER_DIED = "worker died"


def started(job: Job, owner: str, now: datetime, lease_until: datetime) -> Job:
    """Return the job as the next attempt has it."""
    return replace(
        job, state=State.RUNNING, attempt=job.attempt + 1, owner=owner, started_at=now, lease_until=lease_until
    )


def taken_over(job: Job, owner: str, now: datetime, lease_until: datetime) -> Job:
    """Return the job as the attempt has it that follows one whose worker died."""
    return started(_remembering(job, WORKER_DIED, None), owner, now, lease_until)


def failed(job: Job, run_at: datetime, error: str, at: datetime | None) -> Job:
    """Return the job as it waits for its next attempt, after one that failed at a time that is perhaps not known.

    Its owner stays, by whom a repeated finish knows its own write. Its time is no longer one that somebody gave it.
    """
    past = _remembering(job, error, at)
    waiting = replace(past, state=State.SCHEDULED, pinned=None, started_at=None, lease_until=None)
    return _due(waiting, run_at)


def given_back(job: Job) -> Job:
    """Return the job as it was before the attempt that owns it."""
    return replace(job, state=State.SCHEDULED, attempt=job.attempt - 1, owner=None, started_at=None, lease_until=None)


def ended(
    job: Job,
    state: State,
    now: datetime,
    keep: timedelta,
    *,
    result: str | None = None,
    error: str | None = None,
    reason: str | None = None,
) -> Job:
    """Return the job with an outcome: off the agenda, and kept for the retention."""
    return replace(
        job,
        state=state,
        wake=None,
        finished_at=now,
        expires_at=up_to_second(now + keep),
        result=result,
        error=error,
        reason=reason,
    )


def moved(job: Job, run_at: datetime) -> Job:
    """Return the job due at another time; what bounds its start moves with it."""
    return replace(_due(job, run_at), pinned=job.of_schedule or None)


def revived(job: Job, now: datetime, run_at: datetime, owner: str) -> Job:
    """Return a job with an outcome as one that goes again, from its first attempt on.

    Nothing is left of its former life, above all no `expires_at`: the table would delete a job that waits. `owner`,
    which nobody else draws, tells this write from that of another who sends the job again at the same moment.
    """
    return replace(
        moved(job, run_at),
        state=State.SCHEDULED,
        revived_at=now,
        pinned=None,
        attempt=0,
        past=(),
        stop=None,
        owner=owner,
        lease_until=None,
        started_at=None,
        finished_at=None,
        result=None,
        error=None,
        reason=None,
        expires_at=None,
    )


def _remembering(job: Job, error: str, at: datetime | None) -> Job:
    assert job.started_at is not None, f"{job.id} has an attempt that never began"
    return replace(job, past=remembered(job.past, Past(job.attempt, job.started_at, at, error)))


def _due(job: Job, run_at: datetime) -> Job:
    start_before = run_at + job.start_within if job.start_within else None
    return replace(job, run_at=run_at, start_before=start_before)
