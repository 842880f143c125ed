"""A plan is cut into what a transaction takes, each piece with how far it goes: whoever stops half way lost nothing."""

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.schedules import definition
from tests.unit.making import a_job

from onthedot.rules.instants import MILLISECOND, from_text, to_text
from onthedot.rules.jobs import Payload, State
from onthedot.rules.planning import (
    ASKS_WITHIN,
    MOST_JOBS,
    Chunk,
    Place,
    advanced,
    chunks,
    job_of,
    manual_job,
    place_of,
    shortened,
)
from onthedot.rules.schedules import Coming, Schedule, ScheduleState, coming

BORN = from_text("2027-01-04T00:00:00.000Z")
MINUTE = timedelta(minutes=1)
MEANINGS = {
    missed: definition("s", {"handler": "h.x", "cron": "* * * * *", "missed": missed, "catch_up_limit": 10_000}, BORN)
    for missed in ("catch_up", "latest", "skip")
}


def a_schedule(**facts: Any) -> Schedule:
    """Return a schedule that nobody has planned yet, but for what is said."""
    plain = Schedule(
        name="s",
        generation="g",
        version=2,
        state=ScheduleState.ACTIVE,
        fields={},
        payload=Payload(4, text="null"),
        payload_hash="",
        since=BORN,
        planned_until=BORN,
        created_at=BORN,
        changed_at=BORN,
        changed_by="tester",
        stamp="first",
    )
    return replace(plain, **facts)


def pieces(minutes: int, missed: str = "catch_up", **facts: Any) -> list[Chunk]:
    """Return the pieces of a plan that begins so many minutes after its schedule was planned."""
    now = BORN + minutes * MINUTE + timedelta(seconds=30)
    return list(chunks(a_schedule(**facts), MEANINGS[missed], now, now + 10 * MINUTE))


@given(st.integers(0, 700), st.sampled_from(sorted(MEANINGS)))
def test_the_pieces_are_the_whole_and_none_is_too_large(minutes: int, missed: str) -> None:
    found = pieces(minutes, missed)
    slots = [run.slot.instant for piece in found for run in piece.runs]
    ranges = [one for piece in found for one in piece.skipped]
    assert slots == sorted(set(slots))
    assert len(slots) + sum(one.count for one in ranges) == minutes + 10
    assert all(one.last < slots[0] for one in ranges), "what is skipped is older than all that runs"
    assert all(1 + len(piece.runs) + len(piece.skipped) <= 100 for piece in found)
    assert ranges == found[0].skipped, "and stands in the first piece"


@given(st.integers(0, 700), st.integers(0, 8))
def test_whoever_goes_on_after_some_pieces_finds_the_rest(minutes: int, stopped_after: int) -> None:
    """A dispatcher ran out of time after each page, and the next began again, or behind what was left."""
    found = pieces(minutes)
    schedule = a_schedule()
    for piece in found[:stopped_after]:
        schedule = advanced(schedule, piece, "next")
    now = BORN + minutes * MINUTE + timedelta(seconds=30)
    rest = list(chunks(schedule, MEANINGS["catch_up"], now, now + 10 * MINUTE)) if stopped_after < len(found) else []
    assert [run for piece in rest for run in piece.runs] == [
        run for piece in found[stopped_after:] for run in piece.runs
    ]


def test_each_piece_says_what_comes_after_it() -> None:
    found = pieces(300)
    assert len(found) == 4
    for piece, following in pairwise(found):
        assert piece.until == piece.runs[-1].slot.instant
        assert piece.next == coming(following.runs[0].slot)
    assert found[-1].until == BORN + 310 * MINUTE + timedelta(seconds=30)
    assert found[-1].next == Coming(BORN + 311 * MINUTE, "2027-01-04T05:11:00")
    assert [piece.missed for piece in found] == [299, 0, 0, 0], "told once, and the last is only late"


def test_a_full_piece_is_not_followed_by_an_empty_one() -> None:
    assert [len(piece.runs) for piece in pieces(MOST_JOBS - 10)] == [MOST_JOBS]


def test_what_is_planned_is_never_taken_back() -> None:
    """A clock that is behind found less to plan than there was, and the next planner planned it again."""
    ahead = BORN + 60 * MINUTE
    [piece] = pieces(5, planned_until=ahead)
    assert (piece.runs, piece.until) == ([], ahead)
    assert piece.next == Coming(ahead + MINUTE, "2027-01-04T01:01:00")
    assert advanced(a_schedule(planned_until=ahead), replace(piece, until=BORN), "x").planned_until == ahead


