"""What a schedule, read after its job has started, says of it, as data: one row, one fact that differs."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.unit.making import NOW, running

from onthedot.rules.instants import MILLISECOND, to_text
from onthedot.rules.jobs import Payload
from onthedot.rules.schedules import OnResume, Pause, Schedule, ScheduleState
from onthedot.rules.starting import Standing, judge_schedule

SLOT = NOW - timedelta(minutes=1)
JOB = running(schedule="schedule#s", slot=to_text(SLOT), generation="a", version=2)
SCHEDULE = Schedule(
    name="s",
    generation="a",
    version=2,
    state=ScheduleState.ACTIVE,
    fields={},
    payload=Payload(4, "null"),
    payload_hash="",
    since=SLOT - timedelta(hours=1),
    planned_until=NOW,
    created_at=SLOT - timedelta(days=1),
    changed_at=SLOT - timedelta(hours=1),
    changed_by="me",
    stamp="s",
)


def paused(until: Any) -> dict[str, Any]:
    return {"state": ScheduleState.PAUSED, "paused": Pause(SLOT, until, None, "me", OnResume.SKIP)}


ROWS: dict[str, tuple[dict[str, Any], dict[str, Any], Standing]] = {
    "as it was planned": ({}, {}, Standing.IN_FORCE),
    "another generation": ({"generation": "b"}, {}, Standing.DELETED),
    "paused": (paused(None), {}, Standing.PAUSED),
    "paused until later": (paused(NOW + MILLISECOND), {}, Standing.PAUSED),
    "paused until now": (paused(NOW), {}, Standing.IN_FORCE),
    "edited after the slot": ({"version": 3, "since": SLOT}, {}, Standing.IN_FORCE),
    "edited before the slot": ({"version": 3, "since": SLOT - MILLISECOND}, {}, Standing.SUPERSEDED),
    "edited before the slot, second attempt": ({"version": 3}, {"attempt": 2}, Standing.IN_FORCE),
    "edited before the slot, and paused": ({"version": 3} | paused(None), {}, Standing.PAUSED),
    "ended": ({"state": ScheduleState.ENDED}, {}, Standing.IN_FORCE),
    "broken": ({"state": ScheduleState.BROKEN, "broken": "zone is gone"}, {}, Standing.IN_FORCE),
    "unreadable": ({"state": ScheduleState.BROKEN, "generation": "", "version": 0}, {}, Standing.IN_FORCE),
}


@pytest.mark.parametrize("row", ROWS)
def test_the_table(row: str) -> None:
    schedule, job, standing = ROWS[row]
    assert judge_schedule(replace(SCHEDULE, **schedule), replace(JOB, **job), NOW) is standing


def test_one_that_is_gone_wants_nothing() -> None:
    assert judge_schedule(None, JOB, NOW) is Standing.DELETED
