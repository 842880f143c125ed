"""`DELETE /jobs?group=`: what waits of a group is taken back, exactly as one job is; what runs is left."""

from typing import Any

import pytest
from tests.support.handlers import SCRIPT, once, ran
from tests.support.jobs import create, entry, job
from tests.support.lab import Lab
from tests.support.schedules import put
from tests.support.worlds import Interrupted, Runner, client_of, with_client

from onthedot import wiring
from onthedot.rules.jobs import State
from onthedot.steps import bulk
from onthedot.steps.bulk import Bulk
from onthedot.steps.groups import cancel_group
from onthedot.steps.manage import reschedule
from onthedot.steps.start import Attempt, start


def cancel(lab: Lab, group: str = "g", **query: str) -> dict[str, Any]:
    answer = lab.call("DELETE", "/jobs", group=group, **query)
    assert answer.status == 200, answer.body
    found: dict[str, Any] = answer.body
    return found


def test_all_that_waits_of_a_group_never_runs_and_the_rest_does(lab: Lab) -> None:
    """Near ones, whose messages are on their way, and far ones, that nobody has sent."""
    for number, delay in enumerate((5, 600, 3_600, 86_400)):
        create(f"mine{number}", delay, group="g")
        create(f"other{number}", delay, group="h" if number % 2 else None)
    assert cancel(lab, dry_run="true") == {"count": 4, "more": False}
    assert cancel(lab) == {"count": 4, "more": False}
    assert cancel(lab) == {"count": 0, "more": False}
    lab.advance(days=1, minutes=1)
    assert sorted(ran()) == [f"other{number}" for number in range(4)]
    assert job("mine0").state is State.CANCELLED


def test_what_runs_meanwhile_goes_on_and_is_not_counted(lab: Lab) -> None:
    counts: list[Any] = []
    for number in range(3):
        create(f"later{number}", 60, group="g")
    create("runs", handler="test.meanwhile", group="g")
    once(lambda: counts.extend([cancel(lab, dry_run="true"), cancel(lab), cancel(lab)]))
    lab.settle()
    assert counts == [{"count": 3, "more": False}, {"count": 3, "more": False}, {"count": 0, "more": False}]
    assert job("runs").state is State.SUCCEEDED
    lab.advance(minutes=2)
    assert ran() == ["runs"]
    assert SCRIPT.meanwhile() is None


@pytest.mark.usefixtures("lab")
def test_a_start_between_look_and_write_is_seen() -> None:
    world, made = wiring.world(), create("j1", group="g")
    begun = [lambda: start(world, entry(made), Runner().policies())]
    slow = with_client(world, "jobs", Interrupted(client_of(world, "jobs"), "update_item", begun))
    assert cancel_group(slow, "g") == Bulk(0, more=False)
    assert job("j1").state is State.RUNNING


def test_a_move_between_look_and_write_saves_no_job(lab: Lab) -> None:
    """It still waits, only elsewhere: it was left, and ran though its group had been cancelled."""
    world, made = wiring.world(), create("j1", 60, group="g")
    moved = [lambda: reschedule(world, *made.key, made.run_at.replace(hour=12), None)]
    slow = with_client(world, "jobs", Interrupted(client_of(world, "jobs"), "update_item", moved))
    assert cancel_group(slow, "g") == Bulk(1, more=False)
    lab.advance(hours=5)
    assert (ran(), job("j1").state) == ([], State.CANCELLED)


def test_a_loop_ends_though_some_run(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "MOST", 5)
    for number in range(12):
        create(f"j{number}", group="g")
    started = [start(wiring.world(), entry(job(f"j{number}")), Runner().policies()) for number in range(2)]
    assert all(isinstance(one, Attempt) for one in started)
    assert [cancel(lab)["count"] for _ in range(2)] == [5, 5]
    assert cancel(lab) == {"count": 0, "more": False}


def test_the_planned_jobs_of_a_schedule_with_that_group_are_cancelled_too(lab: Lab) -> None:
    """Its timetable goes on: what is planned later is no longer of the call."""
    put("s", group="g", cron="*/5 * * * *")
    assert cancel(lab) == {"count": 2, "more": False}
    lab.advance(minutes=15)
    assert ran() == ["s@2027-01-04T08:15:00Z"]


def test_a_cancelled_group_can_go_again_one_by_one(lab: Lab) -> None:
    create("j1", 60, group="g")
    cancel(lab)
    assert lab.call("POST", "/jobs/j1/retry").status == 200
    lab.settle()
    assert ran() == ["j1"]
    assert lab.call("GET", "/jobs", group="g").body["items"][0]["state"] == "succeeded"
