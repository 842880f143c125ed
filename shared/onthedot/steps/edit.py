"""Edit: create, replace and delete schedules, each by one conditional write after the schedule is settled.

An edit begins a new version at `since`. Slots until then are the former version's; what it planned beyond is taken back
and planned anew. A timing edit begins the timetable there; any other leaves it where it was.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from onthedot.rules.definitions import TIMING, Definition, with_defaults
from onthedot.rules.errors import Unavailable
from onthedot.rules.events import Event
from onthedot.rules.history import LEFT_BEHIND, Record, of_left_behind, of_version
from onthedot.rules.instants import up_to_second
from onthedot.rules.jobs import Job, Payload
from onthedot.rules.missed import Planned
from onthedot.rules.planning import job_of
from onthedot.rules.schedules import Schedule, ScheduleState, coming, with_next
from onthedot.rules.slots import Slot, next_slots
from onthedot.rules.zones import database_version
from onthedot.steps.payloads import SLACK, place_for_all
from onthedot.steps.ports import World
from onthedot.steps.settle import TRIES, deadline, plan_at_once, settle, withdraw

NO_PAYLOAD = "null"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a schedule shall be: its fields as they were written, its payload as JSON text, and what they mean.

    `canonical` is one text for all payloads that mean the same. Without a payload, the one that is there stays.
    """

    fields: Mapping[str, Any]
    payload: str | None
    canonical: str | None
    definition: Definition


