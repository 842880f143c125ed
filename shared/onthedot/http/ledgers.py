"""The ledger of a schedule: what became of every slot that it should have had."""

from datetime import datetime
from typing import Any

from onthedot.http.cursors import cursor_of
from onthedot.http.json_text import write
from onthedot.http.lists import after_cursor, asked, instant_in
from onthedot.http.models import USUAL_PAGE
from onthedot.http.problems import Answer, Refuse
from onthedot.http.requests import Request
from onthedot.http.schedule_models import LedgerQuery
from onthedot.http.schedule_views import current_view, version_view
from onthedot.http.schedules import name_of, unknown
from onthedot.rules.errors import Fault, Invalid
from onthedot.rules.history import VERSION
from onthedot.rules.instants import MILLISECOND, from_text, shown, to_text
from onthedot.rules.ledger import Row
from onthedot.rules.planning import PLAN_AHEAD
from onthedot.steps.ledger import ledger_page
from onthedot.steps.ports import World


def show_ledger(world: World, request: Request) -> Answer:
    """Show what became of every slot that a schedule should have had, back to the retention time. Order: by slot."""
    name, faults, now = name_of(request), list(request.faults), world.clock.now()
    fields, filters = asked(request, LedgerQuery, faults)
    start, end = (instant_in(fields, each, faults) for each in ("from", "to"))
    if start is not None and end is not None and end < start:
        faults.append(Fault("to", "is before from"))
    position = after_cursor(fields, filters, faults)
    if faults:
        raise Invalid(faults)
    after, until = _bounds(start, end, now, now - world.timing.retention + PLAN_AHEAD)
    after = max(after, from_text(position)) if position else after
    page = ledger_page(world, name, after, until, fields.get("limit", USUAL_PAGE))
    if page is None:
        raise Refuse(unknown(request))
    cursor = {"next_cursor": cursor_of(to_text(page.next), filters)} if page.next else {}
    return Answer(200, write({"items": [_row(row) for row in page.rows], **cursor}))


def _bounds(start: datetime | None, end: datetime | None, now: datetime, oldest: datetime) -> tuple[datetime, datetime]:
    """Return after and until which instant slots are shown: none to come, none that is forgotten already.

    A job may end before its slot, as far ahead as it is planned, and is forgotten so much sooner.
    """
    after = oldest if start is None else max(start, oldest + MILLISECOND) - MILLISECOND
    return after, now if end is None else min(max(end, oldest) - MILLISECOND, now)


def _row(row: Row) -> dict[str, Any]:
    outcome = {"kind": row.kind, **({"reason": row.reason} if row.reason else {})}
    if row.count > 1:
        return {"from": shown(row.first), "to": shown(row.last), "count": row.count, "outcome": outcome}
    job = {"job": row.job.id} if row.job else {}
    return {"slot": shown(row.first), "local_slot": row.local, "outcome": outcome, **job}


def list_versions(world: World, request: Request) -> Answer:
    """List what is kept of a schedule's versions, the newest first, who wrote each, and when it was in force."""
    name = name_of(request)
    schedule, records = world.schedules.get(name), world.schedules.history(name)
    former = [record for record in records if record.part.startswith(f"{VERSION}#")]
    if schedule is None and not former:
        raise Refuse(unknown(request))
    ended = {(record.facts["generation"], record.facts["version"]) for record in former}
    items = [current_view(schedule)] if schedule and (schedule.generation, schedule.version) not in ended else []
    return Answer(200, write({"items": items + [version_view(record) for record in reversed(former)]}))
