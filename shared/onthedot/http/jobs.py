"""The calls on one job: create, show, reschedule, cancel."""

import re

from onthedot.http.bulk_models import RetryJobRequest
from onthedot.http.flags import StopQuery
from onthedot.http.jobs_in import due, new_job, payload_text
from onthedot.http.json_text import write
from onthedot.http.lists import asked
from onthedot.http.models import RescheduleRequest
from onthedot.http.problems import Answer, Problem, Refuse
from onthedot.http.requests import Request
from onthedot.http.shapes import check
from onthedot.http.views import job_view
from onthedot.rules.errors import Fault, Invalid, Kind, Unavailable
from onthedot.rules.instants import shown
from onthedot.rules.jobs import JOB_ID, Job, key_of
from onthedot.steps.manage import Changed, Created, Exists, Stopping, TooLate, cancel, create_all, reschedule, stop
from onthedot.steps.ports import World
from onthedot.steps.revive import PayloadGone, revive


def create_job(world: World, request: Request) -> Answer:
    """Create a job, or meet the one that the same request created before."""
    new = new_job(world, request.json(), world.clock.now(), known=request.faults)
    match create_all(world, [new])[0]:
        case Created(job):
            return Answer(201, write(job_view(job, new.payload)))
        case Exists(job, same=True):
            return _shown(world, 200, job)
        case Exists(job):
            raise Refuse(taken(job))
        case Unavailable() as error:
            raise error


def show_job(world: World, request: Request) -> Answer:
    """Show a job as it is now."""
    job = world.jobs.get(*_key(request))
    if job is None or job.has_expired(world.clock.now()):
        raise Refuse(_unknown(request))
    return _shown(world, 200, job)


def reschedule_job(world: World, request: Request) -> Answer:
    """Give a scheduled job another time, and another payload if there is one."""
    key, raw, faults = _key(request), request.json(), list(request.faults)
    fields = check(RescheduleRequest, raw, "", faults)
    run_at = due(fields, raw, world.clock.now(), "", faults)
    payload = payload_text(fields, "", faults) if "payload" in fields else None
    if not {"run_at", "delay"} & raw.keys():
        faults.append(Fault("run_at", "is missing; give run_at or delay", Kind.MALFORMED))
    if faults or run_at is None:
        raise Invalid(faults)
    return _done(world, request, reschedule(world, *key, run_at, payload))


def cancel_job(world: World, request: Request) -> Answer:
    """Take back a scheduled job; with `stop=true` ask a running one to stop."""
    key, faults = _key(request), list(request.faults)
    query, _ = asked(request, StopQuery, faults)
    if faults:
        raise Invalid(faults)
    result = stop(world, *key) if query.get("stop") else cancel(world, *key)
    return _shown(world, 202, result.job) if isinstance(result, Stopping) else _done(world, request, result)


def retry_job(world: World, request: Request) -> Answer:
    """Send a dead or cancelled job again, now and from its first attempt; one that goes again already is a 409."""
    key, raw, faults = _key(request), request.json_if_any(), list(request.faults)
    check(RetryJobRequest, raw, "", faults)
    if faults:
        raise Invalid(faults)
    done = revive(world, *key)
    if isinstance(done, PayloadGone):
        raise Refuse(Problem(409, f"the payload of the job {done.job.id} is gone, so that it cannot go again"))
    return _done(world, request, done, "only a dead or cancelled job goes again")


def taken(job: Job) -> Problem:
    """Return the problem of an id that another request has used."""
    return Problem(409, f"the job {job.id} exists, and another request made it; it is {job.state}")


def _done(world: World, request: Request, result: Changed | TooLate | None, why_not: str = "it is too late") -> Answer:
    if result is None or result.job.has_expired(world.clock.now()):
        raise Refuse(_unknown(request))
    if isinstance(result, TooLate):
        job = result.job
        raise Refuse(Problem(409, f"{why_not}: the job {job.id} is {job.state} since {shown(job.since)}"))
    return _shown(world, 200, result.job)


def _shown(world: World, status: int, job: Job) -> Answer:
    [payload] = world.payloads.texts([job.placed])
    return Answer(status, write(job_view(job, payload)))


def _key(request: Request) -> tuple[str, str]:
    key = key_of(request.path["id"]) if re.fullmatch(JOB_ID, request.path["id"]) else None
    if key is None:
        raise Refuse(_unknown(request))
    return key


def _unknown(request: Request) -> Problem:
    return Problem(404, f"there is no job {request.path['id'][:150]}")
