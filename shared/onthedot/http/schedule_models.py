"""The shapes of schedules: what requests are checked against, and what `/openapi.json` is made of."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, PlainValidator, WithJsonSchema, create_model
from pydantic.fields import FieldInfo

from onthedot.http.forms import CatchUpWindow, Grace, InstantIn, Rhythm, Spread, TimeIn, Timeout, Wait
from onthedot.http.models import Limit, Name, RetryRequest, Shape, TimeOut, absent
from onthedot.rules.definitions import DEFAULTS, FASTEST, MOST_CAUGHT_UP, MOST_DEAD
from onthedot.rules.timetables import EXPRESSIONS, MOST_EXCLUDED

LONGEST_REASON = 500


def _read_reason(value: object) -> str:
    if isinstance(value, str) and len(value) <= LONGEST_REASON:
        return value
    raise ValueError(f"must be a text of at most {LONGEST_REASON} characters")


Reason = Annotated[str, PlainValidator(_read_reason), WithJsonSchema({"type": "string", "maxLength": LONGEST_REASON})]
Dates = Annotated[
    list[Any],
    WithJsonSchema({"type": "array", "items": {"type": "string", "format": "date"}, "maxItems": MOST_EXCLUDED}),
]


def _up_to(most: int) -> WithJsonSchema:
    """Return how a whole number from 1 on is described; a rule judges it, so that what is out of range is a 422."""
    return WithJsonSchema({"type": "integer", "minimum": 1, "maximum": most})


CatchUpLimit = Annotated[int, _up_to(MOST_CAUGHT_UP)]
Rate = Annotated[int, _up_to(FASTEST)]
PauseAfter = Annotated[int, _up_to(MOST_DEAD)]


def usual(name: str) -> Any:
    """Return the default of a field that may be left out: it is described, and filled in where the field is read."""
    return Field(default_factory=lambda: None, json_schema_extra={"default": DEFAULTS[name]})


ONE_EXPRESSION: dict[str, Any] = {
    "oneOf": [{"required": [name]} for name in EXPRESSIONS],
    "dependentRequired": {"anchor": ["every"]},
}


class TimetableRequest(Shape):
    """When a schedule has its slots, and what becomes of those that are missed; one expression is given."""

    model_config = ConfigDict(json_schema_extra=ONE_EXPRESSION)

    cron: str = absent()
    every: Rhythm = absent()
    anchor: TimeIn = absent()
    rrule: str = absent()
    zone: str = usual("zone")
    on_gap: Literal["after", "shift", "skip"] = usual("on_gap")
    on_repeat: Literal["first", "last", "both"] = usual("on_repeat")
    starts_at: TimeIn = absent()
    ends_at: TimeIn = absent()
    exclude: Dates = usual("exclude")
    spread: Spread = usual("spread")
    missed: Literal["catch_up", "latest", "skip"] = usual("missed")
    grace: Grace = usual("grace")
    catch_up_window: CatchUpWindow = usual("catch_up_window")
    catch_up_limit: CatchUpLimit = usual("catch_up_limit")
    catch_up_rate: Rate = usual("catch_up_rate")


class ScheduleRequest(TimetableRequest):
    """A schedule to create, or what it shall be from now on."""

    handler: Name
    payload: Any = None
    overlap: Literal["allow", "skip", "wait"] = usual("overlap")
    group: Name = absent()
    retry: RetryRequest = absent()
    timeout: Timeout = absent()
    start_within: Wait = absent()
    pause_after: PauseAfter = absent()


def _nullable(field: FieldInfo) -> tuple[Any, Any]:
    """Return what pydantic makes a field of that may be left out, or null if a schedule may be without it."""
    kind: Any = Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation
    return (kind if field.is_required() else kind | None), absent()


SchedulePatch = create_model(
    "SchedulePatch",
    __base__=Shape,
    __doc__="What changes in a schedule: null takes a field back to its default, but a payload to null.",
    **{name: _nullable(field) for name, field in ScheduleRequest.model_fields.items()},  # type: ignore[call-overload]
)


class NextSlot(Shape):
    """A slot that comes."""

    slot: TimeOut
    local_slot: str
    run_at: TimeOut


class Paused(Shape):
    """Since when a schedule is paused, until when if that is known, why, and by whom."""

    since: TimeOut
    until: TimeOut = absent()
    reason: str = absent()
    by: str


class Shown(ScheduleRequest):
    """A schedule as it was written; one whose row cannot be read shows what can."""

    model_config = ConfigDict(json_schema_extra={})
    handler: Name = absent()


class Schedule(Shown):
    """A schedule as it is now, with the defaults of what was left out; its times and durations as they were written."""

    name: str
    state: Literal["active", "paused", "ended", "broken"]
    version: int
    created_at: TimeOut
    changed_at: TimeOut
    changed_by: str
    next: list[NextSlot]
    warnings: list[str]
    paused: Paused = absent()
    broken: str = absent()


class ScheduleList(Shape):
    """A page of schedules; only one without `next_cursor` is the last."""

    items: list[Schedule]
    next_cursor: str = absent()


class ScheduleQuery(Shape):
    """Which schedules are listed."""

    limit: Limit = absent()
    cursor: str = absent()
    prefix: Name = absent()
    group: Name = absent()
    state: Literal["active", "paused", "ended", "broken"] = absent()


class ScheduleJobsQuery(Shape):
    """Which jobs of a schedule are listed: those of the slots from one time on, before another."""

    limit: Limit = absent()
    cursor: str = absent()
    from_: InstantIn = absent("from")
    to: InstantIn = absent()


class TriggerRequest(Shape):
    """A job to run now: with an id, to be safe to repeat, and a payload if not the schedule's."""

    id: Name = absent()
    payload: Any = absent()


class BackfillRequest(Shape):
    """Slots of the past, from one time on, before another, and how many of their jobs start in a minute."""

    from_: InstantIn = Field(alias="from")
    to: InstantIn
    rate: Rate = absent()


class Version(Shown):
    """A version of a schedule: what was written, by whom, and when it was in force; the last one has no `until`."""

    version: int
    since: TimeOut
    until: TimeOut = absent()
    created_at: TimeOut
    changed_by: str


class VersionList(Shape):
    """What is kept of a schedule's versions, the newest first."""

    items: list[Version]


class LedgerQuery(ScheduleJobsQuery):
    """Which slots of a schedule are shown: those from one time on, before another."""


class SlotOutcome(Shape):
    """What became of a slot, and why."""

    kind: Literal["scheduled", "running", "succeeded", "dead", "cancelled", "skipped", "pending", "missing"]
    reason: str = absent()


class LedgerRow(Shape):
    """One slot and the id of its job, or (`from`, `to`, `count`) slots one after the other that fared alike."""

    slot: TimeOut = absent()
    local_slot: str = absent()
    job: str = absent()
    from_: TimeOut = absent("from")
    to: TimeOut = absent()
    count: int = absent()
    outcome: SlotOutcome


class Ledger(Shape):
    """A page of a ledger, by slot, the oldest first; only one without `next_cursor` is the last."""

    items: list[LedgerRow]
    next_cursor: str = absent()


class PauseRequest(Shape):
    """Until when and why a schedule stops, and what becomes of the slots that pass meanwhile."""

    until: InstantIn = absent()
    reason: Reason = absent()
    on_resume: Literal["skip", "missed"] = absent()


class ResumeRequest(Shape):
    """A resume has nothing to say."""
