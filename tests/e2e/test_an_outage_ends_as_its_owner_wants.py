"""No dispatcher for a while: then each schedule does with its missed slots what it says, exactly as `/preview` shows.

In short it lasts a little over a minute, by `make prove-planning` three.
"""

import json
import time
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest
from tests.e2e.deployed import Deployed
from tests.e2e.schedules import each_minute, eventually, seconds_ahead, slots_of
from tests.support.proving import IN_FULL

from onthedot.rules.instants import from_text, shown
from onthedot.steps.ports import World
from onthedot.steps.settle import withdraw

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("no_schedule_stays")]

OUTAGE = timedelta(seconds=186 if IN_FULL else 66)
FIRST = timedelta(seconds=3)
"""When its first slot passes; the next ones follow each minute."""
MISSED = 4 if IN_FULL else 2
READY_SECONDS = 15
JUDGED_WITHIN = timedelta(seconds=5)
"""From the judgement to its first job, on a busy machine."""
POLICIES: dict[str, dict[str, Any]] = {
    "catch-up": {"missed": "catch_up", "grace": 0},
    "latest": {"missed": "latest", "grace": 0},
    "skip": {"missed": "skip", "grace": 0},
    "skip-but-late": {"missed": "skip", "grace": 40},
}
LATE = 1
"""Of the slots that passed, so many were late by no more than 40 s."""


@dataclass(frozen=True, slots=True)
class Aftermath:
    """What became of a schedule: its jobs by slot, what was skipped, and what had been foretold.

    `passed` are the slots that the outage took.
    """

    jobs: dict[str, Any]
    skipped: list[dict[str, Any]]
    preview: dict[str, Any]
    passed: list[str]

    @property
    def runs(self) -> dict[str, str]:
        """Return when each slot runs."""
        return {slot: job["run_at"] for slot, job in self.jobs.items()}

    @property
    def late(self) -> list[str]:
        """Return the slots of the outage that run after all. Order: by when."""
        return sorted(set(self.passed) & self.jobs.keys(), key=lambda slot: str(self.jobs[slot]["run_at"]))


@pytest.fixture(scope="module")
def aftermath(stack: Deployed) -> dict[str, Aftermath]:
    """Return what the outage did to each schedule."""
    first = seconds_ahead(READY_SECONDS)
    for name, policy in POLICIES.items():
        each_minute(stack, name, first, **policy)
    with stack.world() as world:
        down_from = outage(stack, world, datetime.fromisoformat(first))
        for name in POLICIES:
            eventually(partial(is_planned, world, name))
        return {name: look(stack, world, name, down_from) for name in POLICIES}


def outage(stack: Deployed, world: World, first: datetime) -> datetime:
    """Let no dispatcher work for a while, with nothing planned ahead; return since when."""
    with stack.without("Dispatch"):
        eventually(lambda: world.depths()["shard"].in_flight == 0)
        time.sleep(max(0, (first - FIRST - world.clock.now()).total_seconds()))
        down_from = world.clock.now()
        assert down_from < first, "the outage began before the first slot"
        for name in POLICIES:
            take_back(world, name, down_from, first)
        time.sleep((down_from + OUTAGE - world.clock.now()).total_seconds())
    stack.tick()
    return down_from


def take_back(world: World, name: str, at: datetime, first: datetime) -> None:
    """Undo what was planned ahead: the outage would only begin to be felt minutes later."""
    before = world.schedules.get(name)
    assert before is not None
    after = replace(before, planned_until=at, next_at=first, stamp=world.clock.token())
    assert world.schedules.write(before, after, []) is None
    withdraw(world, after, at, lambda _: True)


def is_planned(world: World, name: str) -> bool:
    """Tell whether a dispatcher has been there again."""
    schedule = world.schedules.get(name)
    return schedule is not None and schedule.planned_until > world.clock.now()


