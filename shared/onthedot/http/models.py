"""The shapes of the contract: what requests are checked against, and what `/openapi.json` is made of."""

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, StringConstraints, WithJsonSchema

from onthedot.http.forms import Delay, InstantIn, TimeIn, Timeout, Wait
from onthedot.rules.jobs import NAME, State
from onthedot.rules.limits import STEEPEST
from onthedot.rules.policies import MOST_ATTEMPTS

MOST_JOBS = 500
USUAL_PAGE = 50
LONGEST_PAGE = 100

Name = Annotated[str, StringConstraints(pattern=f"^{NAME}$")]
Attempts = Annotated[int, WithJsonSchema({"type": "integer", "minimum": 1, "maximum": MOST_ATTEMPTS})]
Factor = Annotated[float, WithJsonSchema({"type": "number", "minimum": 1, "maximum": STEEPEST})]
TimeOut = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]


def _read_limit(value: object) -> int:
    if isinstance(value, str) and re.fullmatch("[0-9]{1,3}", value) and 1 <= int(value) <= LONGEST_PAGE:
        return int(value)
    raise ValueError(f"must be a number from 1 to {LONGEST_PAGE}")


Limit = Annotated[
    int,
    PlainValidator(_read_limit),
    WithJsonSchema({"type": "integer", "minimum": 1, "maximum": LONGEST_PAGE, "default": USUAL_PAGE}),
]


def absent(called: str | None = None) -> Any:
    """Return the default of a field that may be left out and is never null; `called` is a name that Python reserves."""
    return Field(default_factory=lambda: None, alias=called)


class Shape(BaseModel):
    """A JSON object of the contract."""

    model_config = ConfigDict(extra="forbid")


class RetryRequest(Shape):
    """How failed attempts are tried again; what is left out is the handler's word, or 5, 10 s, 2 and 3,600 s."""

    max_attempts: Attempts = absent()
    first: Wait = absent()
    factor: Factor = absent()
    max: Wait = absent()


class WhenRequest(Shape):
    """When a job may start: after a delay, or at a time."""

    model_config = ConfigDict(json_schema_extra={"not": {"required": ["delay", "run_at"]}})

    delay: Delay = absent()
    run_at: TimeIn = absent()
    zone: str = absent()
    on_gap: Literal["refuse", "after", "shift"] = absent()
    on_repeat: Literal["first", "last"] = absent()


class JobRequest(WhenRequest):
    """A job to create; with neither `delay` nor `run_at` it may start now."""

    handler: Name
    payload: Any = None
    id: Name = absent()
    group: Name = absent()
    retry: RetryRequest = absent()
    timeout: Timeout = absent()
    start_within: Wait = absent()


class RescheduleRequest(WhenRequest):
    """Another time for a job, and another payload if there is one."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": ["delay"]}, {"required": ["run_at"]}]})

    payload: Any = absent()


class BatchRequest(Shape):
    """Jobs to create, each judged by itself."""

    jobs: Annotated[
        list[Any],
        WithJsonSchema(
            {
                "type": "array",
                "items": {"$ref": "#/components/schemas/JobRequest"},
                "minItems": 1,
                "maxItems": MOST_JOBS,
            }
        ),
    ]


class Attempt(Shape):
    """One try of a job."""

    number: int
    started_at: TimeOut
    finished_at: TimeOut = absent()
    error: str = absent()


class Outcome(Shape):
    """What became of a job."""

    kind: Literal["succeeded", "dead", "cancelled", "skipped"]
    reason: str = absent()


class Job(Shape):
    """A job as it is now; a field without a value is left out."""

    id: str
    schedule: str = absent()
    slot: str = absent()
    local_slot: str = absent()
    handler: str
    state: State
    run_at: TimeOut
    payload: Any
    group: str = absent()
    attempt: int
    max_attempts: int = absent()
    attempts: list[Attempt]
    created_at: TimeOut
    started_at: TimeOut = absent()
    finished_at: TimeOut = absent()
    late_seconds: float = absent()
    result: Any = absent()
    last_error: str = absent()
    outcome: Outcome = absent()
    idempotency_key: str


class FaultOut(Shape):
    """One thing that is wrong with a request."""

    field: str
    message: str


class ProblemOut(Shape):
    """Why a request is not done (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[FaultOut] = absent()


class BatchResult(Shape):
    """What became of one job of a batch."""

    status: int
    job: Job = absent()
    problem: ProblemOut = absent()


class BatchAnswer(Shape):
    """What became of each job of a batch, in their order."""

    results: list[BatchResult]


class JobList(Shape):
    """A page of jobs; only one without `next_cursor` is the last."""

    items: list[Job]
    next_cursor: str = absent()


class ListQuery(Shape):
    """Which jobs are listed."""

    limit: Limit = absent()
    cursor: str = absent()
    group: Name = absent()
    schedule: Name = absent()
    handler: Name = absent()
    state: Literal["scheduled", "running", "succeeded", "dead", "cancelled", "skipped"] = absent()
    due_from: InstantIn = absent()
    due_to: InstantIn = absent()


class ShardHealth(Shape):
    """How far one shard's agenda is handed over, and its schedules are planned. Units: seconds; null before a tick."""

    shard: str
    watermark_age_seconds: float | None
    oldest_overdue_seconds: float
    oldest_unplanned_seconds: float


class QueueHealth(Shape):
    """About how many messages a queue holds."""

    waiting: int
    in_flight: int
    delayed: int


class Versions(Shape):
    """What answers."""

    onthedot: str
    tzdata: str
    python: str


class Health(Shape):
    """Whether jobs are handed over in time."""

    status: Literal["ok", "unhealthy"]
    tick_age_seconds: float | None
    shards: list[ShardHealth]
    queues: dict[str, QueueHealth]
    versions: Versions
