"""Makes schedules as the API does, and looks at what became of their slots."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest
from moto.dynamodb.models import dynamodb_backends
from moto.dynamodb.models.dynamo_type import DynamoType
from tests.support.handlers import RAN
from tests.support.lab import ACCOUNT, REGION, Lab

from onthedot import wiring
from onthedot.adapters.items import job_of
from onthedot.rules.agenda import shard_of
from onthedot.rules.definitions import Definition, define, read_stored
from onthedot.rules.errors import Fault
from onthedot.rules.events import Event
from onthedot.rules.instants import from_text, shown
from onthedot.rules.jobs import Job
from onthedot.rules.planning import PLAN_AHEAD
from onthedot.rules.schedules import OnResume, Pause, Schedule
from onthedot.steps import edit, pause
from onthedot.steps.delete import remove
from onthedot.steps.plan import plan
from onthedot.steps.ports import World
from onthedot.steps.put import hand_over
from onthedot.telemetry import Telemetry

EVERY_MINUTE: dict[str, Any] = {"cron": "* * * * *"}


def definition(name: str, fields: Mapping[str, Any], born_at: datetime) -> Definition:
    """Return what a schedule means that is written so."""
    faults: list[Fault] = []
    found = define(name, read_stored(fields), born_at, faults)
    assert found is not None, faults
    return found


def wanted(name: str, born_at: datetime, payload: str = "null", **fields: Any) -> edit.Wanted:
    """Return what a request asks for: each minute, with a handler that takes notes, unless it says otherwise."""
    timed = {"cron", "every", "rrule"} & fields.keys()
    whole = {"handler": "test.record"} | (fields if timed else EVERY_MINUTE | fields)
    return edit.Wanted(whole, payload, payload, definition(name, whole, born_at))


def put(name: str, payload: str = "null", *, world: World | None = None, seen: int | None = None, **fields: Any) -> Any:
    """Create or replace a schedule as the API does, and return it."""

    def make(before: Schedule | None, now: datetime) -> edit.Wanted:
        return wanted(name, before.created_at if before and before.generation else now, payload, **fields)

    saved = edit.save(world or wiring.world(), name, make, "tester", seen)
    return saved.schedule if isinstance(saved, edit.Saved) else saved


def delete(name: str, world: World | None = None) -> Any:
    """Delete a schedule as the API does."""
    return remove(world or wiring.world(), name, None)


def hold(
    name: str,
    *,
    world: World | None = None,
    until: datetime | None = None,
    on_resume: OnResume = OnResume.SKIP,
) -> Any:
    """Pause a schedule as the API does."""
    world = world or wiring.world()
    return pause.pause(world, name, Pause(world.clock.now(), until, None, "tester", on_resume))


def resume(name: str, world: World | None = None) -> Any:
    """Resume a schedule as the API does."""
    return pause.resume(world or wiring.world(), name)


def row(name: str) -> Schedule:
    """Return a schedule as it is now."""
    found = wiring.world().schedules.get(name)
    assert found is not None, f"{name} is gone"
    return found


def look(schedule: Schedule, world: World | None = None) -> list[Job]:
    """Plan a schedule as it was read, as one dispatcher does, and return the jobs that it made."""
    world, before = world or wiring.world(), {(job.slot, job.owner) for job in _jobs(schedule.name)}
    hand_over(world, plan(world, schedule, world.clock.now() + PLAN_AHEAD, lambda: True).jobs)
    return [job for job in _jobs(schedule.name) if (job.slot, job.owner) not in before]


def slots_of(name: str) -> dict[str, Job]:
    """Return the jobs of a schedule's slots by their slot as people write it. Order: by slot."""
    return {shown(from_text(job.slot)): job for job in _jobs(name)}


def _jobs(name: str) -> list[Job]:
    """Return the jobs of a schedule's slots, without a call that a story would count.

    Other threads may write meanwhile; the copy into a list is one step for them.
    """
    table = dynamodb_backends[ACCOUNT][REGION].tables["JobsTable"]
    items = list(table.items.get(DynamoType({"S": f"schedule#{name}"}), {}).values())
    found = [item.to_json()["Attributes"] for item in items]
    return sorted((job_of(item) for item in found if item["slot"]["S"][0].isdigit()), key=lambda job: job.slot)


def ran_slots(name: str) -> list[str]:
    """Return the slots of a schedule whose jobs ran, in the order of their runs."""
    return [call.id.partition("@")[2] for call in RAN if call.id.startswith(f"{name}@")]


def history(lab: Lab, name: str, kind: str) -> list[dict[str, Any]]:
    """Return what is kept of a schedule's past. Order: by time."""
    items = [item for item in lab.items("SchedulesTable") if item["name"]["S"] == name]
    parts = sorted((item["part"]["S"], item["facts"]["S"]) for item in items if item["part"]["S"] != "schedule")
    return [json.loads(facts) for part, facts in parts if part.startswith(f"{kind}#")]


def skipped(lab: Lab, name: str) -> list[tuple[str, str, int, str]]:
    """Return the ranges of slots that were skipped: from, to, how many, and why."""
    return [
        (shown(from_text(one["from"])), shown(from_text(one["to"])), one["count"], one["reason"])
        for one in history(lab, name, "skipped")
    ]


def sent(lab: Lab, name: str) -> list[str]:
    """Return the slots of a schedule for which messages are in the queue, each as often as it is there."""
    bodies = [json.loads(message.body) for message in lab.messages()]
    return sorted(body["slot"] for body in bodies if body["schedule"] == f"schedule#{name}")


def change(lab: Lab, name: str, **attributes: Any) -> None:
    """Write into a schedule's row what no code of ours would; `None` takes an attribute away."""
    [item] = [item for item in lab.items("SchedulesTable") if item["name"]["S"] == name and "state" in item]
    item |= {key: value for key, value in attributes.items() if value is not None}
    left = {key: value for key, value in item.items() if attributes.get(key, "") is not None}
    lab.dynamodb.put_item(TableName=lab.tables["SchedulesTable"], Item=left)


def lose(lab: Lab, name: str) -> str:
    """Lose the oldest job of a schedule, as no code of ours can, and return its slot."""
    lab.loses_slots = True
    oldest = _jobs(name)[0]
    key = {"schedule": {"S": oldest.schedule}, "slot": {"S": oldest.slot}}
    lab.dynamodb.delete_item(TableName=lab.tables["JobsTable"], Key=key)
    return shown(from_text(oldest.slot))


def same_shard(shard: int, count: int, shards: int = 2) -> list[str]:
    """Return so many names whose schedules are all in one shard."""
    names = (f"s{number:04}" for number in range(100_000))
    mine = (name for name in names if shard_of(f"schedule#{name}", shards) == str(shard))
    return [next(mine) for _ in range(count)]


def told(patch: pytest.MonkeyPatch) -> list[tuple[Event, str, int, str | None]]:
    """Return what is told of schedules from now on: of which, how many, and why."""
    notes: list[tuple[Event, str, int, str | None]] = []
    tell = Telemetry.schedule

    def noted(journal: Telemetry, event: Event, name: str, count: int = 1, reason: str | None = None) -> None:
        notes.append((event, name, count, reason))
        tell(journal, event, name, count, reason)

    patch.setattr(Telemetry, "schedule", noted)
    return notes


def minutes(start: datetime, count: int) -> list[str]:
    """Return so many minutes as slots are written, from one on."""
    return [shown(start + number * timedelta(minutes=1)) for number in range(count)]
