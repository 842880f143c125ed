"""A job of a schedule that goes again was asked for by hand: no pause, edit or turn of another makes it vanish.

What is skipped could be retried no more. Only a schedule that is gone takes its job along, and says so.
"""

from datetime import timedelta
from typing import Any

import pytest
from tests.support import schedules
from tests.support.dead import bury, corpse, give_up
from tests.support.handlers import RAN, SCRIPT, once
from tests.support.lab import Lab

from onthedot import wiring
from onthedot.rules.instants import shown
from onthedot.rules.jobs import Job, State

HOURLY: dict[str, Any] = {"cron": "0 * * * *", "handler": "test.meanwhile"}


def now(job: Job) -> Job:
    found = wiring.world().jobs.get(*job.key)
    assert found is not None, f"{job.id} is gone"
    return found


def dead_slot(lab: Lab, **fields: Any) -> Job:
    """Have an hourly schedule whose nine o'clock is dead."""
    schedules.put("s", **HOURLY | fields)
    SCRIPT.meanwhile = give_up
    lab.advance(minutes=61)
    SCRIPT.meanwhile = lambda: None
    died = schedules.slots_of("s")["2027-01-04T09:00:00Z"]
    assert died.state is State.DEAD
    return died


def retry(lab: Lab, job: Job) -> Job:
    assert lab.call("POST", f"/jobs/{job.id}/retry").status == 200
    return now(job)


def test_it_runs_with_its_slot_and_key_and_its_ledger_tells_the_new_outcome(lab: Lab) -> None:
    died = dead_slot(lab)
    again = retry(lab, died)
    assert (again.slot, again.local_slot, again.idempotency_key) == (died.slot, died.local_slot, died.idempotency_key)
    lab.settle()
    assert now(died).state is State.SUCCEEDED
    rows = lab.call("GET", "/schedules/s/ledger").body["items"]
    assert [row["outcome"]["kind"] for row in rows] == ["succeeded"]


def test_in_a_pause_it_runs(lab: Lab) -> None:
    """Three in a row died and paused it; mended and retried, all three were skipped since it was paused."""
    died = dead_slot(lab, pause_after=1)
    assert schedules.row("s").paused is not None
    retry(lab, died)
    lab.settle()
    assert now(died).state is State.SUCCEEDED


def test_after_an_edit_it_runs_as_the_version_made_it(lab: Lab) -> None:
    died = dead_slot(lab)
    schedules.put("s", payload="9", **HOURLY | {"cron": "30 * * * *"})
    retry(lab, died)
    lab.settle()
    assert now(died).state is State.SUCCEEDED
    assert [call.payload for call in RAN] == [None, None]


def test_a_slot_to_come_that_was_cancelled_goes_again_through_an_edit(lab: Lab) -> None:
    """It looked as if its schedule had planned it, untouched: the edit took it back while it was on its way."""
    schedules.put("s", **HOURLY)
    lab.advance(minutes=55)
    [job] = schedules.slots_of("s").values()
    assert lab.call("DELETE", f"/jobs/{job.id}").status == 200
    retry(lab, job)
    schedules.put("s", payload="9", **HOURLY)
    lab.settle()
    assert (now(job).state, len(RAN), RAN[0].payload) == (State.SUCCEEDED, 1, None)
    lab.advance(minutes=10)
    assert len(RAN) == 1, "the slot has had its job"


def test_of_a_schedule_that_is_gone_it_is_cancelled_and_says_why(lab: Lab) -> None:
    died = dead_slot(lab)
    schedules.delete("s")
    retry(lab, died)
    lab.settle()
    assert (now(died).state, now(died).reason) == (State.CANCELLED, "its schedule was deleted")
    schedules.put("s", **HOURLY)
    retry(lab, died)
    lab.settle()
    assert now(died).state is State.CANCELLED, "another schedule has its name now"
    assert len(RAN) == 1


@pytest.mark.parametrize("overlap", ["skip", "wait"])
def test_while_another_slot_runs_it_waits_and_is_not_skipped(lab: Lab, overlap: str) -> None:
    died = dead_slot(lab, overlap=overlap)
    lab.advance(minutes=58)

    def meanwhile() -> None:
        retry(lab, died)
        lab.settle()

    once(meanwhile)
    lab.advance(minutes=2)
    running = schedules.slots_of("s")["2027-01-04T10:00:00Z"]
    assert running.state is State.SUCCEEDED
    lab.advance(minutes=2)
    assert now(died).state is State.SUCCEEDED
    assert [call.id for call in RAN] == [died.id, running.id, died.id]


def test_many_of_one_schedule_that_must_not_overlap_all_run(lab: Lab) -> None:
    """Two waited, and of the others each was skipped."""
    schedules.put("s", overlap="wait", handler="test.meanwhile")
    SCRIPT.meanwhile = give_up
    lab.advance(minutes=5)
    schedules.hold("s")
    dead = [job for job in schedules.slots_of("s").values() if job.state is State.DEAD]
    assert len(dead) == 5
    SCRIPT.meanwhile = lambda: None
    once(lab.settle)
    assert lab.call("POST", "/dead/retry", {}).body == {"count": 5, "more": False}
    lab.advance(minutes=10)
    assert [now(job).state for job in dead] == [State.SUCCEEDED] * 5


def test_sent_again_for_later_it_holds_no_turn_until_then(lab: Lab) -> None:
    """Its worker died before it gave the turn back, and the retry was spaced by hours: no slot ran until then."""
    died = dead_slot(lab, overlap="skip", cron="*/5 * * * *", ends_at="2027-01-04T09:06:00Z")
    schedules.change(lab, "s", busy={"S": died.slot})
    lab.time.shift(1)
    bury_others(lab, died, 8)
    before = {"before": shown(lab.now()), "rate": 1}
    assert lab.call("POST", "/dead/retry", before).body["count"] >= 9
    assert now(died).run_at >= lab.now() + timedelta(minutes=8)
    lab.advance(minutes=5)
    assert schedules.slots_of("s")["2027-01-04T09:05:00Z"].state is State.SUCCEEDED


def bury_others(lab: Lab, died: Job, count: int) -> None:
    """Have so many that died before it."""
    assert died.finished_at is not None
    before = died.finished_at - timedelta(hours=1)
    bury(lab, [corpse(f"j{n}", before + timedelta(seconds=n)) for n in range(count)])


def test_a_backfill_keeps_its_pace_whatever_goes_again(lab: Lab) -> None:
    """A retried slot, spaced into the future, looked like one that a backfill had filled: the next began after it."""
    died = dead_slot(lab)
    bury_others(lab, died, 10)
    lab.time.shift(1)
    lab.call("POST", "/dead/retry", {"rate": 1})
    window = {"from": shown(lab.now() - timedelta(hours=4)), "to": shown(lab.now())}
    assert lab.call("POST", "/schedules/s/backfill", window).body["count"] > 0
    filled = [job for job in schedules.slots_of("s").values() if job.key != died.key]
    assert max(job.run_at for job in filled) < lab.now() + timedelta(minutes=5)
