"""Lists of schedules, and of the jobs of one."""

from collections.abc import Mapping
from typing import Any

from onthedot.http.cursors import cursor_of
from onthedot.http.json_text import write
from onthedot.http.lists import after_cursor, asked, instant_in, what_fits
from onthedot.http.models import USUAL_PAGE
from onthedot.http.problems import Answer, Refuse
from onthedot.http.requests import Request
from onthedot.http.schedule_models import ScheduleJobsQuery, ScheduleQuery
from onthedot.http.schedule_views import schedule_view
from onthedot.http.schedules import name_of, unknown
from onthedot.http.sizes import PAGE_ROOM, escaped
from onthedot.rules.errors import Fault, Invalid
from onthedot.rules.instants import to_text
from onthedot.rules.schedules import ScheduleState
from onthedot.steps.finding import FIRST_SLOT, PAST_SLOTS, SchedulesPage, WantedSchedules, newest_jobs, schedules_page
from onthedot.steps.ports import World


def list_schedules(world: World, request: Request) -> Answer:
    """List the schedules that are asked for, in no order of names."""
    faults = list(request.faults)
    fields, filters = asked(request, ScheduleQuery, faults)
    after = after_cursor(fields, filters, faults)
    if faults:
        raise Invalid(faults)
    state = ScheduleState(fields["state"]) if "state" in fields else None
    wanted = WantedSchedules(fields.get("prefix", ""), fields.get("group"), state)
    page = schedules_page(world, wanted, after, fields.get("limit", USUAL_PAGE), PAGE_ROOM)
    views, position = _what_fits(world, page)
    return Answer(200, write(_document(views, position, filters)))


def list_schedule_jobs(world: World, request: Request) -> Answer:
    """List the jobs of a schedule's slots, the newest first."""
    name, faults = name_of(request), list(request.faults)
    fields, filters = asked(request, ScheduleJobsQuery, faults)
    start, end = (instant_in(fields, each, faults) for each in ("from", "to"))
    if start is not None and end is not None and end < start:
        faults.append(Fault("to", "is before from"))
    after = after_cursor(fields, filters, faults)
    if faults:
        raise Invalid(faults)
    if world.schedules.get(name) is None:
        raise Refuse(unknown(request))
    bounds = to_text(start) if start else FIRST_SLOT, after or (to_text(end) if end else PAST_SLOTS)
    page = newest_jobs(world, f"schedule#{name}", bounds, fields.get("limit", USUAL_PAGE))
    shown, position = what_fits(world, page)
    return Answer(200, write(_document([view for _, view in shown], position, filters)))


def _document(items: list[dict[str, Any]], position: str | None, filters: Mapping[str, str]) -> dict[str, Any]:
    cursor = {} if position is None else {"next_cursor": cursor_of(position, filters)}
    return {"items": items, **cursor}


def _what_fits(world: World, page: SchedulesPage) -> tuple[list[dict[str, Any]], str | None]:
    """Return as many schedules as one answer can carry, at least one, and where the next page starts."""
    texts, now = world.payloads.texts([schedule.placed for _, schedule in page.found]), world.clock.now()
    shown, room, reached = list[dict[str, Any]](), PAGE_ROOM, ""
    for (position, schedule), text in zip(page.found, texts, strict=True):
        view = schedule_view(schedule, text, now)
        room -= escaped(view)
        if room < 0 and shown:
            return shown, reached
        shown.append(view)
        reached = position
    return shown, page.next