def look(stack: Deployed, world: World, name: str, down_from: datetime) -> Aftermath:
    """Return what became of a schedule, and what the preview of this very outage says."""
    schedule, jobs = world.schedules.get(name), slots_of(stack, name)
    assert schedule is not None
    caught_up = [job["run_at"] for slot, job in jobs.items() if job["run_at"] != slot]
    written_at = min(job["created_at"] for job in jobs.values())
    judged_at = min(caught_up, default=written_at)
    took = datetime.fromisoformat(written_at) - datetime.fromisoformat(judged_at)
    assert timedelta(0) <= took < JUDGED_WITHIN, "the outage ended when its slots were judged"
    request = {key: value for key, value in schedule.fields.items() if key != "handler"} | {
        "from": shown(down_from),
        "to": shown(schedule.planned_until),
        "down": {"from": shown(down_from), "to": judged_at},
    }
    preview = stack.ask("POST", "preview", body=request)
    passed = [each["slot"] for each in preview["slots"] if each["slot"] <= judged_at]
    return Aftermath(jobs, skipped(stack, name), preview, passed)


def skipped(stack: Deployed, name: str) -> list[dict[str, Any]]:
    """Return the ranges of slots that were skipped, as a preview tells them."""
    answer = stack.dynamodb.query(
        TableName=stack.outputs["SchedulesTableName"],
        KeyConditionExpression="#name = :name AND begins_with(part, :kind)",
        ExpressionAttributeNames={"#name": "name"},
        ExpressionAttributeValues={":name": {"S": name}, ":kind": {"S": "skipped#"}},
    )
    facts = [json.loads(item["facts"]["S"]) for item in answer["Items"]]
    ends = [{end: shown(from_text(each[end])) for end in ("from", "to")} for each in facts]
    return [{**end, "count": each["count"], "reason": each["reason"]} for end, each in zip(ends, facts, strict=True)]


@pytest.mark.parametrize("name", POLICIES)
def test_what_happens_was_foretold(aftermath: dict[str, Aftermath], name: str) -> None:
    found = aftermath[name]
    print(f"\n{name}: passed {found.passed}, ran late {[found.runs[slot] for slot in found.late]}, {found.skipped}")
    assert len(found.passed) >= MISSED
    assert found.runs == {run["slot"]: run["at"] for run in found.preview["runs"]}
    assert found.skipped == found.preview["skipped"]
    assert len(found.late) + sum(part["count"] for part in found.skipped) == len(found.passed), "no silence"


def test_catch_up_runs_each_of_them_at_its_rate(aftermath: dict[str, Aftermath]) -> None:
    found = aftermath["catch-up"]
    assert found.late == found.passed, "the oldest first"
    start = datetime.fromisoformat(found.runs[found.passed[0]])
    assert [datetime.fromisoformat(found.runs[slot]) - start for slot in found.late] == [
        timedelta(seconds=number) for number in range(len(found.passed))
    ]


def test_latest_runs_the_newest_of_them(aftermath: dict[str, Aftermath]) -> None:
    assert aftermath["latest"].late == aftermath["latest"].passed[-1:]


def test_skip_runs_none_of_them(aftermath: dict[str, Aftermath]) -> None:
    assert aftermath["skip"].late == []


def test_what_is_late_within_its_grace_runs_under_skip_too(aftermath: dict[str, Aftermath]) -> None:
    assert aftermath["skip-but-late"].late == aftermath["skip-but-late"].passed[-LATE:]


def test_all_that_run_succeed(stack: Deployed, aftermath: dict[str, Aftermath]) -> None:
    for name, found in aftermath.items():
        for slot in found.late:
            job = eventually(partial(ended, stack, name, slot))
            assert (job["state"], job["attempt"]) == ("succeeded", 1)
            assert job["late_seconds"] >= 0, "late, and yet not early"


def ended(stack: Deployed, name: str, slot: str) -> Any:
    """Return the job of a slot once it has an outcome."""
    job = slots_of(stack, name)[slot]
    return job if job["state"] not in ("scheduled", "running") else None