def test_a_place_that_is_held_ends_the_piece_before_it() -> None:
    [piece] = pieces(0)
    held = BORN + 4 * MINUTE
    short = shortened(piece, to_text(held))
    assert [run.slot.instant for run in short.runs] == [BORN + number * MINUTE for number in (1, 2, 3)]
    assert (short.until, short.next) == (held - MILLISECOND, Coming(held, "2027-01-04T00:04:00"))


LATER = BORN + 2 * MINUTE
STARTED = {"version": 1, "state": State.RUNNING, "attempt": 1}
PLACES: dict[str, tuple[dict[str, Any] | None, Place]] = {
    "nothing": (None, Place.FREE),
    "its own job": ({}, Place.TAKEN),
    "its own job, running": ({"state": State.RUNNING}, Place.TAKEN),
    "its own job, cancelled": ({"state": State.CANCELLED}, Place.TAKEN),
    "a former version's, untouched": ({"version": 1}, Place.FREE),
    "a former version's, just started": (STARTED | {"started_at": LATER - ASKS_WITHIN}, Place.BLOCKED),
    "a former version's, running": (STARTED | {"started_at": LATER - ASKS_WITHIN - MILLISECOND}, Place.TAKEN),
    "a former version's, started nobody knows when": (STARTED, Place.BLOCKED),
    "a former version's, moved by hand": ({"version": 1, "pinned": True}, Place.TAKEN),
    "a former version's, sent again by hand": ({"version": 1, "revived_at": BORN}, Place.TAKEN),
    "a former version's, to be tried again": ({"version": 1, "attempt": 1}, Place.TAKEN),
    "a former version's, over": ({"version": 1, "state": State.SUCCEEDED, "attempt": 1}, Place.TAKEN),
    "a former version's, from before the edit": ({"version": 1, "slot": to_text(BORN)}, Place.TAKEN),
    "a former schedule's, untouched": ({"generation": "f"}, Place.FREE),
    "a former schedule's, running": ({"generation": "f", "state": State.RUNNING, "attempt": 1}, Place.BLOCKED),
    "a former schedule's, over": ({"generation": "f", "state": State.DEAD, "attempt": 3}, Place.FREE),
}


@pytest.mark.parametrize("what", PLACES)
def test_what_is_done_where_a_place_is_not_free(what: str) -> None:
    """A slot waited for ever for a job of an older version that ran for an hour: it has asked long ago, and is its."""
    facts, place = PLACES[what]
    mine = {"schedule": "schedule#s", "slot": to_text(BORN + MINUTE), "generation": "g", "version": 2}
    there = None if facts is None else a_job(**(mine | facts))
    assert place_of(there, a_schedule(), a_job(**mine), LATER) is place


def test_the_job_of_a_slot_has_all_that_its_schedule_says() -> None:
    fields = {
        "handler": "h.x",
        "cron": "30 1 * * *",
        "zone": "Europe/London",
        "on_repeat": "last",
        "group": "g1",
        "timeout": 20,
        "start_within": 90,
        "retry": {"max_attempts": 4},
        "overlap": "wait",
    }
    now = datetime.fromisoformat("2026-10-25T00:00:00+00:00")
    meaning = definition("s", fields, now)
    [piece] = chunks(a_schedule(planned_until=now), meaning, now, now + 120 * MINUTE)
    job = job_of(a_schedule(), meaning, piece.runs[0], now)
    assert job.key == ("schedule#s", "2026-10-25T01:30:00.000Z")
    assert (job.local_slot, job.fold, job.generation, job.version) == ("2026-10-25T01:30:00+00:00", 1, "g", 2)
    assert (job.group, job.timeout, job.start_before) == (
        "g1",
        timedelta(seconds=20),
        job.run_at + timedelta(seconds=90),
    )
    assert job.retry is not None
    assert (job.retry.max_attempts, job.overlap) == (4, "wait")


def test_a_job_has_a_turn_only_where_slots_must_not_overlap() -> None:
    """Each turn costs a write, and most schedules need none."""
    [piece] = pieces(0)
    assert job_of(a_schedule(), MEANINGS["skip"], piece.runs[0], BORN).overlap is None


def test_a_job_by_hand_is_as_its_schedule_says_but_has_no_slot() -> None:
    job = manual_job(a_schedule(), MEANINGS["skip"], "x", LATER)
    assert (job.key, job.local_slot, job.run_at) == (("schedule#s", "manual#x"), None, LATER)
    assert (job.generation, job.version, job.handler) == ("g", 2, "h.x")
