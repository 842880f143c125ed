"""The dates of an RFC 5545 recurrence, walked from frame to frame: days, weeks, months or years from the start on.

A frame holds the dates that may match together, so that BYSETPOS has something to count. What a month or a year holds
depends on its shape alone and is found once for each shape.

Source: RFC 5545, section 3.3.10 (read 2026-11-29).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from onthedot.rules.calendar import (
    BY_PARTS,
    LAST_DAY,
    LAST_MONTH,
    LAST_YEAR,
    Shape,
    date_of,
    first_of,
    month_of,
    shape_of,
    walk_months,
    weekday_of,
)

WIDE = 7
"""Units: days. From here on, few days of a month are in the rhythm, and only those are looked at."""


class Freq(StrEnum):
    """How long a frame is."""

    DAILY = "DAILY"
    WEEKLY = "WEEKLY"
    MONTHLY = "MONTHLY"
    YEARLY = "YEARLY"


@dataclass(frozen=True, slots=True)
class ByDay:
    """A weekday, Monday being 0; with `nth`, only the nth of its month or year, from the end when negative."""

    weekday: int
    nth: int = 0


@dataclass(frozen=True, slots=True)
class Pattern:
    """Which dates recur from `start` on. Empty sets say nothing; `week_start` is a weekday, Monday being 0."""

    freq: Freq
    start: int
    interval: int = 1
    months: frozenset[int] = frozenset()
    dates: frozenset[int] = frozenset()
    weekdays: frozenset[ByDay] = frozenset()
    positions: frozenset[int] = frozenset()
    week_start: int = 0
    _found: dict[object, tuple[int, ...]] = field(default_factory=dict, compare=False, repr=False)

    def days(self, day: int) -> Iterator[int]:
        """Return the dates that recur, from this one on. Order: by date."""
        low = max(day, self.start)
        if low > LAST_DAY:
            return iter(())
        frames: dict[Freq, Callable[[int], Iterable[int]]] = {
            Freq.DAILY: self._daily,
            Freq.WEEKLY: self._weekly,
            Freq.MONTHLY: self._monthly,
            Freq.YEARLY: self._yearly,
        }
        return (found for found in frames[self.freq](low) if found >= low)

    def _daily(self, low: int) -> Iterable[int]:
        """Each day is a frame of its own, with one position."""
        if self.positions and self.positions.isdisjoint({1, -1}):
            return ()
        if not (self.months or self.dates or self.weekdays):
            return range(self._aligned(self.start, low, 1), LAST_DAY + 1, self.interval)
        if self.interval < WIDE:
            return (day for day in walk_months(self._in_month, low) if (day - self.start) % self.interval == 0)
        return self._wide(low)

    def _wide(self, low: int) -> Iterator[int]:
        for month in range(month_of(low), LAST_MONTH + 1):
            before, numbers = first_of(month) - 1, self._in_month(shape_of(month))
            if numbers:
                first = before + 1 + (self.start - before - 1) % self.interval
                for day in range(first, before + numbers[-1] + 1, self.interval):
                    if day - before in numbers:
                        yield day

    def _weekly(self, low: int) -> Iterator[int]:
        week = sorted((each.weekday - self.week_start) % 7 for each in self.weekdays)
        if not _chosen(range(len(week)), self.positions):
            return
        for start in self._weeks(low):
            yield from _chosen([start + day for day in week if self._has_month(start + day)], self.positions)

    def _weeks(self, low: int) -> Iterator[int]:
        """Return the first days of the weeks that reach into a month of the pattern; others are jumped over."""
        first, step = self.start - (weekday_of(self.start) - self.week_start) % 7, 7 * self.interval
        start = self._aligned(first, low, 7)
        if not self.months:
            yield from range(start, LAST_DAY + 1, step)
        for month in range(month_of(low), LAST_MONTH + 1) if self.months else ():
            if month % 12 + 1 in self.months:
                start = max(start, first - (first - first_of(month) + 6) // step * step)
                while start < first_of(month + 1):
                    yield start
                    start += step

    def _has_month(self, day: int) -> bool:
        return not self.months or date_of(day).month in self.months

    def _monthly(self, low: int) -> Iterator[int]:
        for month in range(self._aligned(month_of(self.start), month_of(low), 1), LAST_MONTH + 1, self.interval):
            first = first_of(month)
            for number in self._in_month(BY_PARTS[month % 12 + 1, first_of(month + 1) - first, weekday_of(first)]):
                yield first + number - 1

    def _yearly(self, low: int) -> Iterator[int]:
        year = self._aligned(month_of(self.start) // 12, month_of(low) // 12, 1)
        for each in range(year, LAST_YEAR + 1, self.interval):
            first = first_of(12 * each)
            for number in self._in_year(each, first):
                yield first + number

    def _aligned(self, first: int, low: int, unit: int) -> int:
        """Return the last frame of the rhythm that began at `first` that is not after `low`."""
        return first + (low - first) // (unit * self.interval) * unit * self.interval

    def _in_month(self, shape: Shape) -> tuple[int, ...]:
        """Return the numbers of a month's days."""
        if shape not in self._found:
            days = self._match(shape, within=None)
            self._found[shape] = tuple(_chosen(days, self.positions) if self.freq is Freq.MONTHLY else days)
        return self._found[shape]

    def _in_year(self, year: int, first: int) -> tuple[int, ...]:
        """Return the days of a year, counted from 0."""
        length = first_of(12 * year + 12) - first
        key = (length, weekday_of(first))
        if key not in self._found:
            days = [
                first_of(month) - first + number - 1
                for month in range(12 * year, 12 * year + 12)
                for number in self._match(shape_of(month), (first_of(month) - first, length))
            ]
            self._found[key] = tuple(_chosen(days, self.positions))
        return self._found[key]

    def _match(self, shape: Shape, within: tuple[int, int] | None) -> list[int]:
        """Return the numbers of a month's days that no part rules out; `within`: days before it, and in its year."""
        if self.months and shape.month not in self.months:
            return []
        by_year = within if within and not self.months else None
        return [
            day
            for day in range(1, shape.length + 1)
            if (not self.dates or day in self.dates or day - shape.length - 1 in self.dates)
            and (not self.weekdays or self._has_weekday(day, shape, by_year))
        ]

    def _has_weekday(self, day: int, shape: Shape, within: tuple[int, int] | None) -> bool:
        before, length = within or (0, shape.length)
        weekday, number = shape.weekday_of(day), before + day
        nth, nth_last = (number - 1) // 7 + 1, (number - length - 1) // 7
        return not self.weekdays.isdisjoint({ByDay(weekday), ByDay(weekday, nth), ByDay(weekday, nth_last)})


def _chosen(days: Sequence[int], positions: frozenset[int]) -> list[int]:
    """Return the days of a frame at these positions, which count from 1, or from the end when negative."""
    if not positions:
        return list(days)
    count = len(days)
    return [day for place, day in enumerate(days, 1) if place in positions or place - count - 1 in positions]
