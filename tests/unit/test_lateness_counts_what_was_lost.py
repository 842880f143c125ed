"""The benchmark of lateness tells of lost jobs: a system that loses them must not look punctual by that."""

from typing import Any

import pytest
from benchmarks.late_jobs import Late, fate, own_part, quantiles_of
from benchmarks.lateness import planned

JOBS = [Late(f"job-{number}", 100.0) for number in range(101)]


def begin(job: str, at: float, call: str = "") -> dict[str, Any]:
    return {"kind": "begin", "job": job, "call": call or job, "at": at}


def end(job: str, call: str = "") -> dict[str, Any]:
    return {"kind": "end", "job": job, "call": call or job, "at": 0.0}


def lived(job: str, at: float) -> list[dict[str, Any]]:
    return [begin(job, at), end(job)]


def test_each_job_is_as_late_as_its_call() -> None:
    noted = [line for number, job in enumerate(JOBS) for line in lived(job.id, 100 + number / 10)]
    found = fate(JOBS, noted, 999)
    assert (found.late.p50, found.late.p95, found.late.p99, found.late.max) == pytest.approx((5, 9.5, 9.9, 10))
    assert (found.ended, found.once) == (101, 101)


def test_a_job_that_has_not_run_is_late_until_now() -> None:
    noted = [line for job in JOBS[1:] for line in lived(job.id, 100.5)]
    found = fate(JOBS, noted, 400)
    assert (found.late.max, found.late.p50, found.ended, found.once) == (300, 0.5, 100, 100)


def test_a_killed_call_counts_as_a_begin_and_not_as_the_job() -> None:
    """It began in time, and ran when another worker took it over."""
    killed, other = JOBS[:2]
    noted = [begin(killed.id, 100.1, "killed"), *lived(killed.id, 124), *lived(other.id, 100.1)]
    found = fate([killed, other], noted, 400)
    assert (found.late.max, found.ended, found.once) == (24, 2, 1)


def test_a_job_that_ended_twice_is_as_late_as_the_first_end() -> None:
    noted = [*lived("job-0", 101), begin("job-0", 130, "again"), end("job-0", "again"), *lived("job-1", 101)]
    found = fate(JOBS[:2], noted, 400)
    assert (found.late.max, found.ended, found.once) == (1, 2, 1)


def test_the_poller_has_no_share_in_our_own_part() -> None:
    """Sent 9.4 s ahead, so delayed by 10: 0.6 s are ours, then 2 s the poller's, then 0.1 s ours."""
    taken = {"kind": "taken", "sent": 90.6, "received": 102.6, "at": 102.6}
    noted = [line for job in JOBS[:2] for line in (taken | {"job": job.id}, begin(job.id, 102.7))]
    assert own_part(JOBS[:2], noted).max == pytest.approx(0.7)


def test_a_message_sent_too_late_is_our_own_part() -> None:
    taken = {"kind": "taken", "sent": 103.0, "received": 103.0, "at": 103.0}
    noted = [line for job in JOBS[:2] for line in (taken | {"job": job.id}, begin(job.id, 103.1))]
    assert own_part(JOBS[:2], noted).max == pytest.approx(3.1)


def test_a_worker_that_waits_makes_up_for_the_poller() -> None:
    """Sent 9.4 s ahead and to come a second early, so delayed by 9: taken 0.3 s late, which is no lateness."""
    taken = {"kind": "taken", "sent": 90.6, "received": 99.9, "at": 99.9}
    noted = [line for job in JOBS[:2] for line in (taken | {"job": job.id}, begin(job.id, 100.05))]
    assert own_part(JOBS[:2], noted, wait=1).max == pytest.approx(0.05)
    slow = [line | {"at": 101.0} if line["kind"] == "taken" else line | {"at": 101.1} for line in noted]
    assert own_part(JOBS[:2], slow, wait=1).max == pytest.approx(0.1), "a poller's second is the poller's"


def test_a_worker_is_killed_half_way() -> None:
    jobs = planned("some", 10, 100, 0.5, waits=1)
    assert [job.due_at for job in jobs] == [100 + number / 2 for number in range(10)]
    assert [job.id for job in jobs if job.waits] == ["some-5"]
    assert quantiles_of([1, 2]).p50 == 1.5
