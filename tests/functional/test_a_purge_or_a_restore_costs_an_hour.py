"""A queue purged by hand, a table put back to what it was: what it held comes back within 75 minutes of its time."""

from copy import deepcopy
from datetime import datetime, timedelta
from typing import Any

import pytest
from moto.dynamodb.models import dynamodb_backends
from tests.support import schedules
from tests.support.handlers import RAN, SCRIPT, ran
from tests.support.jobs import create, entry, job
from tests.support.lab import ACCOUNT, REGION, Lab

from onthedot import wiring
from onthedot.clock import SystemClock
from onthedot.rules.jobs import Retry, State
from onthedot.rules.timing import OVERDUE, SWEEP_EVERY
from onthedot.steps.start import Attempt, start

RHYTHM = timedelta(minutes=5)
LATEST = OVERDUE + SWEEP_EVERY + RHYTHM
DELAYS = {"due": 0, "near": 100, "rechecked": 600, "handed-over": 1_000}


def waiting_and_running(lab: Lab) -> None:
    """Have jobs on their way in the queue, near ones and handed over ones, and one whose worker has just died."""
    create("handed-over", DELAYS["handed-over"])
    lab.advance(seconds=850)
    for name in ("near", "rechecked"):
        create(name, DELAYS[name])
    lab.off.add("JobQueue")
    create("due")
    assert isinstance(start(wiring.world(), entry(create("running")), wiring.policies()), Attempt)


def comes_back(lab: Lab, since: datetime) -> None:
    """Let hours pass, and look whether each has run once, at most so late."""
    wakes = {name: max(since, wake_of(name)) for name in (*DELAYS, "running")}
    lab.off.clear()
    lab.rhythm = RHYTHM
    lab.advance(hours=3)
    assert sorted(ran()) == sorted(wakes)
    assert max(call.at - wakes[call.id] for call in RAN) <= LATEST
    assert {call.id: call.attempt for call in RAN} == dict.fromkeys(DELAYS, 1) | {"running": 2}
    assert [past.error for past in job("running").past] == ["worker died"]
    assert {job(name).state for name in wakes} == {State.SUCCEEDED}


def wake_of(name: str) -> datetime:
    wake = job(name).wake
    assert wake is not None
    return wake


@pytest.mark.parametrize("minutes", [0, 7], ids=["at once", "when drain has passed them"])
def test_a_purged_queue(lab: Lab, minutes: float) -> None:
    """L05: somebody purged the queue to end an incident; running jobs had left the agenda, and waited for ever."""
    waiting_and_running(lab)
    lab.advance(minutes=minutes)
    lab.purge()
    comes_back(lab, lab.now())


def test_queues_purged_again_and_again_while_jobs_retry(lab: Lab) -> None:
    """An hour is lost each time, and no attempt."""
    SCRIPT.succeeds_at = 3
    create("j1", handler="test.flaky", retry=Retry(first=600, factor=1))
    for _ in range(2):
        lab.settle()
        lab.purge()
        lab.rhythm = RHYTHM
        lab.advance(minutes=95)
    assert [call.attempt for call in RAN] == [1, 2, 3]
    assert job("j1").state is State.SUCCEEDED


def tables(lab: Lab, *names: str) -> dict[str, Any]:
    return {name: dynamodb_backends[ACCOUNT][REGION].tables[lab.tables[name]] for name in names}


def kept(lab: Lab, *names: str) -> dict[str, Any]:
    """Return what tables hold, as a backup does."""
    return {name: deepcopy(table.items) for name, table in tables(lab, *names).items()}


def restore(lab: Lab, backup: dict[str, Any]) -> None:
    """Put back what tables held."""
    for name, table in tables(lab, *backup).items():
        table.items = deepcopy(backup[name])


def test_jobs_restored_beside_a_watermark_that_is_newer(lab: Lab) -> None:
    """Their entries lie behind it, and their messages were acknowledged: only the sweep still sees them."""
    waiting_and_running(lab)
    backup = kept(lab, "JobsTable")
    lab.off.clear()
    lab.advance(minutes=25)
    assert sorted(ran()) == sorted((*DELAYS, "running")), "all were done once, after the backup"
    assert lab.messages() == []
    RAN.clear()
    restore(lab, backup)
    lab.off.add("JobQueue")
    comes_back(lab, lab.now())


def test_attempts_go_on_where_the_backup_has_them(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A number of attempts that began anew would try a job without end, one restore after the other."""
    monkeypatch.setattr(SystemClock, "chance", lambda _: 0.999)
    create("j1", handler="test.flaky", retry=Retry(first=60, factor=1, max_attempts=4))
    lab.advance(seconds=90)
    backup = kept(lab, "JobsTable")
    lab.advance(minutes=20)
    assert job("j1").state is State.DEAD
    RAN.clear()
    restore(lab, backup)
    lab.rhythm = RHYTHM
    lab.advance(hours=2)
    assert [call.attempt for call in RAN] == [3, 4]
    assert [past.number for past in job("j1").past] == [1, 2, 3]


def test_shards_restored_beside_jobs_that_are_newer(lab: Lab) -> None:
    """The watermark is behind what was handed over: it is sent again, and runs once."""
    names = [f"j{number}" for number in range(6)]
    for number, name in enumerate(names):
        create(name, 1_000 + number * 100)
    backup = kept(lab, "ShardsTable")
    lab.advance(seconds=1_250)
    restore(lab, backup)
    lab.advance(hours=2)
    assert sorted(ran()) == names
    assert {job(name).attempt for name in names} == {1}


def test_schedules_restored_with_their_jobs(lab: Lab) -> None:
    """Both tables are of one minute; the slots since then run again, and none is left out."""
    schedules.put("s", cron="*/10 * * * *", handler="test.record")
    lab.advance(minutes=25)
    backup = kept(lab, "JobsTable", "SchedulesTable")
    lab.advance(minutes=15)
    restore(lab, backup)
    lab.rhythm = RHYTHM
    lab.advance(hours=2)
    slots = schedules.slots_of("s")
    done = {slot for slot, one in slots.items() if one.state is State.SUCCEEDED}
    assert done == {slot for slot, one in slots.items() if one.run_at <= lab.now()}
    assert all(one.attempt == 1 for one in slots.values() if one.slot in done)
