"""What people write for times and durations, and what is made of it.

    text or number --read_*--> a value of the right form --rules--> run_at, or the faults
          |                                                  |
          +-- Malformed: not of the form (400)               +-- refused by a rule (422)

Nothing here overflows: a year 9999 or a delay of 1e308 seconds is well-formed and beyond the horizon.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import ROUND_UP, Context, Decimal, localcontext
from zoneinfo import ZoneInfo

from onthedot.rules.instants import MILLISECOND
from onthedot.rules.zones import OnGap, OnRepeat, instant_of, offset_at

GRACE = timedelta(seconds=60)
"""A `run_at` this much in the past means now: the client's clock and the way here take time."""
HORIZON_YEARS = 10
UNREAD = 10**15
"""Stands for every duration too long to matter, far beyond the horizon. Units: seconds."""
LONGEST_TEXT = 64

TIME = re.compile(
    r"(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})"
    r"[Tt](?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})"
    r"(?:\.(?P<decimals>[0-9]+))?(?:(?P<utc>[Zz])|(?P<sign>[+-])(?P<hours>[0-9]{2}):(?P<minutes>[0-9]{2}))?"
)
NUMBER = r"[0-9]+(?:[.,][0-9]+)?"
DURATION = re.compile(
    rf"(?P<sign>[+-]?)P(?:(?P<W>{NUMBER})W)?(?:(?P<D>{NUMBER})D)?"
    rf"(?:T(?=[0-9])(?:(?P<H>{NUMBER})H)?(?:(?P<M>{NUMBER})M)?(?:(?P<S>{NUMBER})S)?)?"
)
UNITS = {"W": 604_800, "D": 86_400, "H": 3_600, "M": 60, "S": 1}
EXACT = Context(prec=2_000)
EDGES = (datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC))


class Malformed(ValueError):
    """A value is not of the form that the contract names; the message says what is."""


class Refused(ValueError):
    """A value is of the right form, and against a rule."""


@dataclass(frozen=True, slots=True)
class Time:
    """A time as it was written: its reading, and its offset if it had one."""

    local: datetime
    offset: timedelta | None


@dataclass(frozen=True, slots=True)
class Place:
    """How a time without an offset is meant."""

    zone: ZoneInfo | None = None
    on_gap: OnGap = OnGap.REFUSE
    on_repeat: OnRepeat = OnRepeat.FIRST


def read_time(value: object) -> Time:
    """Return an RFC 3339 time, or a local one without an offset; decimals beyond milliseconds are cut off.

    Raises: Malformed. An own pattern is asked before the library, whose answers differ between versions.
    """
    parts = TIME.fullmatch(value) if isinstance(value, str) and len(value) <= LONGEST_TEXT else None
    if parts is None:
        raise Malformed("must be a time such as 2027-03-28T01:00:00Z")
    if parts["second"] == "60":
        raise Malformed("has a second 60; leap seconds have no place in UTC as computers keep it")
    if parts["hour"] == "24":
        raise Malformed("has an hour 24; midnight is 00:00:00 of the next day")
    return Time(_local_of(parts), _offset_of(parts))


def read_delay(value: object) -> int:
    """Return a delay in milliseconds, rounded up so that nothing that waits this long is early.

    Shape: a number of seconds, or ISO 8601 of weeks, days, hours, minutes and seconds.
    Raises: Malformed.
    """
    return _rounded(_milliseconds(value))


def read_duration(value: object) -> int:
    """Return a duration in milliseconds, rounded up, but not onto a whole second: 59.9996 is below a bound of 60.

    Shape: as a delay.
    Raises: Malformed.
    """
    exact = _milliseconds(value)
    rounded = _rounded(exact)
    return rounded - 1 if rounded % 1000 == 0 and rounded > exact else rounded


def horizon(now: datetime) -> datetime:
    """Return the last instant that may be asked for: this day and time in ten years."""
    try:
        return now.replace(year=now.year + HORIZON_YEARS)
    except ValueError:
        return now.replace(year=now.year + HORIZON_YEARS, month=3, day=1)


