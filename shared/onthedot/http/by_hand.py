"""The calls that make jobs of a schedule by hand: trigger, and backfill."""

from onthedot.http.bulk import bulk_answer, instant_said
from onthedot.http.flags import DryRunQuery
from onthedot.http.jobs import taken
from onthedot.http.jobs_in import payload_text
from onthedot.http.json_text import canonical, write
from onthedot.http.lists import asked
from onthedot.http.pauses import impossible
from onthedot.http.problems import Answer, Refuse
from onthedot.http.requests import Request
from onthedot.http.schedule_models import BackfillRequest, TriggerRequest
from onthedot.http.schedules import name_of, unknown
from onthedot.http.shapes import check
from onthedot.http.views import job_view
from onthedot.rules.definitions import FASTEST
from onthedot.rules.errors import Invalid
from onthedot.rules.jobs import Job
from onthedot.rules.missed import MissedRule
from onthedot.rules.said import Said
from onthedot.steps.backfill import Window, backfill, fillable
from onthedot.steps.bulk import Bulk
from onthedot.steps.manage import Created, Exists
from onthedot.steps.ports import World
from onthedot.steps.readable import Impossible
from onthedot.steps.trigger import Wish, trigger


def trigger_schedule(world: World, request: Request) -> Answer:
    """Run a job of a schedule now; the timetable is untouched. Safe to repeat with an id."""
    name, raw, faults = name_of(request), request.json_if_any(), list(request.faults)
    fields = check(TriggerRequest, raw, "", faults)
    payload = payload_text(fields, "", faults) if "payload" in raw else None
    if faults:
        raise Invalid(faults)
    wish = Wish(fields.get("id") or world.clock.token(), canonical(raw), payload)
    match trigger(world, name, wish):
        case Created(job):
            return _shown(world, 201, job)
        case Exists(job, same=True):
            return _shown(world, 200, job)
        case Exists(job):
            raise Refuse(taken(job))
        case Impossible(schedule):
            raise Refuse(impossible(schedule))
        case None:
            raise Refuse(unknown(request))


def backfill_schedule(world: World, request: Request) -> Answer:
    """Give past slots that have no job one each, oldest first; at most 500 in a call."""
    name, faults = name_of(request), list(request.faults)
    said = Said(check(BackfillRequest, request.json(), "", faults), faults)
    query, _ = asked(request, DryRunQuery, faults)
    window = _window(said, world)
    if faults or window is None:
        raise Invalid(faults)
    result = fillable(world, name, window) if query.get("dry_run") else backfill(world, name, window)
    match result:
        case Bulk() as done:
            return bulk_answer(done)
        case Impossible(schedule):
            raise Refuse(impossible(schedule))
        case None:
            raise Refuse(unknown(request))


def _window(said: Said, world: World) -> Window | None:
    """Return the slots that are meant; what is older than the retention may have had a job that is forgotten."""
    now = world.clock.now()
    start, end = (instant_said(said, name) for name in ("from", "to"))
    rate = said.number("rate", 1, FASTEST)
    if start is not None and start < now - world.timing.retention:
        said.blame("from", f"is more than {world.timing.retention.days} days ago; what ran then is forgotten")
    if start is None or end is None:
        return None
    if end < start:
        said.blame("to", "is before from")
    return Window(start, end, MissedRule(rate=rate).step if rate else None)


def _shown(world: World, status: int, job: Job) -> Answer:
    [payload] = world.payloads.texts([job.placed])
    return Answer(status, write(job_view(job, payload)))
