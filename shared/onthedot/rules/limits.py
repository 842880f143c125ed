"""What bounds the attempts of a job, as far as the job or its schedule says it: ranges first, then values.

The ranges are those of the day on which it was said: what was accepted stays, also under narrower settings.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from onthedot.rules.inputs import horizon
from onthedot.rules.instants import MILLISECOND
from onthedot.rules.jobs import Retry
from onthedot.rules.policies import MOST_ATTEMPTS
from onthedot.rules.retry import LONGEST_WAIT
from onthedot.rules.said import Said, at

SHORTEST_TIMEOUT = 1_000
STEEPEST = 1_000
LONGEST = LONGEST_WAIT // MILLISECOND
"""Units: milliseconds. Nothing longer is accepted."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long an attempt may take, how late it may start, and how failed ones are tried again."""

    timeout: timedelta | None
    start_within: timedelta | None
    retry: Retry | None


def judge_limits(said: Said, longest_timeout: timedelta, now: datetime) -> None:
    """Add a fault for everything that is out of its range."""
    most = (horizon(now) - now) // MILLISECOND
    said.span("timeout", SHORTEST_TIMEOUT, longest_timeout // MILLISECOND)
    said.span("start_within", 1, most)
    if "retry" in said.fields:
        _judge_retry(Said(said.fields["retry"], said.faults, at(said.path, "retry")), most)


def limits_of(fields: Mapping[str, Any]) -> Limits:
    """Return what was said; what is out of its range becomes the longest, so that nothing overflows."""
    return Limits(
        timeout=_span(fields.get("timeout")),
        start_within=_span(fields.get("start_within")),
        retry=_retry(fields["retry"]) if "retry" in fields else None,
    )


def _judge_retry(said: Said, most: int) -> None:
    said.number("max_attempts", 1, MOST_ATTEMPTS)
    said.number("factor", 1, STEEPEST)
    said.span("first", 1, most)
    said.span("max", 1, most)
    if {"first", "max"} <= said.fields.keys() and said.fields["max"] < said.fields["first"]:
        said.blame("max", "must not be less than first")


def _retry(fields: Mapping[str, Any]) -> Retry:
    first, longest = (_span(fields.get(name)) for name in ("first", "max"))
    return Retry(
        max_attempts=fields.get("max_attempts"),
        first=None if first is None else first.total_seconds(),
        factor=fields.get("factor"),
        max=None if longest is None else longest.total_seconds(),
    )


def _span(milliseconds: int | None) -> timedelta | None:
    return None if milliseconds is None else min(abs(milliseconds), LONGEST) * MILLISECOND
