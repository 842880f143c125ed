"""The calls that stop a schedule and let it go on."""

from datetime import datetime

from onthedot.http.flags import DryRunQuery
from onthedot.http.json_text import write
from onthedot.http.lists import asked
from onthedot.http.problems import Answer, Problem, Refuse
from onthedot.http.requests import Request
from onthedot.http.schedule_models import PauseRequest, ResumeRequest
from onthedot.http.schedule_views import run_view, skipped_view
from onthedot.http.schedules import name_of, shown_schedule, unknown
from onthedot.http.shapes import check
from onthedot.rules.errors import Invalid
from onthedot.rules.inputs import HORIZON_YEARS, Place, Refused, Time, horizon, resolve
from onthedot.rules.said import Said
from onthedot.rules.schedules import OnResume, Pause, Schedule
from onthedot.steps.pause import Foreseen, foreseen, pause, resume
from onthedot.steps.ports import World
from onthedot.steps.readable import Impossible


def pause_schedule(world: World, request: Request) -> Answer:
    """Stop a schedule: its planned jobs do not run, and what passes meanwhile is not missed."""
    name, faults, now = name_of(request), list(request.faults), world.clock.now()
    said = Said(check(PauseRequest, request.json_if_any(), "", faults), faults)
    until = said.judged("until", lambda: _until(said.fields["until"], now)) if "until" in said.fields else None
    if faults:
        raise Invalid(faults)
    on_resume = OnResume(said.fields.get("on_resume", OnResume.SKIP))
    wish = Pause(now, until, said.fields.get("reason"), request.caller, on_resume)
    return _answer(world, request, pause(world, name, wish))


def resume_schedule(world: World, request: Request) -> Answer:
    """Let a paused schedule go on; a dry run only tells what would run."""
    faults = list(request.faults)
    query, _ = asked(request, DryRunQuery, faults)
    check(ResumeRequest, request.json_if_any(), "", faults)
    if faults:
        raise Invalid(faults)
    if not query.get("dry_run"):
        return _answer(world, request, resume(world, name_of(request)))
    match foreseen(world, name_of(request)):
        case Foreseen(runs, skipped):
            return Answer(
                200,
                write({"runs": [run_view(run) for run in runs], "skipped": [skipped_view(part) for part in skipped]}),
            )
        case Impossible(schedule):
            raise Refuse(impossible(schedule))
        case None:
            raise Refuse(unknown(request))


def impossible(schedule: Schedule) -> Problem:
    """Return the problem of a schedule that must be mended, or resumed, before this is done with it."""
    if not schedule.broken:
        return Problem(409, "the schedule is paused, so that its jobs would be skipped; resume it first")
    return Problem(409, f"the schedule is broken, and an edit must mend it first: {schedule.broken}")


def _until(time: Time, now: datetime) -> datetime:
    until = resolve(time, Place())
    if until <= now:
        raise Refused("is not in the future")
    if until > horizon(now):
        raise Refused(f"is more than {HORIZON_YEARS} years ahead")
    return until


def _answer(world: World, request: Request, result: Schedule | Impossible | None) -> Answer:
    match result:
        case Schedule() as schedule:
            return shown_schedule(world, 200, schedule)
        case Impossible(schedule):
            raise Refuse(impossible(schedule))
        case None:
            raise Refuse(unknown(request))
