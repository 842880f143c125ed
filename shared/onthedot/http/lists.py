"""Lists: a page of jobs, and the cursor of the next one."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import BaseModel

from onthedot.http.cursors import cursor_of, position_of
from onthedot.http.json_text import write
from onthedot.http.models import USUAL_PAGE, ListQuery
from onthedot.http.problems import Answer
from onthedot.http.requests import Request
from onthedot.http.shapes import check, fields_of
from onthedot.http.sizes import PAGE_ROOM, escaped
from onthedot.http.views import job_view
from onthedot.rules.errors import Fault, Invalid, Kind
from onthedot.rules.inputs import Malformed, Place, Time, resolve
from onthedot.rules.jobs import State
from onthedot.steps.listing import Found, Page, Wanted, page_of
from onthedot.steps.ports import World


def list_jobs(world: World, request: Request) -> Answer:
    """List the jobs that are asked for, in the order of their time within the page."""
    faults = list(request.faults)
    fields, filters = asked(request, ListQuery, faults)
    wanted = _wanted(fields, faults)
    after = after_cursor(fields, filters, faults)
    if faults:
        raise Invalid(faults)
    page = page_of(world, wanted, after, fields.get("limit", USUAL_PAGE), PAGE_ROOM)
    return Answer(200, write(_document(world, page, filters)))


def asked(request: Request, model: type[BaseModel], faults: list[Fault]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return what a query asks for, and of which list by which filters: a cursor is good for these only."""
    query = {name: values[0] for name, values in request.query.items() if name in fields_of(model)}
    filters = {name: value for name, value in query.items() if name not in {"limit", "cursor"}}
    filters |= {"list": model.__name__, **request.path}
    return check(model, query, "", faults), filters


def after_cursor(fields: Mapping[str, Any], filters: Mapping[str, str], faults: list[Fault]) -> str:
    """Return the position after which a page starts."""
    after = position_of(fields["cursor"], filters) if "cursor" in fields else ""
    if after is None:
        faults.append(Fault("cursor", "is not the next_cursor of a page with these filters", Kind.MALFORMED))
    return after or ""


def _wanted(fields: Mapping[str, Any], faults: list[Fault]) -> Wanted:
    due_from, due_to = (instant_in(fields, name, faults) for name in ("due_from", "due_to"))
    if due_from is not None and due_to is not None and due_to < due_from:
        faults.append(Fault("due_to", "is before due_from"))
    wanted = Wanted(
        group=fields.get("group"),
        schedule=fields.get("schedule"),
        handler=fields.get("handler"),
        state=State(fields["state"]) if "state" in fields else None,
        due_from=due_from,
        due_to=due_to,
    )
    if not wanted.listable:
        message = "can be listed with group or schedule only; by themselves: scheduled, running and dead"
        faults.append(Fault("state", message))
    return wanted


def instant_in(fields: Mapping[str, Any], name: str, faults: list[Fault]) -> datetime | None:
    """Return the instant of a time in a query, if it is given and right."""
    time: Time | None = fields.get(name)
    try:
        return None if time is None else resolve(time, Place())
    except Malformed:
        faults.append(Fault(name, "has no offset; add one (Z is UTC, and a plus is written %2B)", Kind.MALFORMED))
    return None


def _document(world: World, page: Page, filters: Mapping[str, str]) -> dict[str, Any]:
    shown, position = what_fits(world, page)
    ordered = sorted(shown, key=lambda pair: (pair[0].job.run_at, pair[0].job.id))
    document: dict[str, Any] = {"items": [view for _, view in ordered]}
    if position is not None:
        document["next_cursor"] = cursor_of(position, filters)
    return document


def what_fits(world: World, page: Page) -> tuple[list[tuple[Found, dict[str, Any]]], str | None]:
    """Return as many jobs as one answer can carry, at least one, and where the next page starts."""
    texts = world.payloads.texts([found.job.placed for found in page.found])
    shown, room = list[tuple[Found, dict[str, Any]]](), PAGE_ROOM
    for found, text in zip(page.found, texts, strict=True):
        view = job_view(found.job, text)
        room -= escaped(view)
        if room < 0 and shown:
            return shown, shown[-1][0].position
        shown.append((found, view))
    return shown, page.next
