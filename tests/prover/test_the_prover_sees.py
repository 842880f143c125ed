"""The prover sees: each test takes one rule of the protocol away, and some life breaks a promise for it."""

from dataclasses import replace
from typing import Any

import pytest
from tests.prover.clients import DELAYS
from tests.prover.fates import Weather
from tests.prover.histories import History, Step, Verb
from tests.prover.proving import Counts, prove
from tests.support.lab import Lab
from tests.support.proving import IN_FULL

from onthedot.adapters import jobs
from onthedot.adapters.jobs import DynamoJobs
from onthedot.rules import agenda
from onthedot.steps import dispatch, start
from onthedot.steps.drain import drain
from onthedot.steps.turns import standing_of

MOST = 40

pytestmark = pytest.mark.skipif(not IN_FULL, reason="slow: PROVE=all plays random lives")


def found(lab: Lab, promise: str, steps: list[Step], **weather: Any) -> str:
    """Return how this promise is broken by these steps in a weather of some seed, nothing if it is kept in all."""
    for seed in range(MOST):
        broken = prove(lab, History(Weather(seed, **weather), tuple(steps)), Counts())
        for one in broken:
            if one.startswith(promise):
                return one
    return ""


def jobs_in(seconds: int, count: int = 4) -> list[Step]:
    """Return the creation of jobs that are due in so many seconds."""
    return [Step(1, Verb.CREATE, 0, DELAYS.index(seconds))] * count


def test_a_start_without_its_condition(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    update = DynamoJobs._update

    def careless(self: DynamoJobs, schedule: str, slot: str, text: str, condition: str, *rest: Any) -> Any:
        return update(
            self, schedule, slot, text, "attribute_exists(slot)" if rest[1] == "ALL_NEW" else condition, *rest
        )

    monkeypatch.setattr(DynamoJobs, "_update", careless)
    steps = [
        *jobs_in(20, 3),
        *[Step(0, Verb.DUPLICATE, number, 0) for number in range(3)],
        Step(30, Verb.TRIGGER, 0, 0),
    ]
    assert found(lab, "", steps, faults=20)


def test_a_watermark_that_moves_before_the_send(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def move_first(world: Any, shard: Any, has_time: Any) -> Any:
        world.shards.move(shard, agenda.horizon(world.clock.now(), world.timing))
        return drain(world, shard, has_time)

    monkeypatch.setattr(dispatch, "drain", move_first)
    steps = [*jobs_in(901), *[Step(290, Verb.TRIGGER, 0, 0)] * 4]
    assert found(lab, "late: ", steps, deaths=60, calm_workers=True)


def test_a_finish_that_is_not_fenced(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "CHANGED_ALONE", ("payload_item",))
    assert found(lab, "unfenced: ", [*jobs_in(20, 4), *jobs_in(90, 4)], freezes=80)


def test_a_generation_that_is_ignored(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    judge = standing_of

    def careless(world: Any, job: Any) -> Any:
        there = world.schedules.get(job.schedule.removeprefix("schedule#")) if job.of_schedule else None
        return judge(world, replace(job, generation=there.generation, version=there.version) if there else job)

    monkeypatch.setattr(start, "standing_of", careless)
    again = [Step(0, Verb.PUT, 3, 2), Step(30, Verb.DELETE, 3, 0), Step(7, Verb.PUT, 3, 5)]
    weather = {"deaths": 60, "faults": 60, "calm_workers": True}
    assert found(lab, "superseded: ", [*again, Step(150, Verb.TRIGGER, 3, 0)] * 2, **weather)
