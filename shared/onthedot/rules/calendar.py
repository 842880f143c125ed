"""The calendar as plain numbers, so that walking it costs little and never overflows.

    day:    days since 1970-01-01               month:  12 * year + month - 1
    second: seconds since 1970-01-01T00:00:00, of UTC or of a local clock, as the name of the variable says

A month has one of 91 shapes: which month it is, how long, and the weekday of its first. Whatever a rule says of dates
it says of shapes, so an answer is found once for each, and a date that no shape has never comes.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date

DAY = 86_400
"""Units: seconds."""
FIRST_YEAR, LAST_YEAR = 3, 2299
"""Where walks begin and end. No time of a request is more than ten years ahead."""
EPOCH = date(1970, 1, 1).toordinal()
FIRST_DAY = date(FIRST_YEAR, 1, 1).toordinal() - EPOCH
LAST_DAY = date(LAST_YEAR, 12, 31).toordinal() - EPOCH
LAST_MONTH = 12 * LAST_YEAR + 11
LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


@dataclass(frozen=True, slots=True)
class Shape:
    """What a rule may ask of a month; weekdays are counted from Monday, which is 0."""

    month: int
    length: int
    weekday: int

    def weekday_of(self, number: int) -> int:
        """Return the weekday of the day with this number."""
        return (self.weekday + number - 1) % 7


SHAPES = tuple(
    Shape(month, length, weekday)
    for month, usual in enumerate(LENGTHS, 1)
    for length in ((28, 29) if month == 2 else (usual,))
    for weekday in range(7)
)
"""Every shape; each comes within any 400 years."""
BY_PARTS = {(shape.month, shape.length, shape.weekday): shape for shape in SHAPES}


def day_of(when: date) -> int:
    """Return the number of a date."""
    return when.toordinal() - EPOCH


def date_of(day: int) -> date:
    """Return the date of a number."""
    return date.fromordinal(day + EPOCH)


def weekday_of(day: int) -> int:
    """Return the weekday of a date, counted from Monday; 1970 began on a Thursday."""
    return (day + 3) % 7


def month_of(day: int) -> int:
    """Return the month that a date is in."""
    when = date_of(day)
    return 12 * when.year + when.month - 1


def first_of(month: int) -> int:
    """Return the first day of a month."""
    return date(month // 12, month % 12 + 1, 1).toordinal() - EPOCH


def shape_of(month: int) -> Shape:
    """Return the shape of a month."""
    first = first_of(month)
    return BY_PARTS[month % 12 + 1, first_of(month + 1) - first, weekday_of(first)]


def walk_months(days_in: Callable[[Shape], tuple[int, ...]], day: int) -> Iterator[int]:
    """Return the days, from this one on, whose numbers `days_in` gives for the shapes of their months.

    Order: by date.
    """
    month = month_of(day)
    start, first = first_of(month), first_of(month + 1)
    numbers = days_in(BY_PARTS[month % 12 + 1, first - start, weekday_of(start)])
    for number in numbers[bisect_right(numbers, day - start) :]:
        yield start + number - 1
    while month < LAST_MONTH:
        month, start = month + 1, first
        first = first_of(month + 1)
        for number in days_in(BY_PARTS[month % 12 + 1, first - start, weekday_of(start)]):
            yield start + number - 1
