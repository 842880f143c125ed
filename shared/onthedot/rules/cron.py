"""Cron expressions: five fields, minute, hour, day of month, month, day of week.

An expression whose minute or hour begins with `*` is a wildcard: it means every instant whose local reading matches.
Any other means times of a day: each comes once on each of its dates, whatever the clocks do (see `slots`).

Both day fields given: a date matches when either does; when one of them begins with `*`, both must (Vixie's rule).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from onthedot.rules.calendar import DAY, FIRST_DAY, LAST_DAY, SHAPES, Shape, walk_months
from onthedot.rules.fields import DATE, HOUR, MINUTE, MONTH, WEEKDAY, Field, from_monday, read_field
from onthedot.rules.inputs import Malformed, Refused

LONGEST = 512
KEPT = 1024
FIELDS = "minute, hour, day of month, month, day of week"
SHORTHANDS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}


@dataclass(frozen=True, slots=True)
class Cron:
    """A cron expression. `times` are its times of day in seconds; `warnings` are for the person who wrote it."""

    text: str
    wildcard: bool
    times: tuple[int, ...]
    months: frozenset[int]
    dates: Field
    weekdays: Field
    warnings: tuple[str, ...]
    _found: dict[Shape, tuple[int, ...]] = field(default_factory=dict, compare=False, repr=False)

    def readings(self, local: int) -> Iterator[int]:
        """Return the local times that match, from this one on. Units: seconds. Order: by time."""
        day, second = divmod(local, DAY)
        times = self.times
        for matched in self.days(day):
            start = matched * DAY
            for time in times:
                if time >= second or matched > day:
                    yield start + time

    def days(self, day: int) -> Iterator[int]:
        """Return the dates that match, from this one on. Order: by date."""
        return walk_months(self.days_in, max(day, FIRST_DAY)) if day <= LAST_DAY else iter(())

    def days_in(self, shape: Shape) -> tuple[int, ...]:
        """Return the numbers of the days that match in such a month."""
        if shape not in self._found:
            self._found[shape] = self._match(shape) if shape.month in self.months else ()
        return self._found[shape]

    def _match(self, shape: Shape) -> tuple[int, ...]:
        weekdays = {from_monday(value) for value in self.weekdays.values}
        every = range(1, shape.length + 1)
        by_date = {day for day in every if day in self.dates.values} | _marked(self.dates, shape)
        by_weekday = {day for day in every if shape.weekday_of(day) in weekdays} | _marked(self.weekdays, shape)
        both = self.dates.starred or self.weekdays.starred
        return tuple(sorted(by_date & by_weekday if both else by_date | by_weekday))


@lru_cache(KEPT)
def read_cron(text: str) -> Cron:
    """Return what an expression means.

    Raises: Malformed; Refused when no date matches.
    """
    texts = _split(text)
    minutes, hours, dates, months, weekdays = (
        read_field(part, form) for part, form in zip(texts, (MINUTE, HOUR, DATE, MONTH, WEEKDAY), strict=True)
    )
    cron = Cron(
        text=" ".join(texts),
        wildcard=minutes.starred or hours.starred,
        times=tuple(3600 * hour + 60 * minute for hour in sorted(hours.values) for minute in sorted(minutes.values)),
        months=months.values,
        dates=dates,
        weekdays=weekdays,
        warnings=tuple(warning for part in (minutes, hours, dates, months, weekdays) for warning in part.warnings),
    )
    if not any(cron.days_in(shape) for shape in SHAPES):
        raise Refused("never matches: none of its months has such a day")
    return cron


def _split(text: str) -> list[str]:
    """Return the five fields in capitals; what comes from other crons is refused by name."""
    if len(text) > LONGEST:
        raise Malformed(f"is longer than {LONGEST} characters")
    if not text.isascii() or any(not mark.isprintable() and mark != "\t" for mark in text):
        raise Malformed("holds a character that no cron expression has")
    parts = text.upper().split()
    foreign = _foreign(text.split())
    if foreign:
        raise Malformed(foreign)
    if len(parts) != 5:
        hint = " (there are no seconds and no years)" if len(parts) > 5 else ""
        raise Malformed(f"has {len(parts)} fields; it must have five: {FIELDS}{hint}")
    return parts


def _foreign(parts: list[str]) -> str | None:
    first = parts[0] if parts else ""
    if first.startswith("@"):
        instead = SHORTHANDS.get(first.lower())
        return f"{first} is no five fields; " + (f"write {instead}" if instead else f"write {FIELDS}, or use every")
    if "=" in first:
        return "holds a zone; it belongs in the field zone"
    if any(part.startswith("#") for part in parts):
        return "holds a comment; leave it out"
    return None


def _marked(days: Field, shape: Shape) -> set[int]:
    return {day for mark in days.marks if (day := mark.day_in(shape)) is not None}
