"""A job that started while an edit was written holds its slot; its schedule goes on, and no change waits for it."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from tests.support.interleavings import at_call
from tests.support.lab import Lab
from tests.support.schedules import delete, hold, look, minutes, put, row, slots_of
from tests.support.worlds import Interrupted, Runner, Skewed, client_of, skewed, with_client, with_clock

from onthedot import wiring
from onthedot.rules.errors import Unavailable
from onthedot.rules.instants import from_text
from onthedot.rules.jobs import Job, State
from onthedot.steps.put import entry_of
from onthedot.steps.start import Attempt, start

SLOT = "2027-01-04T08:01:00Z"


def third(name: str, world: Any = None) -> Any:
    return put(name, '"third"', world=world)


@pytest.fixture
def overtaken(lab: Lab) -> Job:
    """Return a job of the first version: its slot came, and it started, right before the second was written."""
    put("s", '"one"')
    first = slots_of("s")[SLOT]
    lab.time.move_to(lab.now() + timedelta(seconds=29, milliseconds=990))

    def the_slot_comes() -> None:
        lab.time.move_to(lab.now() + timedelta(seconds=1))
        assert isinstance(start(wiring.world(), entry_of(first), Runner().policies()), Attempt)

    world = wiring.world()
    client = Interrupted(client_of(world, "schedules"), "transact_write_items", [the_slot_comes])
    put("s", '"two"', world=with_client(world, "schedules", client))
    assert row("s").version == 2
    return first


@pytest.mark.usefixtures("overtaken")
@pytest.mark.parametrize("change", [delete, hold, third])
@pytest.mark.parametrize("seconds", [5, 21])
def test_a_change_meanwhile_is_done_within_seconds(lab: Lab, change: Callable[..., Any], seconds: int) -> None:
    """The handler ran for minutes, and all the while its schedule was neither planned nor paused nor deleted: 503."""
    lab.time.shift(seconds)
    world = with_clock(Skewed())
    try:
        change("s", world=world)
    except Unavailable:
        assert seconds < 20
        lab.time.shift(20)
        change("s", world=world)
    there = wiring.world().schedules.get("s")
    assert there is None or there.paused or there.version == 3


@pytest.mark.usefixtures("overtaken")
def test_the_schedule_goes_on_beside_it(lab: Lab) -> None:
    """The slots of those minutes came late, all at once."""
    for _ in range(3):
        lab.time.shift(20)
        lab.tick()
    jobs = slots_of("s")
    assert (jobs[SLOT].version, jobs[SLOT].state) == (1, State.RUNNING)
    assert {job.version for slot, job in jobs.items() if slot != SLOT} == {2}
    assert list(jobs) == minutes(from_text(jobs[SLOT].slot), 12)
    next_at = row("s").next_at
    assert next_at is not None
    assert next_at > lab.now() + timedelta(minutes=8)


@pytest.mark.parametrize("fields", [{}, {"ends_at": "2027-01-04T08:01:30Z"}], ids=["goes on", "has ended"])
def test_a_slot_that_the_planner_passed_is_planned_again_when_its_job_goes(lab: Lab, fields: dict[str, Any]) -> None:
    """A worker stalled between its start and its look at the schedule: the planner left the slot to it, and it went.

    Where it was the last slot, the schedule had ended, and the slot was lost.
    """
    put("s", '"one"', **fields)
    first = slots_of("s")[SLOT]
    lab.time.shift(25)

    def an_edit_and_time() -> None:
        put("s", '"two"', **fields)
        lab.time.shift(40)
        look(row("s"))
        assert slots_of("s")[SLOT].version == 1

    with at_call(1, an_edit_and_time) as moment:
        start(skewed(10), entry_of(first), Runner().policies())
    assert moment.reached
    assert SLOT not in slots_of("s"), "superseded: its slot is the new version's"
    look(row("s"))
    assert slots_of("s")[SLOT].version == 2
    lab.advance(minutes=1)
    assert slots_of("s")[SLOT].state is State.SUCCEEDED
