"""Recurrence rules of RFC 5545, from FREQ=DAILY to YEARLY, from the local time `starts_at` on.

    FREQ=MONTHLY;INTERVAL=2;BYDAY=MO,-1FR;BYMONTHDAY=...;BYMONTH=...;BYSETPOS=...;WKST=SU;UNTIL=... or COUNT=...

The time of day is that of `starts_at`, which counts as a slot only if the rule matches it. COUNT counts dates, before
clock changes and excluded dates take some away. UNTIL is the last that may be: a date with its whole day, a local time,
or with `Z` an instant.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice
from zoneinfo import ZoneInfo

from onthedot.rules.calendar import DAY, FIRST_YEAR, LAST_DAY, LAST_YEAR, day_of, weekday_of
from onthedot.rules.inputs import Malformed, Refused
from onthedot.rules.recurrence import ByDay, Freq, Pattern

LONGEST = 512
KEPT = 1024
LEAST_YEAR = 1900
MOST_COUNTED = 4_000
"""Ten years of days and more; dates are counted to know the last."""
NUMBER = re.compile(r"[0-9]{1,8}")
SIGNED = re.compile(r"[+-]?[0-9]{1,3}")
BYDAY = re.compile(r"(?P<nth>[+-]?[0-9]{1,2})?(?P<weekday>MO|TU|WE|TH|FR|SA|SU)")
UNTIL = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})(?:T([0-9]{2})([0-9]{2})([0-9]{2})(?P<utc>Z)?)?")
WEEKDAYS = {name: number for number, name in enumerate(["MO", "TU", "WE", "TH", "FR", "SA", "SU"])}
PARTS = ["FREQ", "INTERVAL", "BYDAY", "BYMONTHDAY", "BYMONTH", "BYSETPOS", "WKST", "UNTIL", "COUNT"]


@dataclass(frozen=True, slots=True)
class Rrule:
    """A recurrence rule. Units: seconds, of local time unless named otherwise. `until` is the last that may be."""

    text: str
    pattern: Pattern
    time: int
    until: int

    def readings(self, local: int) -> Iterator[int]:
        """Return the local times that recur, from this one on. Order: by time."""
        for day in self.pattern.days(-((self.time - local) // DAY)):
            reading = day * DAY + self.time
            if reading > self.until:
                return
            yield reading


@lru_cache(KEPT)
def read_rrule(text: str, starts_at: datetime, zone: ZoneInfo) -> Rrule:
    """Return what a rule means from a local time on; `zone` is where an UNTIL in UTC is read.

    Raises: Malformed; Refused when no date matches.
    """
    if not LEAST_YEAR <= starts_at.year <= LAST_YEAR:
        raise Refused(f"cannot start before {LEAST_YEAR} or after {LAST_YEAR}")
    parts = _split(text)
    start = starts_at.date()
    pattern = _defaulted(_pattern(parts, day_of(start)), start.month, start.day)
    time = 3600 * starts_at.hour + 60 * starts_at.minute + starts_at.second
    rule = Rrule(text, pattern, time, _until(parts.get("UNTIL"), zone))
    return _bounded(rule, _number(parts, "COUNT") if "COUNT" in parts else None)


def _split(text: str) -> dict[str, str]:
    if len(text) > LONGEST:
        raise Malformed(f"is longer than {LONGEST} characters")
    if not text.isascii() or any(mark.isspace() for mark in text.strip()):
        raise Malformed("is one line such as FREQ=WEEKLY;BYDAY=MO; what DTSTART says belongs in starts_at")
    parts: dict[str, str] = {}
    for part in text.strip().upper().removeprefix("RRULE:").removesuffix(";").split(";"):
        name, equals, value = part.partition("=")
        if not equals or not value:
            raise Malformed(f"has {part or 'nothing'!r} where a part such as FREQ=WEEKLY should be")
        if name not in PARTS:
            raise Malformed(f"has a part {name}; those known are {', '.join(PARTS)}")
        if name in parts:
            raise Malformed(f"has two parts {name}")
        parts[name] = value
    if {"UNTIL", "COUNT"} <= parts.keys():
        raise Malformed("has both UNTIL and COUNT; one of them ends a rule")
    return parts


def _pattern(parts: dict[str, str], start: int) -> Pattern:
    freq = parts.get("FREQ", "")
    if freq not in list(Freq):
        raise Malformed(f"must have a FREQ out of {', '.join(Freq)}")
    if parts.get("WKST", "MO") not in WEEKDAYS:
        raise Malformed(f"WKST is a weekday out of {', '.join(WEEKDAYS)}")
    pattern = Pattern(
        Freq(freq),
        start,
        interval=_number(parts, "INTERVAL") if "INTERVAL" in parts else 1,
        months=_numbers(parts, "BYMONTH", 1, 12),
        dates=_numbers(parts, "BYMONTHDAY", -31, 31),
        weekdays=_weekdays(parts),
        positions=_numbers(parts, "BYSETPOS", -366, 366),
        week_start=WEEKDAYS[parts.get("WKST", "MO")],
    )
    _check(pattern)
    return _plain(pattern) if pattern.freq in (Freq.DAILY, Freq.WEEKLY) else pattern


def _plain(pattern: Pattern) -> Pattern:
    """Return the pattern of days or weeks without parts that rule nothing out, since those cost time."""
    months = frozenset[int]() if len(pattern.months) == 12 else pattern.months
    free = pattern.freq is Freq.DAILY and len(pattern.weekdays) == 7
    return replace(pattern, months=months, weekdays=frozenset() if free else pattern.weekdays, _found={})


def _check(pattern: Pattern) -> None:
    """Refuse what RFC 5545 forbids."""
    if pattern.dates and pattern.freq is Freq.WEEKLY:
        raise Malformed("cannot have BYMONTHDAY with FREQ=WEEKLY")
    if pattern.freq in (Freq.DAILY, Freq.WEEKLY) and any(each.nth for each in pattern.weekdays):
        raise Malformed(f"cannot have a number before a weekday with FREQ={pattern.freq}")
    if pattern.positions and not (pattern.months or pattern.dates or pattern.weekdays):
        raise Malformed("cannot have BYSETPOS alone; it chooses among what another BY part names")


def _defaulted(pattern: Pattern, month: int, date: int) -> Pattern:
    """Return the pattern with what the start says where the rule says nothing."""
    if pattern.weekdays or pattern.dates or pattern.freq is Freq.DAILY:
        return pattern
    if pattern.freq is Freq.WEEKLY:
        return replace(pattern, weekdays=frozenset({ByDay(weekday_of(pattern.start))}), _found={})
    months = pattern.months or frozenset({month}) if pattern.freq is Freq.YEARLY else pattern.months
    return replace(pattern, months=months, dates=frozenset({date}), _found={})


def _bounded(rule: Rrule, count: int | None) -> Rrule:
    """Return the rule with its last date, once it is known to have a first."""
    dates = list(islice(rule.readings(rule.pattern.start * DAY + rule.time), count or 1))
    if not dates:
        raise Refused("never matches from starts_at on")
    return replace(rule, until=dates[-1]) if count and len(dates) == count else rule


def _until(text: str | None, zone: ZoneInfo) -> int:
    if text is None:
        return (LAST_DAY + 1) * DAY
    parts = UNTIL.fullmatch(text)
    try:
        numbers = [int(part) for part in parts.groups()[:6] if part] if parts else []
        until = datetime(*numbers)  # type: ignore[arg-type] # noqa: DTZ001 - it is local
    except (TypeError, ValueError):
        raise Malformed("UNTIL is a date and time such as 20271231T090000Z") from None
    if not FIRST_YEAR <= until.year <= LAST_YEAR:
        raise Refused(f"UNTIL is not within the years {FIRST_YEAR} to {LAST_YEAR}")
    if parts and parts["utc"]:
        until = until.replace(tzinfo=UTC).astimezone(zone)
    second = 3600 * until.hour + 60 * until.minute + until.second
    return day_of(until) * DAY + (second if len(numbers) > 3 else DAY - 1)


def _number(parts: dict[str, str], name: str) -> int:
    most = MOST_COUNTED if name == "COUNT" else 10_000_000
    if not NUMBER.fullmatch(parts[name]) or not 1 <= int(parts[name]) <= most:
        raise Malformed(f"{name} is a number from 1 to {most}")
    return int(parts[name])


def _numbers(parts: dict[str, str], name: str, low: int, high: int) -> frozenset[int]:
    items = parts[name].split(",") if name in parts else []
    if not all(SIGNED.fullmatch(item) and low <= int(item) <= high and int(item) for item in items):
        raise Malformed(f"{name} is a list of numbers from {low} to {high} without 0, with commas")
    return frozenset(int(item) for item in items)


def _weekdays(parts: dict[str, str]) -> frozenset[ByDay]:
    found = [BYDAY.fullmatch(item) for item in parts["BYDAY"].split(",")] if "BYDAY" in parts else []
    if not all(each and (each["nth"] is None or 1 <= abs(int(each["nth"])) <= 53) for each in found):
        raise Malformed("BYDAY is a list of weekdays such as MO,-1FR, with commas")
    return frozenset(ByDay(WEEKDAYS[each["weekday"]], int(each["nth"] or 0)) for each in found if each)
