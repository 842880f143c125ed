"""The calls on one schedule: create or replace, change, show, delete."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from onthedot.http.jobs_in import payload_text
from onthedot.http.json_text import canonical, plain, write
from onthedot.http.problems import Answer, Problem, Refuse
from onthedot.http.requests import Request
from onthedot.http.schedule_models import ScheduleRequest
from onthedot.http.schedule_views import schedule_view
from onthedot.http.shapes import check
from onthedot.rules.definitions import define, edited
from onthedot.rules.errors import Fault, Invalid, Kind
from onthedot.rules.instants import shown
from onthedot.rules.jobs import NAME
from onthedot.rules.limits import judge_limits
from onthedot.rules.said import Said
from onthedot.rules.schedules import Schedule
from onthedot.steps.delete import remove
from onthedot.steps.edit import Mismatch, Saved, Wanted, save
from onthedot.steps.ports import World

IF_MATCH = "If-Match"
SAME = object()
"""Stands for the payload that is there already."""
VERSION = re.compile(r'(?:W/)?"?(?P<version>[0-9]{1,15})"?')


@dataclass(frozen=True, slots=True)
class Written:
    """A schedule as somebody wrote it, and its payload, if it has another."""

    name: str
    raw: Mapping[str, Any]
    payload: Any


def put_schedule(world: World, request: Request) -> Answer:
    """Create a schedule, or replace one."""
    raw, known = request.json(), list(request.faults)
    name, seen = _new_name(request, known), _seen(request, known)

    def make(before: Schedule | None, now: datetime) -> Wanted:
        born_at = before.created_at if before and before.readable else now
        return _wanted(world, Written(name, raw, raw.get("payload")), born_at, now, known)

    if known:
        make(None, world.clock.now())  # no table is asked for a name that none can have
    return _answer(world, request, save(world, name, make, request.caller, seen))


def patch_schedule(world: World, request: Request) -> Answer:
    """Change some fields of a schedule; null takes a field back to its default."""
    name, raw, known = name_of(request), request.json(), list(request.faults)
    seen = _seen(request, known)

    def make(before: Schedule | None, now: datetime) -> Wanted | None:
        if before is None:
            return None
        if not before.readable:
            raise Refuse(Problem(409, f"the schedule must be written whole, with PUT: {before.broken}"))
        payload = raw.get("payload") if "payload" in raw else SAME
        return _wanted(world, Written(name, edited(before.fields, raw), payload), before.created_at, now, known)

    return _answer(world, request, save(world, name, make, request.caller, seen))


def show_schedule(world: World, request: Request) -> Answer:
    """Show a schedule as it is now."""
    schedule = world.schedules.get(name_of(request))
    if schedule is None:
        raise Refuse(unknown(request))
    return shown_schedule(world, 200, schedule)


def delete_schedule(world: World, request: Request) -> Answer:
    """Delete a schedule with its planned jobs; a running one finishes, and is not tried again."""
    faults = list(request.faults)
    seen = _seen(request, faults)
    if faults:
        raise Invalid(faults)
    return _answer(world, request, remove(world, name_of(request), seen))


def name_of(request: Request) -> str:
    """Return the name in the path.

    Raises: Refuse when no schedule can have it.
    """
    name = request.path["name"]
    if not re.fullmatch(NAME, name):
        raise Refuse(unknown(request))
    return name


def unknown(request: Request) -> Problem:
    """Return the problem of a schedule that is not there."""
    return Problem(404, f"there is no schedule {request.path['name'][:100]}")


def shown_schedule(world: World, status: int, schedule: Schedule) -> Answer:
    """Return the answer that shows a schedule; its version is its entity tag."""
    [payload] = world.payloads.texts([schedule.placed])
    text = write(schedule_view(schedule, payload, world.clock.now()))
    return Answer(status, text, headers={"ETag": f'"{schedule.version}"'})


def _new_name(request: Request, faults: list[Fault]) -> str:
    name = request.path["name"]
    if not re.fullmatch(NAME, name):
        message = "must be 1 to 64 letters, digits, dots, underscores or hyphens, the first of them a letter or digit"
        faults.append(Fault("name", message, Kind.MALFORMED))
    return name


def _seen(request: Request, faults: list[Fault]) -> int | None:
    """Return the version that the caller has seen, if the change shall depend on it."""
    text = request.header(IF_MATCH)
    if text is None:
        return None
    found = VERSION.fullmatch(text.strip())
    if found is None:
        faults.append(Fault(IF_MATCH, "must be the version of the schedule, such as 3", Kind.MALFORMED))
        return None
    return int(found["version"])


def _wanted(world: World, written: Written, born_at: datetime, now: datetime, known: Sequence[Fault]) -> Wanted:
    """Return what a schedule shall be.

    Raises: Invalid, with everything that is wrong, also what was `known` before.
    """
    faults, raw = list(known), {name: plain(value) for name, value in written.raw.items() if name != "payload"}
    fields = check(ScheduleRequest, raw, "", faults)
    payload = None if written.payload is SAME else payload_text({"payload": written.payload}, "", faults)
    judge_limits(Said(fields, faults), world.timing.max_timeout, now)
    definition = define(written.name, fields, born_at, faults, now)
    if faults or definition is None:
        raise Invalid(faults)
    return Wanted(raw, payload, None if payload is None else canonical(written.payload), definition)


def _answer(world: World, request: Request, result: Saved | Schedule | Mismatch | None) -> Answer:
    match result:
        case Saved(schedule, created):
            return shown_schedule(world, 201 if created else 200, schedule)
        case Schedule() as schedule:
            return shown_schedule(world, 200, schedule)
        case Mismatch(there):
            raise Refuse(_mismatch(there))
        case None:
            raise Refuse(unknown(request))


def _mismatch(there: Schedule | None) -> Problem:
    if there is None:
        return Problem(412, "there is no such schedule, so it is not the version that was seen")
    now = f"version {there.version} now, changed by {there.changed_by} at {shown(there.changed_at)}"
    return Problem(412, f"the schedule is {now}")
