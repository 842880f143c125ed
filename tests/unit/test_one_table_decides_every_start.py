"""The table on which every start and every dead letter is judged, as data: one row, one fact that differs."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.unit.making import NOW, a_job, running

from onthedot.rules.instants import MILLISECOND
from onthedot.rules.jobs import Job, State
from onthedot.rules.starting import Verdict, judge, lease_over_at

SKEW = timedelta(seconds=2)
WAKE = a_job().wake
LEASE_OVER = NOW - 2 * SKEW - MILLISECOND


@dataclass(frozen=True, slots=True)
class Row:
    """A job, what is judged, and the verdict."""

    job: Job | None
    verdict: Verdict
    said: dict[str, Any] = field(default_factory=dict)


def over(state: State) -> Row:
    return Row(a_job(state=state, wake=None, finished_at=NOW), Verdict.OVER)


ROWS = {
    "its time has come": Row(a_job(), Verdict.DUE),
    "its time has just come": Row(a_job(run_at=NOW), Verdict.DUE),
    "its time is long over": Row(a_job(run_at=NOW - timedelta(days=9)), Verdict.DUE),
    "its time comes in a millisecond": Row(a_job(run_at=NOW + MILLISECOND), Verdict.EARLY),
    "early, and can no longer start": Row(
        a_job(run_at=NOW + MILLISECOND, start_before=NOW - MILLISECOND), Verdict.EARLY
    ),
    "it must start by now": Row(a_job(start_before=NOW), Verdict.DUE),
    "it must have started": Row(a_job(start_before=NOW - MILLISECOND), Verdict.LATE),
    "another wake, later": Row(a_job(wake=NOW + MILLISECOND), Verdict.STALE),
    "another wake, earlier": Row(a_job(wake=NOW - MILLISECOND), Verdict.STALE),
    "another wake, and not yet due": Row(a_job(wake=NOW + MILLISECOND, run_at=NOW + MILLISECOND), Verdict.STALE),
    "the same call again": Row(running(owner="me"), Verdict.MINE),
    "the same call again, lease over": Row(running(owner="me", lease_until=LEASE_OVER), Verdict.MINE),
    "another attempt runs": Row(running(), Verdict.HELD),
    "another attempt runs, other wake": Row(running(wake=NOW + MILLISECOND), Verdict.HELD),
    "its lease may not be over by another clock": Row(running(lease_until=NOW - 2 * SKEW), Verdict.HELD),
    "its worker died, attempts are left": Row(running(lease_until=LEASE_OVER), Verdict.TAKE_OVER, {"max_attempts": 2}),
    "its worker died, the last attempt": Row(
        running(lease_until=LEASE_OVER, attempt=2), Verdict.WORKER_DIED, {"max_attempts": 2}
    ),
    "its worker died, more attempts than there may be": Row(
        running(lease_until=LEASE_OVER, attempt=3), Verdict.WORKER_DIED, {"max_attempts": 2}
    ),
    "its worker died, other wake": Row(running(lease_until=LEASE_OVER, wake=NOW + MILLISECOND), Verdict.WORKER_DIED),
    "its worker died, and it was asked to stop": Row(
        running(lease_until=LEASE_OVER, stop=True), Verdict.STOPPED, {"max_attempts": 2}
    ),
    "its worker died, and another attempt would be too late": Row(
        running(lease_until=LEASE_OVER, start_before=NOW - MILLISECOND), Verdict.LATE, {"max_attempts": 2}
    ),
    "its worker died, too late, and none is left": Row(
        running(lease_until=LEASE_OVER, start_before=NOW - MILLISECOND), Verdict.WORKER_DIED
    ),
    "asked to stop, and still running": Row(running(stop=True), Verdict.HELD),
    "it is gone": Row(None, Verdict.OVER),
    "it has expired": Row(a_job(expires_at=NOW), Verdict.OVER),
    "running, and it has expired": Row(running(expires_at=NOW), Verdict.OVER),
    **{f"it is {state}": over(state) for state in set(State) - {State.SCHEDULED, State.RUNNING}},
}


@pytest.mark.parametrize("name", sorted(ROWS))
def test_the_table(name: str) -> None:
    row = ROWS[name]
    said: dict[str, Any] = {"owner": "me", "max_attempts": 1, "max_skew": SKEW} | row.said
    assert WAKE is not None
    assert judge(row.job, WAKE, NOW, **said) is row.verdict


def test_every_verdict_is_in_the_table() -> None:
    assert {row.verdict for row in ROWS.values()} == set(Verdict)


@pytest.mark.parametrize("ahead", [-SKEW, timedelta(0), SKEW])
def test_a_lease_is_over_only_when_it_is_over_by_every_clock(ahead: timedelta) -> None:
    """The owner's clock may be slow by the skew while the judge's is fast by it."""
    job = running(lease_until=NOW)
    judged_at: datetime = NOW + 2 * SKEW + MILLISECOND
    owners_clock = judged_at - SKEW - ahead
    assert lease_over_at(job, SKEW) == NOW + 2 * SKEW
    assert judge(job, NOW, judged_at, owner="me", max_attempts=2, max_skew=SKEW) is Verdict.TAKE_OVER
    assert owners_clock > NOW


def test_a_job_that_runs_has_a_lease() -> None:
    with pytest.raises(AssertionError, match="without a lease"):
        lease_over_at(running(lease_until=None), SKEW)
