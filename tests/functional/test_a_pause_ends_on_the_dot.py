"""A pause ends at its very end: what follows it is planned before, runs on the dot, and is taken back in time."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.support.lab import Lab
from tests.support.schedules import hold, minutes, ran_slots, resume, row
from tests.support.worlds import Interrupted, client_of, raising, with_client

from onthedot import wiring
from onthedot.rules.errors import Unavailable
from onthedot.rules.instants import shown

TWO_SECONDS = timedelta(seconds=2)


def write(lab: Lab, **fields: Any) -> None:
    answer = lab.call("PUT", "/schedules/s", {"handler": "test.record", **fields})
    assert answer.status in {200, 201}, answer.body


def pause(lab: Lab, until: datetime) -> dict[str, Any]:
    answer = lab.call("POST", "/schedules/s/pause", {"until": shown(until)})
    assert answer.status == 200, answer.body
    found: dict[str, Any] = answer.body
    return found


@pytest.mark.parametrize("lost", [False, True])
@pytest.mark.parametrize(
    "fields", [{}, {"missed": "latest"}, {"missed": "skip", "grace": 0}, {"missed": "catch_up", "catch_up_limit": 1}]
)
def test_a_slot_right_after_the_end_is_on_time(lab: Lab, fields: dict[str, Any], lost: bool) -> None:
    """It waited for the next tick, up to a minute, and with a small grace it was missed for no fault of anybody."""
    slot = lab.now() + timedelta(minutes=12, seconds=7)
    write(lab, every=60, anchor=shown(lab.now() + timedelta(seconds=7)), **fields)
    shows = pause(lab, until=slot - TWO_SECONDS)["next"]
    assert shows[0]["slot"] == shown(slot)
    lab.advance(minutes=11)
    if lost:
        lab.off.add("tick")
    lab.advance(minutes=2)
    started_at = datetime.fromisoformat(lab.job(f"s@{shown(slot)}")["started_at"])
    assert slot <= started_at <= slot + TWO_SECONDS
    assert ran_slots("s")[0] == shown(slot), "none of the pause"


def test_a_slot_exactly_at_the_end_runs(lab: Lab) -> None:
    """Who pauses until nine wants what begins at nine; it was counted to the pause, and nobody saw it."""
    write(lab, cron="0 9 * * *")
    pause(lab, until=datetime.fromisoformat("2027-01-04T09:00:00Z"))
    lab.advance(hours=2)
    assert ran_slots("s") == ["2027-01-04T09:00:00Z"]


def second_pause(lab: Lab) -> None:
    assert lab.call("POST", "/schedules/s/pause", {}).status == 200


def longer_pause(lab: Lab) -> None:
    pause(lab, until=datetime.fromisoformat("2027-01-04T08:10:30Z"))


def end(lab: Lab) -> None:
    assert lab.call("POST", "/schedules/s/resume").status == 200


@pytest.mark.parametrize(
    ("change", "runs"),
    [(second_pause, slice(0, 0)), (longer_pause, slice(10, None)), (end, slice(3, None))],
)
def test_what_was_planned_after_the_end_is_taken_back(lab: Lab, change: Callable[[Lab], None], runs: slice) -> None:
    """The jobs of the slots after `until` are there already when somebody changes his mind: each runs once, or not."""
    write(lab, cron="* * * * *")
    every_minute = minutes(lab.now().replace(second=0) + timedelta(minutes=1), 13)
    pause(lab, until=datetime.fromisoformat("2027-01-04T08:08:30Z"))
    lab.advance(minutes=3)
    assert [job["slot"] for job in lab.call("GET", "/schedules/s/jobs").body["items"]][-1] == every_minute[8]
    change(lab)
    lab.advance(minutes=10)
    assert ran_slots("s") == every_minute[runs]


def test_a_resume_past_the_last_slot_ends_the_schedule(lab: Lab) -> None:
    """The process died between the resume and its plan: the schedule stayed active for ever, with nothing to do."""
    write(lab, cron="0 9 * * *", ends_at="2027-01-04T10:00:00Z")
    hold("s")
    lab.advance(hours=3)
    world = wiring.world()
    one_alone = [lambda: None, raising(Unavailable("AWS did not answer"))]
    client = Interrupted(client_of(world, "schedules"), "transact_write_items", one_alone)
    resume("s", with_client(world, "schedules", client))
    lab.advance(hours=3)
    assert lab.call("GET", "/schedules/s").body["state"] == "ended"
    assert row("s").next_at is None


def test_a_pause_is_shown_as_the_contract_says(lab: Lab) -> None:
    """It also showed `on_resume`, which no client knows."""
    write(lab, cron="0 9 * * *")
    said = {"reason": "x", "until": "2027-01-05T00:00:00Z", "on_resume": "missed"}
    whole = lab.call("POST", "/schedules/s/pause", said)
    assert set(whole.body["paused"]) == {"since", "until", "reason", "by"}
    bare = lab.call("POST", "/schedules/s/pause", {})
    assert set(bare.body["paused"]) == {"since", "by"}
