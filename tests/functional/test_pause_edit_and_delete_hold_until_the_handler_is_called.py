"""Pause, edit, delete and re-create hold until the handler is called, wherever they meet a planner, a start or another.

What was planned under the former schedule does not run once the new one is written; what is due under the new one does.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from tests.support.handlers import RAN, SCRIPT, ran
from tests.support.interleavings import Meets, play_all
from tests.support.jobs import message
from tests.support.lab import Lab
from tests.support.schedules import delete, hold, look, put, ran_slots, resume, row, skipped, slots_of
from tests.support.worlds import (
    Died,
    Holds,
    Interrupted,
    Runner,
    Skewed,
    client_of,
    raising,
    skewed,
    with_client,
    with_clock,
)

from onthedot import wiring
from onthedot.rules.errors import Unavailable
from onthedot.rules.instants import shown
from onthedot.rules.jobs import Job, State
from onthedot.rules.schedules import OnResume
from onthedot.steps.ports import World
from onthedot.steps.work import work

EVERY_FIVE = "*/5 * * * *"
READ = "GetItem"


def near(lab: Lab, name: str) -> Job:
    """Return the job of a schedule's slot that is a tenth of a second away."""
    lab.purge()
    now = lab.now()
    lab.time.move_to(now.replace(minute=now.minute // 5 * 5, second=0, microsecond=0) + timedelta(seconds=1))
    put(name, '"old"', cron=EVERY_FIVE)
    lab.time.shift(298.9)
    return next(iter(slots_of(name).values()))


def starts(lab: Lab, job: Job) -> Callable[[], Any]:
    """Return what a worker does when the job's time has come."""

    def start() -> None:
        lab.time.shift(0.2)
        work(wiring.world(), message(job), Runner(), Holds())

    return start


def payloads(name: str) -> dict[str, list[Any]]:
    """Return the payloads that each slot of a schedule ran with."""
    found: dict[str, list[Any]] = {}
    for call in RAN:
        if call.id.startswith(f"{name}@"):
            found.setdefault(call.id.partition("@")[2], []).append(call.payload)
    return found


def versions_run(name: str) -> list[Any]:
    return [payload for each in payloads(name).values() for payload in each]


def recreate(name: str, world: World | None = None) -> Any:
    """Delete a schedule, make another one, and the first again under the same name."""
    delete(name, world)
    put(name, '"other"', cron="0 3 * * *", world=world)
    delete(name, world)
    return put(name, '"new"', cron=EVERY_FIVE, world=world)


def edit(name: str, world: World | None = None) -> Any:
    return put(name, '"new"', cron=EVERY_FIVE, world=world)


CHANGES = [hold, edit, delete, recreate]
Change = Callable[..., Any]


@pytest.mark.parametrize("change", CHANGES)
def test_a_start_that_meets_a_change_at_every_call(lab: Lab, change: Change) -> None:
    """A5: the schedule was read before the job was taken, and a job ran after its schedule had been deleted.

    The clock of the one who changes it is behind: by it, the slot is still to come.
    """

    def story(name: str, meets: Meets) -> None:
        job = near(lab, name)
        came_first = READ not in meets(starts(lab, job), lambda: change(name, world=skewed(-1)))
        assert ("old" not in versions_run(name)) == came_first, "decided by what the schedule is when it is read"
        assert_standing(lab, name, job, change, came_first)

    assert play_all(story) >= 7


def assert_standing(lab: Lab, name: str, job: Job, change: Change, came_first: bool) -> None:
    """Look whether the slot has an outcome that tells what happened, or runs once under the edited schedule."""
    slot, now = job.id.partition("@")[2], wiring.world().jobs.get(*job.key)
    if change is edit:
        look(row(name))
        lab.settle()
        assert payloads(name) == {slot: ["new"] if came_first else ["old"]}, "the slot is not lost with its job"
    elif change is hold and came_first:
        assert now is None or (now.state, now.reason) == (State.SKIPPED, "its schedule is paused")
    elif change is delete and came_first:
        assert now is not None
        assert now.state is State.CANCELLED


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_that_meets_a_start_at_every_call(lab: Lab, change: Change) -> None:
    """A5: the job started while its schedule was being changed; it runs until the very write, and not after it."""

    def story(name: str, meets: Meets) -> None:
        job = near(lab, name)
        wrote = "TransactWriteItems" in meets(lambda: change(name), starts(lab, job))
        assert ("old" not in versions_run(name)) == wrote
        assert_standing(lab, name, job, change, wrote)

    assert play_all(story) >= 5


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("planner_first", [True, False])
def test_a_change_and_a_planner_at_every_call_of_each_other(lab: Lab, change: Change, planner_first: bool) -> None:
    """A5: a planner that had read the old schedule put its jobs back after they were withdrawn."""

    def story(name: str, meets: Meets) -> None:
        lab.purge()
        slot = lab.now().replace(minute=lab.now().minute // 5 * 5, second=0, microsecond=0) + timedelta(minutes=10)
        lab.time.move_to(slot - timedelta(seconds=50))
        read = put(name, '"old"', cron=f"{slot.minute} * * * *", world=skewed(-590))
        assert slots_of(name) == {}, "planned by a clock that is behind, up to some seconds from now"
        if planner_first:
            meets(lambda: look(read), lambda: change(name))
        else:
            meets(lambda: change(name), lambda: look(read))
        if change is not delete:
            look(row(name))
        lab.time.shift(51)
        lab.settle()
        assert payloads(name) == ({} if change in (hold, delete) else {shown(slot): ["new"]})

    assert play_all(story) >= 4


@pytest.mark.parametrize("change", CHANGES)
def test_a_job_that_runs_already_finishes(lab: Lab, change: Change) -> None:
    """A handler that is stopped half way leaves half of its work."""
    put("s", cron=EVERY_FIVE, handler="test.meanwhile")
    SCRIPT.meanwhile = lambda: (change("s"), None)[1]
    lab.advance(minutes=4, seconds=32)
    slot, job = next(iter(slots_of("s").items()))
    assert ran() == [f"s@{slot}"]
    assert job.state is State.SUCCEEDED


def test_a_deletion_that_dies_after_its_write_has_cancelled_its_jobs(lab: Lab) -> None:
    """A5: the API process died before it withdrew anything, and the jobs ran."""
    put("s")
    with pytest.raises(Died):
        delete("s", dying_after_its_write())
    assert len(slots_of("s")) == 10, "nothing was withdrawn"
    lab.advance(minutes=11)
    assert ran() == []
    outcomes = {(job.state, job.reason) for job in slots_of("s").values()}
    assert outcomes == {(State.CANCELLED, "its schedule was deleted")}


def test_a_job_on_its_way_into_a_pause_is_skipped(lab: Lab) -> None:
    """A5: its worker had read it before the pause, and takes it after."""
    put("s", missed="skip", grace=3600)
    lab.time.shift(300)
    hold("s")
    lab.settle()
    assert ran() == []
    outcomes = {(job.state, job.reason) for job in slots_of("s").values()}
    assert outcomes == {(State.SKIPPED, "its schedule is paused")}
    assert len(slots_of("s")) == 5, "those that were due; the others were taken back"


def dying_after_its_write() -> Any:
    world = with_clock(Skewed())
    client = Dying(client_of(world, "schedules"))
    return with_client(world, "schedules", client)


class Dying:
    """A client whose process dies after its first transaction."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def __getattr__(self, name: str) -> Any:
        """Return the operation."""
        return getattr(self.client, name)

    def transact_write_items(self, **arguments: Any) -> Any:
        """Write, and die."""
        self.client.transact_write_items(**arguments)
        raise Died


def test_an_edit_that_dies_after_its_write_has_made_its_slots_new(lab: Lab) -> None:
    """A7: what was planned ahead was neither taken back nor planned anew, and nothing ran at those slots."""
    put("s", '"old"')
    world = dying_after_its_write()
    with pytest.raises(Died):
        put("s", '"new"', world=world)
    assert {job.version for job in slots_of("s").values()} == {1}
    lab.advance(minutes=5)
    assert list(payloads("s").values()) == [["new"]] * 5
    assert not skipped(lab, "s")


def test_a_pause_that_cannot_be_read_calls_no_handler(lab: Lab) -> None:
    """A schedule that AWS does not give is not one that wants its job to run: the start is undone and tried again."""
    put("s", cron=EVERY_FIVE)
    lab.time.shift(270)
    world = with_clock(Skewed())
    down = Interrupted(client_of(world, "schedules"), "get_item", [raising(Unavailable("down"))])
    [slot, *_] = slots_of("s").values()
    worked = work(with_client(world, "schedules", down), message(slot), Runner(), Holds())
    assert not worked.acknowledged
    assert ran() == []
    lab.advance(seconds=1)
    assert ran_slots("s") == [slot.id.partition("@")[2]]
    assert slots_of("s")[slot.id.partition("@")[2]].attempt == 1


def test_slots_of_a_pause_that_dies_are_missed_if_its_owner_wants_that(lab: Lab) -> None:
    """Its jobs, never withdrawn, were skipped by their starts, and then no slot was left to be missed."""
    put("s")
    with pytest.raises(Died):
        hold("s", world=dying_after_its_write(), on_resume=OnResume.MISSED)
    lab.advance(minutes=5)
    assert ran() == []
    resume("s")
    lab.advance(minutes=1)
    assert len(ran()) == 6
