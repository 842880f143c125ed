"""From what people wrote of a schedule to what it means.

    JSON --http/shapes, or read_stored--> fields, each of the right form --define--> Definition, or faults

A schedule is stored as it was written, and judged again whenever it is read: at the wire, where each fault is told, and
by the dispatcher, which has no pydantic. Both readers make the same fields of the same JSON.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial
from types import MappingProxyType
from typing import Any

from onthedot.rules.errors import Fault, Kind
from onthedot.rules.inputs import Malformed, read_duration, read_time
from onthedot.rules.jobs import Retry
from onthedot.rules.limits import LONGEST, limits_of
from onthedot.rules.missed import Missed, MissedRule
from onthedot.rules.said import Said
from onthedot.rules.slots import Timetable
from onthedot.rules.timetables import EXPRESSIONS, USUAL_ZONE, timetable_of
from onthedot.rules.zones import SlotsOnGap, SlotsOnRepeat

Fields = Mapping[str, Any]
Reader = Callable[[object], Any]

TIMING = frozenset({*EXPRESSIONS, "anchor", "zone", "on_gap", "on_repeat", "starts_at", "ends_at", "exclude"})
"""The fields whose change restarts a timetable."""
DEFAULTS: Fields = MappingProxyType(
    {
        "zone": USUAL_ZONE,
        "missed": "catch_up",
        "grace": 60,
        "catch_up_window": "P7D",
        "catch_up_limit": 100,
        "catch_up_rate": 60,
        "overlap": "allow",
        "on_gap": "after",
        "on_repeat": "first",
        "spread": 0,
        "exclude": [],
    }
)
"""What a schedule means by leaving a field out, as people write it."""
LONGEST_GRACE = 31 * 86_400_000
"""Units: milliseconds. What is late and not missed is planned whatever the limit says, so it is bounded here."""
MOST_CAUGHT_UP = 10_000
FASTEST = 6_000
MOST_DEAD = 50


class Overlap(StrEnum):
    """What becomes of a slot while an earlier one still runs."""

    ALLOW = "allow"  # both run
    SKIP = "skip"  # it is skipped
    WAIT = "wait"  # it runs after the earlier one


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """What a schedule means."""

    handler: str
    timetable: Timetable
    missed: MissedRule
    group: str | None
    timeout: timedelta | None
    retry: Retry | None
    start_within: timedelta | None
    overlap: Overlap = Overlap.ALLOW
    pause_after: int | None = None


def define(
    name: str, fields: Fields, born_at: datetime, faults: list[Fault], said_at: datetime | None = None
) -> Definition | None:
    """Return what a schedule means; `None`, and faults, when something is wrong with it.

    How far ahead times may lie is judged only when they are said (at `said_at`), and so are the ranges of timeout,
    start_within and retry (see `limits`).
    """
    said = Said(fields, faults)
    if not said.has("handler"):
        said.blame("handler", "is missing", Kind.MALFORMED)
    timetable = timetable_of(name, fields, born_at, faults, said_at)
    missed, limits = missed_of(fields, faults), limits_of(fields)
    pause_after = said.number("pause_after", 1, MOST_DEAD)
    if faults or timetable is None:
        return None
    return Definition(
        handler=fields["handler"],
        timetable=timetable,
        missed=missed,
        group=fields.get("group"),
        timeout=limits.timeout,
        retry=limits.retry,
        start_within=limits.start_within,
        overlap=Overlap(fields.get("overlap", Overlap.ALLOW)),
        pause_after=pause_after,
    )


def missed_of(fields: Fields, faults: list[Fault]) -> MissedRule:
    """Return what becomes of missed slots; what is wrong counts as not said, beside its fault."""
    said = Said(fields, faults)
    rule = {
        "missed": Missed(fields["missed"]) if "missed" in fields else None,
        "grace": said.span("grace", 0, LONGEST_GRACE),
        "window": said.span("catch_up_window", 1_000, LONGEST),
        "limit": said.number("catch_up_limit", 1, MOST_CAUGHT_UP),
        "rate": said.number("catch_up_rate", 1, FASTEST),
    }
    return MissedRule(**{name: value for name, value in rule.items() if value is not None})


def with_defaults(fields: Fields) -> dict[str, Any]:
    """Return a schedule's fields with what is meant by those that were left out."""
    return {**DEFAULTS, **fields}


def edited(stored: Fields, patch: Fields) -> dict[str, Any]:
    """Return a schedule as it is written after an edit: `null` takes a field back to its default.

    A payload that is null stays, and so does what is not known here, to be told of.
    """
    both = {**stored, **patch}
    return {name: value for name, value in both.items() if value is not None or name not in READERS}


def read_stored(raw: Fields) -> Fields:
    """Return the fields of a schedule that is stored as it was written, without its payload.

    Raises: Malformed, which names the field.
    """
    return _read(READERS, raw)


def _read(readers: Mapping[str, Reader], raw: Fields) -> Fields:
    fields = {}
    for name, value in raw.items():
        try:
            fields[name] = readers.get(name, _unknown)(value)
        except Malformed as error:
            raise Malformed(f"{name} {error}") from None
    return fields


def _unknown(_: object) -> Any:
    raise Malformed("is not known here")


def _typed(kinds: tuple[type, ...], what: str, value: object) -> Any:
    if isinstance(value, bool) or not isinstance(value, kinds):
        raise Malformed(f"must be {what}")
    return value


def _chosen(kind: type[StrEnum], value: object) -> StrEnum:
    if not isinstance(value, str) or value not in list(kind):
        raise Malformed(f"must be one of {', '.join(kind)}")
    return kind(value)


def _read_retry(value: object) -> Fields:
    return _read(RETRY_READERS, _typed((dict,), "an object", value))


TEXT, WHOLE = partial(_typed, (str,), "a text"), partial(_typed, (int,), "a whole number")
RETRY_READERS: Mapping[str, Reader] = {
    "max_attempts": WHOLE,
    "first": read_duration,
    "factor": partial(_typed, (int, float), "a number"),
    "max": read_duration,
}
READERS: Mapping[str, Reader] = {
    "handler": TEXT,
    "cron": TEXT,
    "every": read_duration,
    "anchor": read_time,
    "rrule": TEXT,
    "zone": TEXT,
    "starts_at": read_time,
    "ends_at": read_time,
    "exclude": partial(_typed, (list,), "a list"),
    "on_gap": partial(_chosen, SlotsOnGap),
    "on_repeat": partial(_chosen, SlotsOnRepeat),
    "spread": read_duration,
    "missed": partial(_chosen, Missed),
    "grace": read_duration,
    "catch_up_window": read_duration,
    "catch_up_limit": WHOLE,
    "catch_up_rate": WHOLE,
    "overlap": partial(_chosen, Overlap),
    "group": TEXT,
    "timeout": read_duration,
    "retry": _read_retry,
    "start_within": read_duration,
    "pause_after": WHOLE,
}
