"""What a job's life costs.

`pytest -s tests/e2e/test_a_job_costs_five_write_units.py` prints the table.
"""

from typing import Any

import pytest
from benchmarks.counts import JOB_UNITS
from tests.e2e.deployed import Deployed
from tests.e2e.meter import Meter, begin
from tests.support.jobs import create

from onthedot import wiring
from onthedot.steps.finish import Success, finish
from onthedot.steps.manage import cancel, reschedule
from onthedot.steps.ports import World

pytestmark = pytest.mark.e2e

LARGE = '"' + "x" * (100 * 1024 - 200) + '"'


def live(world: World, meter: Meter, name: str, **said: Any) -> dict[str, float]:
    """Count a job's life, from its creation to its success."""
    with meter.of("create"):
        job = create(name, world=world, handler="test.units", **said)
    with meter.of("start"):
        attempt = begin(world, job)
    with meter.of("finish"):
        assert finish(world, attempt, Success("null"))
    print(f"\n{name}: {meter.units}, {sum(meter.units.values()):g} in all")
    return meter.units


def test_a_small_job(world: World, meter: Meter) -> None:
    assert live(world, meter, "units-small", payload='{"a":1}') == JOB_UNITS
    assert sum(JOB_UNITS.values()) == 5


def test_the_longest_names_and_a_group_cost_one_more(world: World, meter: Meter) -> None:
    name, group = "u" * 64, "g" * 64
    assert live(world, meter, name, group=group, payload="1") == {"create": 3, "start": 1, "finish": 2}


def test_a_large_payload_costs_its_kilobytes_once(world: World, meter: Meter) -> None:
    assert live(world, meter, "units-large", payload=LARGE) == {"create": 102, "start": 1, "finish": 2}


def test_what_people_do_to_a_job(world: World, meter: Meter) -> None:
    job = create("units-moved", 3_600, world=world, payload=LARGE)
    with meter.of("reschedule"):
        reschedule(world, *job.key, world.clock.now(), None)
    with meter.of("cancel"):
        cancel(world, *job.key)
    print(f"\n{meter.units}")
    assert meter.units == {"reschedule": 3, "cancel": 2}


def test_the_deployed_stack_is_what_is_measured(stack: Deployed, world: World) -> None:
    assert wiring.settings().jobs_table == stack.outputs["JobsTableName"]
    assert world.shard_count == 2
