"""Many jobs in one call, each judged by itself; nothing is written before it is sure that the answer can be carried."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from onthedot.http.jobs import taken
from onthedot.http.jobs_in import new_job
from onthedot.http.json_text import write
from onthedot.http.models import MOST_JOBS, BatchRequest
from onthedot.http.problems import Answer, Problem, Refuse, document, of_faults, of_outage
from onthedot.http.requests import Request
from onthedot.http.shapes import check
from onthedot.http.sizes import MOST_ANSWER, escaped
from onthedot.http.views import brief, job_view
from onthedot.rules.errors import Fault, Invalid, Unavailable
from onthedot.rules.jobs import Job
from onthedot.steps.manage import Created, Exists, NewJob, create_all
from onthedot.steps.ports import World

LATER = 700
"""What a job that was made before may show more than a new one: times, an attempt, an outcome. Units: bytes."""

Key = tuple[str, str]
Judged = NewJob | Problem
Result = Created | Exists | Unavailable


def create_batch(world: World, request: Request) -> Answer:
    """Create up to 500 jobs; one that is wrong, or taken, or not written in time, stops no other."""
    now = world.clock.now()
    judged = [_judge(world, raw, now, f"jobs.{number}") for number, raw in enumerate(_jobs(request))]
    _refuse_what_cannot_be_answered(judged)
    firsts = {new.draft.key: new for new in reversed(judged) if isinstance(new, NewJob)}
    written = dict(zip(firsts, create_all(world, list(firsts.values())), strict=True))
    results = [_result(item, firsts, written) for item in judged]
    return Answer(200, write({"results": _documents(world, results, firsts)}))


def _jobs(request: Request) -> list[Any]:
    faults = list(request.faults)
    jobs = check(BatchRequest, request.json(), "", faults).get("jobs", [])
    if not faults and not 1 <= len(jobs) <= MOST_JOBS:
        faults.append(Fault("jobs", f"must be 1 to {MOST_JOBS} jobs; these are {len(jobs)}"))
    if faults:
        raise Invalid(faults)
    return list(jobs)


def _judge(world: World, raw: Any, now: datetime, path: str) -> Judged:
    try:
        return new_job(world, raw, now, path)
    except Invalid as invalid:
        return of_faults(invalid.faults)


def _refuse_what_cannot_be_answered(judged: Sequence[Judged]) -> None:
    size = sum(
        escaped(document(item)) if isinstance(item, Problem) else escaped(job_view(item.draft, item.payload)) + LATER
        for item in judged
    )
    if size > MOST_ANSWER:
        detail = f"the answer would take {size} bytes and may take {MOST_ANSWER}; nothing was written, send fewer jobs"
        raise Refuse(Problem(413, detail))


def _result(item: Judged, firsts: Mapping[Key, NewJob], written: Mapping[Key, Result]) -> Result | Problem:
    """Return what became of an item; one whose id came earlier in the batch meets the job of that one."""
    if isinstance(item, Problem):
        return item
    result = written[item.draft.key]
    if isinstance(result, Unavailable) or firsts[item.draft.key] is item:
        return result
    return Exists(result.job, same=result.job.request == item.draft.request)


def _documents(world: World, results: Sequence[Result | Problem], firsts: Mapping[Key, NewJob]) -> list[dict[str, Any]]:
    repeated = [result.job for result in results if isinstance(result, Exists) and result.same]
    if sum(job.payload.size for job in repeated) > MOST_ANSWER:
        return [_document(result, firsts, {}) for result in results]
    texts = dict(
        zip((job.key for job in repeated), world.payloads.texts([job.placed for job in repeated]), strict=True)
    )
    documents = [_document(result, firsts, texts) for result in results]
    if sum(map(escaped, documents)) > MOST_ANSWER:
        return [_document(result, firsts, {}) for result in results]
    return documents


def _document(
    result: Result | Problem, firsts: Mapping[Key, NewJob], texts: Mapping[Key, str | None]
) -> dict[str, Any]:
    match result:
        case Created(job):
            return {"status": 201, "job": job_view(job, firsts[job.key].payload)}
        case Exists(job, same=True):
            return {"status": 200, "job": _repeated(job, texts)}
        case Exists(job):
            problem = taken(job)
        case Unavailable():
            problem = of_outage(result)
        case Problem():
            problem = result
    return {"status": problem.status, "problem": document(problem)}


def _repeated(job: Job, texts: Mapping[Key, str | None]) -> dict[str, Any]:
    """Return the view of a job that was made before; without its texts where the answer has no room for them."""
    return job_view(job, texts[job.key]) if texts else brief(job_view(job, "null"))