@dataclass(frozen=True, slots=True)
class Saved:
    """The schedule as it is stored now, and whether it is new."""

    schedule: Schedule
    created: bool


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Nothing was changed: the schedule is not the version that the caller had seen; it may be gone."""

    schedule: Schedule | None


Make = Callable[[Schedule | None, datetime], Wanted | None]
"""Says what a schedule shall be, from what it is and the time; `None` when there is nothing to change."""


def save(world: World, name: str, make: Make, by: str, seen: int | None) -> Saved | Mismatch | None:
    """Create or replace a schedule; `None` when `make` has nothing to change. What changes nothing is no edit.

    `seen` is the version that must be there.
    """
    give_up_at = deadline(world)
    for _ in range(TRIES):
        now = world.clock.now()
        before = world.schedules.get(name)
        wanted = make(before, now)
        if wanted is None:
            return None
        if seen is not None and (before is None or before.version != seen):
            return Mismatch(before)
        if before is not None and _is_same(before, wanted):
            return Saved(before, created=False)
        saved = _save(world, name, before, wanted, by, give_up_at)
        if saved is not None:
            return saved
    raise Unavailable(f"{name} changes faster than its edit can be decided; try again")


def _save(
    world: World, name: str, before: Schedule | None, wanted: Wanted, by: str, give_up_at: datetime
) -> Saved | None:
    """Write what is wanted; `None` when another has changed the schedule meanwhile."""
    if before is None or not before.readable:
        after, records = _created(world, name, before, wanted, by), list[Record]()
    else:
        settled = settle(world, before, give_up_at)
        if settled is None:
            return None
        before, at = settled.schedule, settled.at
        after, records = _edited(world, before, wanted, by, at), _left(world, before, wanted, at)
    after = _with_payload(world, before, after, wanted)
    if world.schedules.write(before, after, records) is not None:
        return None
    world.journal.schedule(Event.SCHEDULE_EDITED if before else Event.SCHEDULE_CREATED, name)
    if before is not None:
        withdraw(world, after, after.since, lambda job: _is_former(job, after))
        forget_payload(world, before, after)
    return Saved(plan_at_once(world, after, give_up_at), created=before is None)


def _left(world: World, before: Schedule, wanted: Wanted, at: datetime) -> list[Record]:
    """Return what is kept of the version that an edit ends."""
    kept_until = at + world.timing.retention
    records = [of_version(before, at, kept_until)]
    if _restarts(before, wanted) and (before.paused or before.state is ScheduleState.BROKEN):
        records.append(of_left_behind(before, LEFT_BEHIND, at, kept_until))
    return records


def _restarts(before: Schedule, wanted: Wanted) -> bool:
    """Tell whether an edit begins the timetable anew."""
    was, will = with_defaults(before.fields), with_defaults(wanted.fields)
    return any(was.get(name) != will.get(name) for name in TIMING)


def _is_former(job: Job, schedule: Schedule) -> bool:
    """Tell whether a job is of an older version of this very schedule, and not of one that came later."""
    return job.generation == schedule.generation and (job.version or 0) < schedule.version


def _is_same(schedule: Schedule, wanted: Wanted) -> bool:
    if schedule.state is ScheduleState.BROKEN:
        return False
    same = with_defaults(schedule.fields) == with_defaults(wanted.fields)
    return same and schedule.payload_hash == _hash(wanted, schedule)


def _created(world: World, name: str, broken: Schedule | None, wanted: Wanted, by: str) -> Schedule:
    """Return a new schedule, also in the place of one that cannot be read.

    Its versions go on from those of a deleted one that is remembered: who has seen that one's has not seen this one.
    """
    now = world.clock.now()
    last = max(broken.version if broken else 0, world.schedules.last_version(name))
    fresh = Schedule(
        name=name,
        generation=world.clock.token(),
        version=last + 1,
        state=ScheduleState.ACTIVE,
        fields=wanted.fields,
        payload=Payload(0),
        payload_hash=_hash(wanted, None),
        since=now,
        planned_until=now,
        created_at=now,
        changed_at=now,
        changed_by=by,
        stamp=world.clock.token(),
        tzdata=database_version(),
    )
    return _with_next(fresh, wanted.definition)


def _edited(world: World, before: Schedule, wanted: Wanted, by: str, at: datetime) -> Schedule:
    after = replace(
        before,
        version=before.version + 1,
        state=ScheduleState.PAUSED if before.paused else ScheduleState.ACTIVE,
        fields=wanted.fields,
        payload_hash=_hash(wanted, before),
        since=at,
        planned_until=at if _restarts(before, wanted) else min(before.planned_until, at),
        changed_at=at,
        changed_by=by,
        stamp=world.clock.token(),
        broken=None,
        tzdata=database_version(),
    )
    return _with_next(after, wanted.definition)


def _with_next(schedule: Schedule, definition: Definition) -> Schedule:
    """Return the schedule in its place on the index of what is due; it has ended when nothing will be."""
    if schedule.paused is not None:
        return replace(schedule, next_at=schedule.paused.until, next_local=None)
    following = next_slots(definition.timetable, schedule.planned_until, 1)
    return with_next(schedule, coming(following[0]) if following else None)


def _hash(wanted: Wanted, before: Schedule | None) -> str:
    """Return what tells the payload that is wanted from others."""
    if wanted.payload is None and before is not None:
        return before.payload_hash
    return sha256((wanted.canonical or NO_PAYLOAD).encode()).hexdigest()[:32]


def _with_payload(world: World, before: Schedule | None, after: Schedule, wanted: Wanted) -> Schedule:
    """Return the schedule with its payload placed; what has not changed stays where it is, for all versions' jobs."""
    if before is not None and before.payload_hash == after.payload_hash:
        return replace(after, payload=before.payload)
    some_slot = Planned(Slot(after.since, timedelta(hours=1), fold=1), after.since)
    some_job = job_of(after, wanted.definition, some_slot, after.since)
    return replace(after, payload=place_for_all(world, some_job, wanted.payload or NO_PAYLOAD))


def forget_payload(world: World, former: Schedule, current: Schedule | None = None) -> None:
    """Let a payload expire once no job planned with it can need it; if that fails it stays, and costs a little."""
    name = former.payload.stored_as
    if name is None or (current is not None and current.payload.stored_as == name):
        return
    try:
        world.payloads.expire(former.key, name, up_to_second(world.clock.now() + world.timing.retention + SLACK))
    except Unavailable:
        return
