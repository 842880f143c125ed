"""What a slot of a schedule costs, from its planning to its success: less for each, the more are planned at once.

`pytest -s tests/e2e/test_a_slot_costs_ten_write_units.py` prints the figures.
"""

from collections.abc import Iterator

import pytest
from tests.e2e.deployed import Deployed
from tests.e2e.meter import Meter
from tests.e2e.schedules import behind
from tests.support.aside import beside, wired

from onthedot.rules.agenda import Entry
from onthedot.rules.jobs import Job
from onthedot.rules.planning import MOST_JOBS
from onthedot.rules.policies import Policies
from onthedot.steps.finish import Success, finish
from onthedot.steps.plan import plan
from onthedot.steps.ports import World
from onthedot.steps.start import Attempt, start

pytestmark = pytest.mark.e2e


@pytest.fixture
def world(stack: Deployed) -> Iterator[World]:
    """Return the steps' world on tables that no function looks at."""
    with beside(stack.endpoint) as environment, wired(environment) as world:
        yield world


@pytest.fixture
def meter(world: World) -> Meter:
    """Return what counts the writes of the world."""
    return Meter.under(world)


def planned(world: World, meter: Meter, name: str, slots: int, **fields: object) -> list[Job]:
    """Count what it costs to plan so many slots at once."""
    schedule, now = behind(world, name, slots, **fields)
    with meter.of("plan"):
        progress = plan(world, schedule, now, lambda: True)
    assert (progress.done, len(progress.jobs)) == (True, slots)
    return progress.jobs


def lived(world: World, meter: Meter, job: Job) -> None:
    """Count what it costs to run a job that is planned."""
    assert job.wake is not None
    with meter.of("start"):
        attempt = start(world, Entry(job.wake, job.schedule, job.slot), Policies())
    assert isinstance(attempt, Attempt)
    with meter.of("finish"):
        assert finish(world, attempt, Success("null"))


def test_a_slot_that_is_planned_alone(world: World, meter: Meter) -> None:
    [job] = planned(world, meter, "alone", 1)
    lived(world, meter, job)
    print(f"\nalone: {meter.units}, {sum(meter.units.values()):g} in all")
    assert meter.units == {"plan": 3 + 4, "start": 1, "finish": 2}


def test_a_slot_of_a_full_chunk(world: World, meter: Meter) -> None:
    jobs = planned(world, meter, "full", MOST_JOBS)
    lived(world, meter, jobs[0])
    each = meter.units["plan"] / MOST_JOBS + meter.units["start"] + meter.units["finish"]
    print(f"\nof {MOST_JOBS} at once: {meter.units}, {each:.3f} for each slot")
    assert meter.units == {"plan": 3 * MOST_JOBS + 4, "start": 1, "finish": 2}


def test_a_group_costs_one_more_for_each(world: World, meter: Meter) -> None:
    planned(world, meter, "grouped", 10, group="nightly")
    assert meter.units == {"plan": 4 * 10 + 4}


def test_who_finds_everything_planned_writes_nothing(world: World, meter: Meter) -> None:
    planned(world, meter, "again", 1)
    schedule = world.schedules.get("again")
    assert schedule is not None
    with meter.of("again"):
        plan(world, schedule, schedule.planned_until, lambda: True)
    assert meter.units["again"] == 0
