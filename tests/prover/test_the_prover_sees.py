"""The prover sees: each test takes one rule of the protocol away, and some life breaks a promise for it."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.prover import stage
from tests.prover.clients import DELAYS
from tests.prover.fates import Weather
from tests.prover.histories import History, Step, Verb
from tests.prover.proving import PARTS, Counts, prove
from tests.support.lab import Lab

from onthedot.adapters import jobs
from onthedot.adapters.jobs import DynamoJobs
from onthedot.rules import agenda
from onthedot.rules.starting import Standing
from onthedot.steps import dispatch, start
from onthedot.steps.drain import drain
from onthedot.steps.turns import standing_of

MOST = 40


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
        whatever = f"{condition} OR attribute_exists(slot)" if rest[-1] == "ALL_NEW" else condition
        return update(self, schedule, slot, text, whatever, *rest)

    monkeypatch.setattr(DynamoJobs, "_update", careless)
    steps = [*jobs_in(20, 3), *[Step(7, Verb.DUPLICATE, number, 0) for number in range(3)]]
    assert found(lab, "early: ", steps)


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


def test_a_recheck_below_the_look_ahead(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    timed = stage._timed

    def short(*given: Any) -> Any:
        settings = timed(*given)
        object.__setattr__(settings.timing, "recheck", timedelta(seconds=60))
        return settings

    monkeypatch.setattr(stage, "_timed", short)
    steps = [Step(61, Verb.TRIGGER, 0, 0), Step(1, Verb.OFF, PARTS.index("sqs"), 0), *jobs_in(20)]
    assert found(lab, "late: ", steps, calm_workers=True)


def test_a_schedule_that_is_not_read_after_the_start(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "standing_of", lambda *_: Standing.IN_FORCE)
    steps = [Step(0, Verb.PUT, 3, 2), Step(61, Verb.OFF, PARTS.index("worker"), 1), Step(61, Verb.PAUSE, 3, 0)]
    assert found(lab, "paused: ", steps)


def test_an_entry_that_a_start_takes_off_the_agenda(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    update = DynamoJobs._update

    def careless(self: DynamoJobs, schedule: str, slot: str, text: str, *rest: Any) -> Any:
        return update(self, schedule, slot, text + " REMOVE agenda" * (rest[-1] == "ALL_NEW"), *rest)

    monkeypatch.setattr(DynamoJobs, "_update", careless)
    assert found(lab, "lost: ", [*jobs_in(20), Step(25, Verb.PURGE, 0, 0)], deaths=100)
