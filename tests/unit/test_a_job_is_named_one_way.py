"""A job's id and its key are two forms of one thing; its states follow each other; its idempotency key stays."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.unit.making import NOW, SECOND, a_job, instants, jobs, keys, running

from onthedot.rules.instants import MILLISECOND
from onthedot.rules.jobs import PENDING, Job, State, id_of, key_of
from onthedot.rules.transitions import ended, given_back, moved, started

KEEP = timedelta(days=30)


@given(keys())
def test_the_id_of_a_key_means_that_key(key: tuple[str, str]) -> None:
    assert key_of(id_of(*key)) == key


@pytest.mark.parametrize(
    ("job_id", "key"),
    [
        ("a", ("job#a", "-")),
        ("monday@2027-03-28T01:00:00Z", ("schedule#monday", "2027-03-28T01:00:00.000Z")),
        ("monday@2027-03-28T01:00:00.120Z", ("schedule#monday", "2027-03-28T01:00:00.120Z")),
        ("monday@manual-x", ("schedule#monday", "manual#x")),
        ("monday@manual-manual-x", ("schedule#monday", "manual#manual-x")),
    ],
)
def test_these_are_ids(job_id: str, key: tuple[str, str]) -> None:
    assert key_of(job_id) == key
    assert id_of(*key) == job_id


@pytest.mark.parametrize(
    "slot",
    [
        "",
        "x",
        "2027-03-28",
        "2027-03-28T01:00:00",
        "2027-03-28T01:00:00.000Z",
        "2027-03-28T01:00:00+00:00",
        "2027-03-28T02:00:00+01:00",
        "2027-02-30T01:00:00Z",
        "9999-12-31T23:59:59-01:00",
        "0001-01-01T00:00:00+14:00",
        "2027-03-28T01:00:00.1Z",
        "2027-03-28T01:00:00.1234Z",
        "Z",
    ],
)
def test_no_job_has_another_form_of_the_id(slot: str) -> None:
    """One that lies beyond the calendar in UTC was answered with a 500."""
    assert key_of(f"monday@{slot}") is None


@given(st.text())
@example("@")
@example("\ud800@\ud800")
@example("@manual-")
def test_any_text_is_a_key_or_none(text: str) -> None:
    assert key_of(text) is None or isinstance(key_of(text), tuple)


def test_the_idempotency_key_never_changes() -> None:
    """It is the first release's: a job may run before and after an upgrade, and users compare."""
    assert a_job().idempotency_key == "52d23ab380d5c73d56503734250a895d"


@given(jobs(), instants())
def test_every_attempt_has_the_same_idempotency_key(job: Job, now: datetime) -> None:
    assert started(job, "owner", now, now).idempotency_key == job.idempotency_key
    assert moved(job, job.run_at + SECOND).idempotency_key == job.idempotency_key


def test_no_other_job_has_the_same_idempotency_key() -> None:
    others: list[dict[str, Any]] = [{"schedule": "job#b"}, {"slot": "x"}, {"created_at": NOW}]
    assert len({a_job(**other).idempotency_key for other in [{}, *others]}) == 4


def test_a_start_begins_the_next_attempt() -> None:
    job = started(a_job(attempt=1), "me", NOW, NOW + SECOND)
    assert (job.state, job.attempt, job.owner) == (State.RUNNING, 2, "me")
    assert (job.started_at, job.lease_until, job.wake) == (NOW, NOW + SECOND, a_job().wake)


def test_a_start_that_is_given_back_costs_no_attempt() -> None:
    assert given_back(started(a_job(), "me", NOW, NOW + SECOND)) == a_job()


@pytest.mark.parametrize("state", sorted(set(State) - PENDING))
def test_an_outcome_takes_the_job_off_the_agenda_and_lets_it_expire(state: State) -> None:
    job = ended(running(), state, NOW + MILLISECOND, KEEP, result="1", error="e", reason="r")
    assert (job.state, job.wake, job.entry, job.pending) == (state, None, None, False)
    assert job.finished_at == NOW + MILLISECOND == job.since
    assert job.expires_at == NOW + SECOND + KEEP  # whole seconds, never too soon
    assert (job.result, job.error, job.reason) == ("1", "e", "r")


def test_a_job_has_expired_from_the_moment_on_that_it_expires() -> None:
    """The table deletes it up to two days later (aws-traps 45)."""
    job = a_job(expires_at=NOW)
    assert not job.has_expired(NOW - MILLISECOND)
    assert job.has_expired(NOW)
    assert not a_job().has_expired(NOW)


def test_what_bounds_its_start_moves_with_a_job() -> None:
    job = a_job(start_within=SECOND, start_before=NOW + SECOND)
    assert moved(job, NOW + KEEP) == replace(job, run_at=NOW + KEEP, start_before=NOW + SECOND + KEEP)
    assert moved(a_job(), NOW + KEEP).start_before is None


def test_since_is_when_it_came_into_its_state() -> None:
    assert a_job().since == a_job().created_at
    assert running().since == NOW
