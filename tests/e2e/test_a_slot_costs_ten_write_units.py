"""What a slot of a schedule costs, from its planning to its outcome: less for each, the more are planned at once.

`pytest -s tests/e2e/test_a_slot_costs_ten_write_units.py` prints the figures.
"""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from benchmarks.counts import CHUNK_UNITS, SLOT_UNITS
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
from onthedot.steps.start import Attempt, Drop, Start, start

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
    assert meter.units == SLOT_UNITS
    assert sum(SLOT_UNITS.values()) == 10


def test_a_slot_of_a_full_chunk(world: World, meter: Meter) -> None:
    jobs = planned(world, meter, "full", MOST_JOBS)
    lived(world, meter, jobs[0])
    whole = meter.units["plan"] / MOST_JOBS + meter.units["start"] + meter.units["finish"]
    print(f"\nof {MOST_JOBS} at once: {meter.units}, {whole:.3f} for each slot")
    each, transaction = CHUNK_UNITS
    assert meter.units == SLOT_UNITS | {"plan": each * MOST_JOBS + transaction}


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


def started(world: World, meter: Meter, job: Job, step: str) -> Start:
    """Count what it costs to start a job as it is now."""
    there = world.jobs.get(*job.key)
    assert there is not None
    assert there.wake is not None
    with meter.of(step):
        return start(world, Entry(there.wake, *there.key), Policies())


def ended(world: World, meter: Meter, attempt: Start, step: str) -> None:
    """Count what it costs to end an attempt well."""
    assert isinstance(attempt, Attempt)
    with meter.of(step):
        assert finish(world, attempt, Success("null"))


@pytest.mark.parametrize(("overlap", "units"), [("allow", 10), ("skip", 12), ("wait", 12)])
def test_a_slot_whose_turn_is_free(world: World, meter: Meter, overlap: str, units: int) -> None:
    """The turn is taken by one write, and given back by another."""
    [job] = planned(world, meter, f"free-{overlap}", 1, overlap=overlap)
    lived(world, meter, job)
    print(f"\n{overlap}, free: {meter.units}, {sum(meter.units.values()):g} in all")
    turn = 0 if overlap == "allow" else 1
    assert meter.units == {"plan": 7, "start": 1 + turn, "finish": 2 + turn}
    assert sum(meter.units.values()) == units


def test_a_slot_that_is_skipped_since_another_runs(world: World, meter: Meter) -> None:
    """Its start, the turn that is refused, and its outcome: 4, and 7 when it was planned alone."""
    first, second = planned(world, meter, "held", 2, overlap="skip")
    holder = started(world, meter, first, "holder")
    assert isinstance(started(world, meter, second, "skipped"), Drop)
    print(f"\nskip, held: {7 + meter.units['skipped']:g} in all")
    assert meter.units["skipped"] == 1 + 1 + 2
    ended(world, meter, holder, "end")


def test_a_slot_that_waits_once(world: World, meter: Meter) -> None:
    """Two starts, the refused turn, its place in the line, back to the agenda, the call, its turn, its outcome."""
    first, second = planned(world, meter, "waits", 2, overlap="wait")
    holder = started(world, meter, first, "holder")
    assert isinstance(started(world, meter, second, "waits"), Drop)
    there = world.jobs.get(*second.key)
    assert there is not None
    world.jobs.change(there, replace(there, run_at=world.clock.now()))  # a minute later
    assert isinstance(started(world, meter, second, "looks"), Drop)
    ended(world, meter, holder, "called")
    attempt = started(world, meter, second, "runs")
    ended(world, meter, attempt, "finish")
    units = meter.units | {"called": meter.units["called"] - 3}
    alone = 7 + sum(units[step] for step in ("waits", "called", "runs", "finish"))
    print(f"\nwait, once: {units}, {alone:g} in all")
    assert units == {"plan": 10, "holder": 2, "waits": 1 + 1 + 1 + 3, "looks": 5, "called": 1, "runs": 2, "finish": 3}
