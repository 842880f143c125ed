"""What the outside sees: one structured line for each transition, and the metrics of `api.md`.

Payloads, results and errors' texts are never logged. Every metric has the dimension `service`, the stack's name, so
that two stacks in one account do not set off each other's alarms.
"""

import logging
import os
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, NoReturn

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit, single_metric

from onthedot.rules.events import Event
from onthedot.rules.instants import shown
from onthedot.rules.jobs import Job

Handler = Callable[[Any, Any], Any]

WORRYING = frozenset(
    {
        Event.ATTEMPT_FAILED,
        Event.JOB_DEAD,
        Event.JOB_GIVEN_BACK,
        Event.JOB_NOT_HANDED_OVER,
        Event.JOB_RESCUED,
        Event.JOB_TAKEN_OVER,
        Event.FINISH_LOST,
        Event.SCHEDULE_BROKEN,
        Event.SCHEDULE_FAILED,
        Event.SLOTS_LOST,
        Event.SLOTS_MISSED,
    }
)

COUNTED = {
    Event.SLOTS_PLANNED: "SlotsPlanned",
    Event.SLOTS_MISSED: "SlotsMissed",
    Event.SLOTS_LOST: "SlotsLost",
    Event.SCHEDULE_BROKEN: "SchedulesBroken",
    Event.SCHEDULE_FAILED: "SchedulesFailed",
}
"""What is counted of schedules, all together: each name of one would be a metric to pay (aws-traps 33)."""

logger = Logger()
metrics = Metrics(namespace="Onthedot")

# What the adapters tell goes the same way; the runtime's own handler would leave out all but the message.
logging.getLogger("onthedot").addHandler(logger.registered_handler)
logging.getLogger("onthedot").propagate = False


class Telemetry:
    """The journal of the steps, in CloudWatch."""

    def job(self, event: Event, job: Job) -> None:
        """Tell of a job."""
        tell = logger.warning if event in WORRYING else logger.info
        tell(event.value, extra=_facts(job))
        match event:
            case Event.JOB_STARTED | Event.JOB_TAKEN_OVER if job.started_at is not None:
                metrics.add_metric("Lateness", MetricUnit.Seconds, (job.started_at - job.run_at).total_seconds())
                if event is Event.JOB_TAKEN_OVER:
                    metrics.add_metric("AttemptsFailed", MetricUnit.Count, 1)
            case Event.ATTEMPT_FAILED:
                metrics.add_metric("AttemptsFailed", MetricUnit.Count, 1)
            case Event.JOB_DEAD:
                metrics.add_metric("JobsDead", MetricUnit.Count, 1)
                metrics.add_metric("AttemptsFailed", MetricUnit.Count, min(job.attempt, 1))

    def schedule(self, event: Event, name: str, count: int = 1, reason: str | None = None) -> None:
        """Tell of a schedule, or of so many of its slots."""
        tell = logger.warning if event in WORRYING else logger.info
        facts = {"schedule": name, "count": count if event in COUNTED else None, "reason": reason}
        tell(event.value, extra={key: value for key, value in facts.items() if value is not None})
        if event in COUNTED:
            metrics.add_metric(COUNTED[event], MetricUnit.Count, count)
        if event is Event.SLOTS_LOST:
            _count_lost_of(name, count)

    def shard(self, event: Event, shard: str, handed_over: int, refused: int) -> None:
        """Tell of a shard; nothing is not counted: a metric is paid for by the hours in which it is sent."""
        tell = logger.info if handed_over or refused else logger.debug
        tell(event.value, extra={"shard": shard, "handed_over": handed_over, "refused": refused})
        if handed_over:
            name = "Swept" if event is Event.SHARD_SWEPT else "JobsHandedOver"
            metrics.add_metric(name, MetricUnit.Count, handed_over)


def _count_lost_of(schedule: str, count: int) -> None:
    """Count slots that were lost by their schedule too: it must not occur, so it is no metric that one pays for."""
    with single_metric(
        COUNTED[Event.SLOTS_LOST], MetricUnit.Count, count, namespace=metrics.provider.namespace
    ) as metric:
        metric.add_dimension("schedule", schedule)


def gauge(name: str, seconds: float) -> None:
    """Report how old something is. Units: seconds."""
    metrics.add_metric(name, MetricUnit.Seconds, seconds)


def end_process() -> NoReturn:
    """End the process, after writing what was measured. What is in doubt comes back with its message."""
    _flush()
    sys.stdout.flush()
    os._exit(1)


def invocation(function: Handler) -> Handler:
    """Decorate a function's entry: its request's id on every line, its metrics written at the end, also on an error."""

    @logger.inject_lambda_context(clear_state=True)
    @wraps(function)
    def invoked(event: Any, context: Any) -> Any:
        try:
            return function(event, context)
        finally:
            _flush()

    return invoked


def _flush() -> None:
    if metrics.provider.metric_set:
        metrics.flush_metrics()


def _facts(job: Job) -> dict[str, Any]:
    facts = {
        "job": job.id,
        "handler": job.handler,
        "state": job.state.value,
        "attempt": job.attempt,
        "run_at": shown(job.run_at),
        "group": job.group,
        "reason": job.reason,
        "late_seconds": (job.started_at - job.run_at).total_seconds() if job.started_at else None,
    }
    return {name: value for name, value in facts.items() if value is not None}
