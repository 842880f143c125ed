"""Every call that is served: what it takes, what it does, what it answers."""

from functools import cache

from onthedot.http import (
    about,
    batches,
    bulk,
    bulk_models,
    by_hand,
    flags,
    jobs,
    ledgers,
    lists,
    models,
    pauses,
    preview,
    preview_models,
    schedule_lists,
    schedule_models,
    schedules,
)
from onthedot.http.json_text import write
from onthedot.http.openapi import document
from onthedot.http.problems import Answer
from onthedot.http.requests import Request
from onthedot.http.route import Route
from onthedot.steps.ports import World


def show_contract(world: World, request: Request) -> Answer:  # noqa: ARG001
    """Show how this API is called."""
    return Answer(200, contract())


@cache
def contract() -> str:
    """Return the OpenAPI document of all routes, made once for each container."""
    return write(document(ROUTES))


def allowed(path: str) -> list[str]:
    """Return the methods that a path is served with."""
    return sorted({route.method for route in ROUTES if route.serves(path)})


JOB = "/jobs/{id}"
SCHEDULE = "/schedules/{name}"

ROUTES = (
    Route(
        "POST", "/jobs", jobs.create_job, {201: models.Job, 200: models.Job}, (400, 409, 413, 422), models.JobRequest
    ),
    Route("POST", "/jobs/batch", batches.create_batch, {200: models.BatchAnswer}, (400, 413, 422), models.BatchRequest),
    Route("GET", "/jobs", lists.list_jobs, {200: models.JobList}, (400, 422), query=models.ListQuery),
    Route("GET", JOB, jobs.show_job, {200: models.Job}, (400, 404)),
    Route("PATCH", JOB, jobs.reschedule_job, {200: models.Job}, (400, 404, 409, 413, 422), models.RescheduleRequest),
    Route("DELETE", JOB, jobs.cancel_job, {200: models.Job, 202: models.Job}, (400, 404, 409), query=flags.StopQuery),
    Route(
        "POST",
        f"{JOB}/retry",
        jobs.retry_job,
        {200: models.Job},
        (400, 404, 409),
        bulk_models.RetryJobRequest,
        needs_body=False,
    ),
    Route("DELETE", "/jobs", bulk.cancel_jobs, {200: bulk_models.Bulk}, (400,), query=bulk_models.GroupQuery),
    Route(
        "POST",
        "/dead/retry",
        bulk.retry_dead,
        {200: bulk_models.Bulk},
        (400, 422),
        bulk_models.DeadRetryRequest,
        flags.DryRunQuery,
        needs_body=False,
    ),
    Route(
        "PUT",
        SCHEDULE,
        schedules.put_schedule,
        {201: schedule_models.Schedule, 200: schedule_models.Schedule},
        (400, 404, 412, 413, 422),
        schedule_models.ScheduleRequest,
    ),
    Route(
        "PATCH",
        SCHEDULE,
        schedules.patch_schedule,
        {200: schedule_models.Schedule},
        (400, 404, 409, 412, 413, 422),
        schedule_models.SchedulePatch,
    ),
    Route("GET", SCHEDULE, schedules.show_schedule, {200: schedule_models.Schedule}, (400, 404)),
    Route("DELETE", SCHEDULE, schedules.delete_schedule, {200: schedule_models.Schedule}, (400, 404, 412)),
    Route(
        "GET",
        "/schedules",
        schedule_lists.list_schedules,
        {200: schedule_models.ScheduleList},
        (400, 422),
        query=schedule_models.ScheduleQuery,
    ),
    Route(
        "GET",
        f"{SCHEDULE}/jobs",
        schedule_lists.list_schedule_jobs,
        {200: models.JobList},
        (400, 404, 422),
        query=schedule_models.ScheduleJobsQuery,
    ),
    Route(
        "GET",
        f"{SCHEDULE}/ledger",
        ledgers.show_ledger,
        {200: schedule_models.Ledger},
        (400, 404, 422),
        query=schedule_models.LedgerQuery,
    ),
    Route(
        "POST",
        f"{SCHEDULE}/pause",
        pauses.pause_schedule,
        {200: schedule_models.Schedule},
        (400, 404, 409, 422),
        schedule_models.PauseRequest,
        needs_body=False,
    ),
    Route(
        "POST",
        f"{SCHEDULE}/resume",
        pauses.resume_schedule,
        {200: schedule_models.Schedule},
        (400, 404, 409),
        schedule_models.ResumeRequest,
        flags.DryRunQuery,
        needs_body=False,
        dry_answer=preview_models.Foreseen,
    ),
    Route(
        "POST",
        f"{SCHEDULE}/trigger",
        by_hand.trigger_schedule,
        {201: models.Job, 200: models.Job},
        (400, 404, 409, 413),
        schedule_models.TriggerRequest,
        needs_body=False,
    ),
    Route(
        "POST",
        f"{SCHEDULE}/backfill",
        by_hand.backfill_schedule,
        {200: bulk_models.Bulk},
        (400, 404, 409, 422),
        schedule_models.BackfillRequest,
        flags.DryRunQuery,
    ),
    Route("GET", f"{SCHEDULE}/versions", ledgers.list_versions, {200: schedule_models.VersionList}, (400, 404)),
    Route(
        "POST",
        "/preview",
        preview.preview,
        {200: preview_models.Preview},
        (400, 422),
        preview_models.PreviewRequest,
    ),
    Route("GET", "/health", about.show_health, {200: models.Health, 503: models.Health}, (400,)),
    Route("GET", "/openapi.json", show_contract, {200: None}, (400,)),
)