def after_delay(milliseconds: int, now: datetime) -> datetime:
    """Return the time after a delay; it is elapsed time, so a day is 24 hours whatever the clocks do.

    Raises: Refused.
    """
    if milliseconds < 0:
        raise Refused("is negative; the least is 0, which is now")
    if milliseconds > (horizon(now) - now) // MILLISECOND:
        raise Refused(f"is more than {HORIZON_YEARS} years")
    return now + milliseconds * MILLISECOND


def at_time(time: Time, place: Place, now: datetime) -> datetime:
    """Return when a job that asks for `time` may start.

    Raises: Malformed when the time has neither an offset nor a zone; Refused when a rule is against it.
    """
    instant = resolve(time, place)
    if instant < now - GRACE:
        raise Refused(f"is more than {GRACE // timedelta(seconds=1)} seconds in the past")
    if instant > horizon(now):
        raise Refused(f"is more than {HORIZON_YEARS} years ahead")
    return max(instant, now)


def resolve(time: Time, place: Place) -> datetime:
    """Return the instant that a time means; one outside the calendar's years becomes their edge.

    Raises: Malformed when it has neither an offset nor a zone; Refused when they disagree, or when there is no such
    local time.
    """
    try:
        return _with_offset(time, place.zone) if time.offset is not None else _in_zone(time, place)
    except OverflowError:
        return EDGES[time.local.year > HORIZON_YEARS]


def _with_offset(time: Time, zone: ZoneInfo | None) -> datetime:
    assert time.offset is not None, "the caller has looked"
    instant = (time.local - time.offset).replace(tzinfo=UTC)
    if zone is not None and offset_at(instant, zone) != time.offset:
        raise Refused(f"has an offset that {zone.key} does not have then")
    return instant


def _in_zone(time: Time, place: Place) -> datetime:
    if place.zone is None:
        raise Malformed("has no offset; add one (Z is UTC), or name a zone")
    instant = instant_of(time.local, place.zone, place.on_gap, place.on_repeat)
    if instant is None:
        raise Refused(f"does not exist in {place.zone.key}, whose clocks jump over it; on_gap says what is meant then")
    return instant


def _local_of(parts: re.Match[str]) -> datetime:
    year, month, day, hour, minute, second = (int(part) for part in parts.groups()[:6])
    milliseconds = int(f"{(parts['decimals'] or '')[:3]:0<3}")
    try:
        return datetime(year, month, day, hour, minute, second, milliseconds * 1000)  # noqa: DTZ001 - it is local
    except ValueError:
        raise Malformed("is no time that the calendar and the clock have") from None


def _offset_of(parts: re.Match[str]) -> timedelta | None:
    if parts["utc"]:
        return timedelta(0)
    if parts["sign"] is None:
        return None
    hours, minutes = int(parts["hours"]), int(parts["minutes"])
    if hours > 23 or minutes > 59:
        raise Malformed("has an offset beyond 23:59")
    return timedelta(hours=hours, minutes=minutes) * (-1 if parts["sign"] == "-" else 1)


def _milliseconds(value: object) -> Decimal:
    """Return a duration as it was written; one too long to matter is cut."""
    seconds = _read_iso(value) if isinstance(value, str) else _read_number(value)
    with localcontext(EXACT):
        return max(Decimal(-UNREAD), min(seconds, Decimal(UNREAD))) * 1000


def _read_number(value: object) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Malformed("must be a number of seconds, or a text such as PT10M")
    if value == 0 or not abs(value) < UNREAD:
        return Decimal(UNREAD if value > 0 else -UNREAD) if value else Decimal(0)
    return Decimal(str(value))


def _read_iso(text: str) -> Decimal:
    parts = DURATION.fullmatch(text) if len(text) <= LONGEST_TEXT else None
    given = {unit: parts[unit] for unit in UNITS if parts[unit]} if parts else {}
    if not parts or not given:
        raise Malformed("must be a number of seconds, or weeks to seconds as in P1DT2H30M (months and years vary)")
    if any(mark in number for number in list(given.values())[:-1] for mark in ".,"):
        raise Malformed("may have decimals in its last part only")
    with localcontext(EXACT):
        seconds = sum((Decimal(number.replace(",", ".")) * UNITS[unit] for unit, number in given.items()), Decimal(0))
        return -seconds if parts["sign"] == "-" else seconds


def _rounded(milliseconds: Decimal) -> int:
    with localcontext(EXACT):
        return int(milliseconds.to_integral_value(ROUND_UP))
