"""A job that somebody asks for runs at once, whatever its schedule does, and takes no slot of it (B13)."""

from typing import Any

import pytest
from tests.support.handlers import RAN, ran
from tests.support.lab import Lab
from tests.support.ledgers import told
from tests.support.schedules import delete, hold, put, row, slots_of


def trigger(lab: Lab, **body: Any) -> dict[str, Any]:
    answer = lab.call("POST", "/schedules/s/trigger", body)
    assert answer.status == 201, answer.body
    job: dict[str, Any] = answer.body
    return job


def test_it_runs_now_and_the_slots_run_as_ever(lab: Lab) -> None:
    """B13: its id looked like a slot, and the timetable's own slot of that time was left out."""
    put("s", '"of the schedule"')
    for name in ("2027-01-04T08.02.00Z", "x", "2027-01-04"):
        trigger(lab, id=name, payload=name)
    before = row("s")
    lab.advance(seconds=2)
    assert [call.payload for call in RAN] == ["2027-01-04T08.02.00Z", "x", "2027-01-04"]
    assert row("s") == before
    lab.advance(minutes=2)
    assert ran()[3:] == ["s@2027-01-04T08:01:00Z", "s@2027-01-04T08:02:00Z"]
    assert told(lab, "s") == ["08:01 succeeded", "08:02 succeeded"], "and no row of a ledger"


@pytest.mark.parametrize(
    "change",
    [lambda: hold("s"), lambda: put("s", '"new"'), lambda: put("s", cron="0 4 * * *")],
    ids=["pause", "edit", "timing edit"],
)
def test_it_runs_although_its_schedule_changes(lab: Lab, change: Any) -> None:
    """An edit and a pause take back what was planned: this was not planned, it was asked for."""
    put("s", '"old"')
    trigger(lab, id="x")
    change()
    lab.advance(seconds=5)
    assert [(call.id, call.payload) for call in RAN] == [("s@manual-x", "old")]


def test_a_large_payload_of_a_former_version_is_still_there(lab: Lab) -> None:
    put("s", f'"{"x" * 5_000}"')
    trigger(lab, id="x")
    put("s", '"small"')
    lab.advance(seconds=5)
    assert [call.payload for call in RAN] == ["x" * 5_000]


def test_it_goes_with_its_schedule(lab: Lab) -> None:
    put("s")
    trigger(lab, id="x")
    delete("s")
    put("s")
    lab.advance(seconds=20)
    assert ran() == []
    job = lab.job("s@manual-x")
    assert (job["state"], job["outcome"]["reason"]) == ("cancelled", "its schedule was deleted")


def test_it_runs_in_a_pause_and_the_slots_do_not(lab: Lab) -> None:
    put("s")
    hold("s")
    trigger(lab)
    lab.advance(minutes=2)
    assert [each.startswith("s@manual-") for each in ran()] == [True]
    assert slots_of("s") == {}


def test_it_fails_and_is_tried_again_as_any_job(lab: Lab) -> None:
    put("s", handler="test.fail", retry={"max_attempts": 2, "first": 1, "max": 1})
    trigger(lab, id="x")
    lab.advance(seconds=20)
    job = lab.job("s@manual-x")
    assert (job["state"], job["attempt"]) == ("dead", len(RAN))
