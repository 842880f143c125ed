"""What it costs when a job fails: by its handler, with its worker, for good, and sent again.

`pytest -s tests/e2e/test_a_failed_attempt_costs_four_write_units.py` prints the figures.
"""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from benchmarks.counts import FAILED_UNITS
from tests.e2e.meter import Meter, begin
from tests.support.jobs import create, entry
from tests.support.worlds import Holds, Skewed, with_clock

from onthedot.rules.jobs import ONE_SLOT, Job, State
from onthedot.rules.policies import Policies, Policy
from onthedot.steps.finish import Failure, Success, finish
from onthedot.steps.heartbeat import Beat, Pulse
from onthedot.steps.manage import Stopping, stop
from onthedot.steps.ports import World
from onthedot.steps.revive import revive
from onthedot.steps.start import Drop, start

pytestmark = pytest.mark.e2e

ERROR = "RuntimeError: the registry answered 503"
LONGEST = "x" * 400
FINAL = Failure(ERROR, "failed", final=True)
LEASE_SECONDS = 60 + 15 + 4


def failing(wait: float, error: str = ERROR) -> Failure:
    return Failure(error, "failed", wait=timedelta(seconds=wait))


def now(world: World, name: str) -> Job:
    found = world.jobs.get(f"job#{name}", ONE_SLOT)
    assert found is not None
    return found


def failed(world: World, meter: Meter, name: str, ending: Failure, **said: Any) -> dict[str, float]:
    """Count an attempt that fails."""
    job = create(name, world=world, handler="test.units", **said)
    with meter.of("start"):
        attempt = begin(world, job)
    with meter.of("fail"):
        assert finish(world, attempt, ending)
    print(f"\n{name}: {meter.units}")
    return meter.units


@pytest.mark.parametrize("wait", [10, 3_600], ids=["near", "far"])
def test_an_attempt_that_is_followed_by_another(world: World, meter: Meter, wait: float) -> None:
    """Its entry moves on the agenda, out of one place and into another."""
    assert failed(world, meter, f"units-failed-{wait}", failing(wait)) == FAILED_UNITS
    assert sum(FAILED_UNITS.values()) == 4


def test_a_group_costs_no_more(world: World, meter: Meter) -> None:
    assert failed(world, meter, "units-failed-group", failing(10), group="g" * 64) == {"start": 1, "fail": 3}


def test_the_last_attempt(world: World, meter: Meter) -> None:
    """Off the agenda, and into the index of the dead."""
    assert failed(world, meter, "units-dead", FINAL) == {"start": 1, "fail": 3}


def test_past_errors_cost_a_unit_for_each_kilobyte(world: World, meter: Meter) -> None:
    create("units-past", world=world, handler="test.units")
    cost = []
    for number in range(5):
        with meter.of(f"attempt {number + 1}"):
            finish(world, begin(world, now(world, "units-past")), failing(0, LONGEST) if number < 4 else FINAL)
        cost.append(meter.units[f"attempt {number + 1}"])
    print(f"\nfive attempts with the longest errors: {cost}")
    assert cost == [4, 5, 6, 7, 8]


def after_the_lease(world: World) -> World:
    """Return the world in which the lease of what has just started is over."""
    return replace(with_clock(Skewed(LEASE_SECONDS + 1)), queue=world.queue)


def test_an_attempt_whose_worker_died(world: World, meter: Meter) -> None:
    """The next one is refused, sees why, and takes the job over: nobody else had to write how the first one ended."""
    begin(world, create("units-taken", world=world, handler="test.units"))
    with meter.of("take over"):
        attempt = begin(after_the_lease(world), now(world, "units-taken"))
    print(f"\n{meter.units}")
    assert (attempt.job.attempt, meter.units) == (2, {"take over": 1 + 1})


def test_a_job_whose_last_worker_died(world: World, meter: Meter) -> None:
    begin(world, create("units-poison", world=world, handler="test.units"))
    once = Policies({"test.units": Policy(max_attempts=1)})
    with meter.of("bury"):
        assert isinstance(start(after_the_lease(world), entry(now(world, "units-poison")), once), Drop)
    print(f"\n{meter.units}")
    assert (now(world, "units-poison").state, meter.units) == (State.DEAD, {"bury": 1 + 3})


def test_a_heartbeat_and_a_stop(world: World, meter: Meter) -> None:
    """Neither moves the job in any index. A heartbeat and a finish that did not see the stop are refused once."""
    job = create("units-beats", world=world, handler="test.units", group="g")
    attempt = begin(world, job)
    pulse = Pulse(world, attempt, Holds())
    with meter.of("heartbeat"):
        assert pulse(world.clock.now() + timedelta(seconds=60)) is Beat.GO_ON
    with meter.of("stop"):
        assert isinstance(stop(world, *job.key), Stopping)
    with meter.of("told"):
        assert pulse(world.clock.now() + timedelta(seconds=90)) is Beat.STOP
    with meter.of("cancelled"):
        assert finish(world, pulse.attempt, failing(0))
    print(f"\n{meter.units}")
    assert meter.units == {"heartbeat": 1, "stop": 1, "told": 1, "cancelled": 1 + 2}


def test_a_dead_job_that_goes_again(world: World, meter: Meter) -> None:
    """Out of the index of the dead, and onto the agenda."""
    job = create("units-revived", world=world, handler="test.units")
    finish(world, begin(world, job), FINAL)
    with meter.of("revive"):
        revive(world, *job.key)
    with meter.of("start"):
        attempt = begin(world, now(world, "units-revived"))
    with meter.of("finish"):
        assert finish(world, attempt, Success("null"))
    print(f"\n{meter.units}")
    assert meter.units == {"revive": 3, "start": 1, "finish": 2}
