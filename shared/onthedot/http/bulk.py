"""The calls on many jobs at once: retry the dead, cancel a group."""

from datetime import datetime, timedelta

from onthedot.http.bulk_models import DeadRetryRequest, GroupQuery
from onthedot.http.flags import DryRunQuery
from onthedot.http.json_text import write
from onthedot.http.lists import asked
from onthedot.http.problems import Answer
from onthedot.http.requests import Request
from onthedot.http.shapes import check
from onthedot.rules.definitions import FASTEST
from onthedot.rules.errors import Invalid
from onthedot.rules.inputs import Place, Time, resolve
from onthedot.rules.missed import MissedRule
from onthedot.rules.said import Said
from onthedot.steps.bulk import Bulk
from onthedot.steps.groups import cancel_group, cancellable
from onthedot.steps.ports import World
from onthedot.steps.revive import Dead, revivable, revive_dead


def retry_dead(world: World, request: Request) -> Answer:
    """Send dead jobs again, the oldest death first; at most 500 in a call."""
    faults = list(request.faults)
    said = Said(check(DeadRetryRequest, request.json_if_any(), "", faults), faults)
    query, _ = asked(request, DryRunQuery, faults)
    before, rate = instant_said(said, "before"), said.number("rate", 1, FASTEST)
    if faults:
        raise Invalid(faults)
    step = MissedRule(rate=rate).step if rate else timedelta(0)
    wanted = Dead(said.fields.get("handler"), before, step)
    return bulk_answer(revivable(world, wanted) if query.get("dry_run") else revive_dead(world, wanted))


def cancel_jobs(world: World, request: Request) -> Answer:
    """Take back the scheduled jobs of a group; at most 500 in a call."""
    faults = list(request.faults)
    query, _ = asked(request, GroupQuery, faults)
    if faults:
        raise Invalid(faults)
    group = query["group"]
    return bulk_answer(cancellable(world, group) if query.get("dry_run") else cancel_group(world, group))


def instant_said(said: Said, name: str) -> datetime | None:
    """Return the instant of a time in a body, if it is given and right."""
    time: Time | None = said.fields.get(name)
    return None if time is None else said.judged(name, lambda: resolve(time, Place()))


def bulk_answer(done: Bulk) -> Answer:
    """Answer how many were done, and whether there are more."""
    return Answer(200, write({"count": done.count, "more": done.more}))
