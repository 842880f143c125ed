"""Ten planners, each a process of its own, race for one schedule: each slot has one job, each job one message."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from tests.e2e.deployed import Deployed
from tests.e2e.racing import planners, race
from tests.e2e.schedules import behind
from tests.support.aside import all_items, beside, received, wired
from tests.support.schedules import put

from onthedot.rules.instants import from_text, to_text
from onthedot.rules.jobs import Job
from onthedot.rules.planning import PLAN_AHEAD
from onthedot.rules.schedules import Schedule
from onthedot.steps.ports import World

pytestmark = pytest.mark.e2e

PLANNERS, MISSED = 10, 200
PAYLOADS = {1: "null", 2: "2", 3: "3", 4: "4"}
"""Of each version; the first edit changes nothing, and is none."""
CAUGHT_UP_SECONDS = 3
"""What is caught up is due by then, at its rate of one in 10 ms."""
MINUTE = timedelta(minutes=1)


@pytest.fixture(scope="module")
def environment(stack: Deployed) -> Iterator[dict[str, str]]:
    """Return where the planners are alone: no dispatcher helps, and no worker takes a message."""
    with beside(stack.endpoint) as environment:
        yield environment


@pytest.fixture(scope="module")
def pool(environment: dict[str, str]) -> Iterator[ProcessPoolExecutor]:
    """Return the planners."""
    with planners(PLANNERS, environment) as pool:
        yield pool


@pytest.fixture
def world(environment: dict[str, str]) -> Iterator[World]:
    """Return the steps' world among the planners."""
    with wired(environment) as world:
        yield world


def start(pool: ProcessPoolExecutor, name: str, seconds: float = 0) -> list[Future[None]]:
    """Let all planners go."""
    return [pool.submit(race, name, seconds) for _ in range(PLANNERS)]


def wait(races: list[Future[None]]) -> None:
    """Wait until no planner finds anything to do."""
    for each in races:
        each.result()


def jobs_of(world: World, name: str) -> dict[str, Job]:
    """Return the jobs of a schedule by their slots."""
    return {job.slot: job for job in world.indexes.of_schedule(f"schedule#{name}", "0", 10_000)}


def expected(schedule: Schedule, before: Schedule) -> list[str]:
    """Return the slots that a schedule has had since it was behind, as far as it is planned."""
    first = before.next_at
    assert first is not None
    count = (schedule.planned_until - first) // MINUTE + 1
    return [to_text(first + number * MINUTE) for number in range(count)]


def current(world: World, name: str) -> Schedule:
    """Return the schedule as it is now."""
    schedule = world.schedules.get(name)
    assert schedule is not None
    return schedule


def history(stack: Deployed, environment: dict[str, str], name: str) -> list[dict[str, Any]]:
    """Return what is kept of a schedule's past."""
    items = all_items(stack.dynamodb, environment["ONTHEDOT_SCHEDULES_TABLE"])
    return [item for item in items if item["name"]["S"] == name and item["part"]["S"] != "schedule"]


def former_versions(history: list[dict[str, Any]]) -> list[tuple[str, int]]:
    """Return the former versions of a schedule: until when, and which."""
    facts = [json.loads(item["facts"]["S"]) for item in history if item["part"]["S"].startswith("version#")]
    return sorted((each["until"], each["version"]) for each in facts)


def test_each_slot_has_one_job_and_each_job_one_message(
    stack: Deployed, environment: dict[str, str], pool: ProcessPoolExecutor, world: World
) -> None:
    before, now = behind(world, "raced", MISSED)
    wait(start(pool, "raced"))

    after, jobs = current(world, "raced"), jobs_of(world, "raced")
    assert list(jobs) == expected(after, before)
    assert len([slot for slot in jobs if slot <= to_text(now)]) == MISSED
    assert now + PLAN_AHEAD <= after.planned_until <= world.clock.now() + PLAN_AHEAD
    assert after.next_at == from_text(list(jobs)[-1]) + MINUTE
    assert history(stack, environment, "raced") == [], "nothing was skipped"
    assert received(world, "raced", CAUGHT_UP_SECONDS) == list(jobs)[:MISSED]
    assert world.depths()["job"].delayed == len(jobs) - MISSED, "what is planned ahead is on its way, once"
    caught_up = [job.run_at for slot, job in jobs.items() if slot <= to_text(now)]
    assert all(later > former for former, later in pairwise(caught_up)), "at its rate, through all chunks"


def test_an_edit_that_races_with_them_falls_between_two_slots(
    stack: Deployed, environment: dict[str, str], pool: ProcessPoolExecutor, world: World
) -> None:
    """Each slot is of the version that was there at its time, however often the schedule is edited meanwhile."""
    before, _ = behind(world, "edited", MISSED)
    races = start(pool, "edited", seconds=4)
    while current(world, "edited").planned_until == before.planned_until:
        time.sleep(0.01)
    rule = {name: value for name, value in before.fields.items() if name != "handler"}
    for payload in PAYLOADS.values():
        put("edited", payload, world=world, handler="test.record", **rule)
    wait(races)

    after, jobs = current(world, "edited"), jobs_of(world, "edited")
    assert list(jobs) == expected(after, before)
    former = former_versions(history(stack, environment, "edited"))
    assert [version for _, version in former] == list(PAYLOADS)[:-1]
    for slot, job in jobs.items():
        version = next((version for until, version in former if slot <= until), after.version)
        assert (job.version, job.payload.text) == (version, PAYLOADS[version]), slot
    assert received(world, "edited", CAUGHT_UP_SECONDS) == list(jobs)[:MISSED]
