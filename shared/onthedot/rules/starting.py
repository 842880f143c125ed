"""Whether a message may start its job: the table on which every start, and every dead letter, is judged.

The poller is dumb: it sends whatever wakes, twice if need be. This table is what makes that harmless.
"""

from datetime import datetime, timedelta
from enum import StrEnum

from onthedot.rules.instants import to_text
from onthedot.rules.jobs import Job, State
from onthedot.rules.schedules import Schedule

BY_HAND = "manual#"
TURN = timedelta(seconds=60)
"""How long a job that waits for its turn waits until it looks itself."""


class Verdict(StrEnum):
    """What a message means for the job as it is now."""

    DUE = "due"  # may start
    EARLY = "early"  # a clock is ahead: the message waits for the rest
    LATE = "late"  # the time in which it may start is over: skipped
    STALE = "stale"  # the message is of a time that the job no longer has: dropped
    MINE = "mine"  # this very attempt already won: a repeated call met its own write
    HELD = "held"  # another attempt owns it: the message waits for the rest of the lease
    TAKE_OVER = "take_over"  # its worker died, and attempts are left
    STOPPED = "stopped"  # its worker died, and somebody had asked it to stop: cancelled
    WORKER_DIED = "worker_died"  # its worker died, and none is left
    OVER = "over"  # it has an outcome, or is gone: dropped


def judge(
    job: Job | None, wake: datetime, now: datetime, *, owner: str, max_attempts: int, max_skew: timedelta
) -> Verdict:
    """Return what a message with this `wake` means for `job`."""
    if job is None or not job.pending or job.has_expired(now):
        return Verdict.OVER
    if job.state is State.RUNNING:
        return _judge_running(job, now, owner, max_attempts, max_skew)
    if job.wake != wake:
        return Verdict.STALE
    if job.run_at > now:
        return Verdict.EARLY
    return Verdict.LATE if _is_late(job, now) else Verdict.DUE


class Standing(StrEnum):
    """Whether the schedule of a job that has just started wants it to run."""

    IN_FORCE = "in force"  # it does
    DELETED = "its schedule was deleted"  # cancelled
    PAUSED = "its schedule is paused"  # skipped
    HELD = "an earlier slot still runs"  # skipped
    QUEUED = "an earlier slot still runs, and another waits for it"  # skipped
    WAITS = "waits for an earlier slot"  # goes back through put
    SUPERSEDED = "superseded by an edit"  # the slot belongs to the new version; the job is deleted


def judge_schedule(schedule: Schedule | None, job: Job, now: datetime) -> Standing:
    """Return what the schedule, read after its job has started, says of it: pause, edit and delete hold until then.

    The second attempt of a job is of the version that made the first. What was asked for by hand, as a job that goes
    again after its outcome was, runs in a pause and after an edit, too. A schedule that cannot be read says nothing: a
    worker that is older than the row must not cancel what was planned.
    """
    if schedule is not None and not schedule.readable:
        return Standing.IN_FORCE
    if schedule is None or schedule.generation != job.generation:
        return Standing.DELETED
    if job.slot.startswith(BY_HAND) or job.revived_at is not None:
        return Standing.IN_FORCE
    if schedule.is_paused(now):
        return Standing.PAUSED
    later = schedule.version != job.version and job.slot > to_text(schedule.since) and not job.pinned
    return Standing.SUPERSEDED if later and job.attempt == 1 else Standing.IN_FORCE


def is_in_line(job: Job | None, now: datetime) -> bool:
    """Tell whether the job that is marked as the one that runs, or waits, still does.

    It does from its first start to its outcome, backoff included; not if somebody moved it to a later time by hand, or
    sent it again for a later time.
    """
    if job is None or not job.pending:
        return False
    is_put_off = job.pinned or (job.revived_at is not None and job.attempt == 0)
    return job.state is State.RUNNING or not is_put_off or job.run_at <= now + 2 * TURN


def lease_over_at(job: Job, max_skew: timedelta) -> datetime:
    """Return when another worker may be sure that the lease is over, whatever the two clocks say."""
    assert job.lease_until is not None, f"{job.id} runs without a lease"
    return job.lease_until + 2 * max_skew


def _judge_running(job: Job, now: datetime, owner: str, max_attempts: int, max_skew: timedelta) -> Verdict:
    if job.owner == owner:
        return Verdict.MINE
    if lease_over_at(job, max_skew) >= now:
        return Verdict.HELD
    if job.stop:
        return Verdict.STOPPED
    if job.attempt >= max_attempts:
        return Verdict.WORKER_DIED
    return Verdict.LATE if _is_late(job, now) else Verdict.TAKE_OVER


def _is_late(job: Job, now: datetime) -> bool:
    return job.start_before is not None and job.start_before < now
