"""The machinery finds what it is for: each test breaks one step on purpose, and a crash point tells of it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from tests.crashes.every_flow import FLOWS
from tests.crashes.faults import Kind
from tests.crashes.points import Point, every_point, play_alone, play_point
from tests.support.lab import Lab

from onthedot import wiring
from onthedot.adapters.jobs import DynamoJobs
from onthedot.adapters.schedules import DynamoSchedules
from onthedot.rules.agenda import horizon
from onthedot.rules.errors import Unavailable
from onthedot.rules.jobs import Job
from onthedot.rules.schedules import Schedule
from onthedot.rules.timing import Timing
from onthedot.steps import dispatch, edit, put, work
from onthedot.steps.drain import Drained, drain
from onthedot.steps.ports import Shard, World, Written
from onthedot.steps.settle import Settled, settle, withdraw
from onthedot.steps.work import Worked


def found(lab: Lab, name: str, kind: Kind) -> str:
    """Return the first broken promise that a flow tells of when this befalls its calls, one after the other."""
    [flow] = [flow for flow in FLOWS if flow.name == name]
    alone = play_alone(lab, flow)
    assert alone.wrong == [], "only a fault shall show it"
    for number, each in every_point(alone.made):
        if each is kind:
            wrong, _ = play_point(lab, flow, Point(name, number, alone.made[number], kind, repeats=False))
            if wrong:
                return wrong[0]
    return ""


def test_a_near_job_without_its_recheck_is_lost_by_who_dies_before_the_send(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wake_at(run_at: datetime, now: datetime, timing: Timing) -> datetime:
        assert timing
        return max(run_at, now)

    monkeypatch.setattr(put, "wake_at", wake_at)
    assert "late: a was to start" in found(lab, "create near", Kind.DIES_BEFORE)


def test_a_watermark_that_moves_before_the_send_leaves_jobs_behind(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def move_first(world: World, shard: Shard, has_time: Callable[[], bool]) -> Drained:
        assert world.shards.move(shard, horizon(world.clock.now(), world.timing))
        return drain(world, shard, has_time)

    monkeypatch.setattr(dispatch, "drain", move_first)
    assert "late: " in found(lab, "drain", Kind.DIES_BEFORE)


def test_a_message_that_is_acknowledged_whatever_became_of_its_attempt(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its job runs for ever, until the sweep finds it."""
    finished = work._finished

    def acknowledged(*arguments: Any) -> Worked:
        try:
            return replace(finished(*arguments), acknowledged=True)
        except Unavailable:
            return Worked(acknowledged=True)

    monkeypatch.setattr(work, "_finished", acknowledged)
    assert "late: " in found(lab, "run what was drained", Kind.CUT_OFF)


def test_slots_that_are_noted_as_planned_before_they_have_their_jobs(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    write = DynamoSchedules.write

    def in_two(
        schedules: DynamoSchedules, before: Schedule, after: Schedule, records: Sequence[Any], jobs: Sequence[Job] = ()
    ) -> Any:
        refused = write(schedules, before, after, records)
        for job in jobs:
            wiring.world().jobs.add(job, job.created_at)
        return refused

    monkeypatch.setattr(DynamoSchedules, "write", in_two)
    assert "silence: " in found(lab, "create a schedule", Kind.DIES_AFTER)


def test_an_edit_that_takes_jobs_back_before_it_is_written(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def too_soon(world: World, schedule: Schedule, give_up_at: datetime) -> Settled | None:
        settled = settle(world, schedule, give_up_at)
        if settled is not None:
            withdraw(world, settled.schedule, settled.at, lambda _: True)
        return settled

    monkeypatch.setattr(edit, "settle", too_soon)
    assert "silence: " in found(lab, "edit", Kind.UNREACHED)


def test_a_write_without_an_answer_that_is_taken_for_done(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    change = DynamoJobs.change

    def hopeful(jobs: DynamoJobs, before: Job, after: Job) -> Written:
        try:
            return change(jobs, before, after)
        except Unavailable:
            return Written(True, after)

    monkeypatch.setattr(DynamoJobs, "change", hopeful)
    assert "cancelled: a asked" in found(lab, "cancel near", Kind.UNREACHED)
