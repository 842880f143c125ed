"""One field of a cron expression: its grammar, and the values that it names.

    field = item {"," item}        item = ( "*" | value [ "-" value ] ) [ "/" step ]  |  mark

A mark names a day by what its month looks like: `L`, `LW`, `15W` among the days of the month, `5L`, `MON#2` among those
of the week. Ranges are expanded on 0 to 7 first, and 7 becomes Sunday last, so that 5-7 is no empty range.
"""

import re
from dataclasses import dataclass, field
from enum import StrEnum

from onthedot.rules.calendar import Shape
from onthedot.rules.inputs import Malformed

ITEM = re.compile(r"(?:(?P<star>\*)|(?P<first>[A-Z0-9]+)(?:-(?P<last>[A-Z0-9]+))?)(?:/(?P<step>[0-9]+))?")
NEAREST = re.compile(r"(?P<number>[0-9]+)W")
LAST_OF = re.compile(r"(?P<weekday>[A-Z0-9]+)L")
NTH = re.compile(r"(?P<weekday>[A-Z0-9]+)#(?P<nth>[1-5])")
SATURDAY, SUNDAY = 5, 6


class Kind(StrEnum):
    """How a mark finds its day."""

    LAST = "L"  # the last of the month
    LAST_WORKDAY = "LW"  # the last from Monday to Friday
    NEAREST = "W"  # the one from Monday to Friday that is nearest to a date, in the same month
    LAST_OF = "nL"  # the last such weekday of the month
    NTH = "n#k"  # the k-th such weekday of the month


@dataclass(frozen=True, slots=True)
class Mark:
    """A day that depends on the month; at most one in each. `value` is a date or a weekday, Monday being 0."""

    kind: Kind
    value: int = 0
    nth: int = 0

    def day_in(self, shape: Shape) -> int | None:
        """Return the day's number, or `None` when this month has no such day."""
        match self.kind:
            case Kind.LAST:
                return shape.length
            case Kind.LAST_WORKDAY:
                return shape.length - max(0, shape.weekday_of(shape.length) - SATURDAY + 1)
            case Kind.NEAREST:
                return _nearest(self.value, shape)
            case Kind.LAST_OF:
                return shape.length - (shape.weekday_of(shape.length) - self.value) % 7
            case Kind.NTH:
                day = 1 + (self.value - shape.weekday) % 7 + 7 * (self.nth - 1)
                return day if day <= shape.length else None


@dataclass(frozen=True, slots=True)
class Form:
    """What a field may hold."""

    name: str
    low: int
    high: int
    names: dict[str, int] = field(default_factory=dict)

    def value(self, text: str) -> int:
        """Return what a number or a name means.

        Raises: Malformed.
        """
        if text in self.names:
            return self.names[text]
        if not text.isdigit():
            raise Malformed(f"{self.name}: {text} is neither a number nor a name that it has")
        if len(text) > 9 or not self.low <= int(text) <= self.high:
            raise Malformed(f"{self.name}: {text} is not within {self.low} to {self.high}")
        return int(text)


@dataclass(frozen=True, slots=True)
class Field:
    """What a field says. `starred`: it begins with `*`, which decides how both day fields go together."""

    values: frozenset[int]
    marks: tuple[Mark, ...]
    starred: bool
    warnings: tuple[str, ...]


def _numbered(names: str, first: int) -> dict[str, int]:
    return {name: number for number, name in enumerate(names.split(), first)}


MINUTE, HOUR, DATE = Form("minute", 0, 59), Form("hour", 0, 23), Form("day of month", 1, 31)
MONTH = Form("month", 1, 12, _numbered("JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC", 1))
WEEKDAY = Form("day of week", 0, 7, _numbered("SUN MON TUE WED THU FRI SAT", 0))


def read_field(text: str, form: Form) -> Field:
    """Return what a field says.

    Raises: Malformed.
    """
    values, marks, warnings = set[int](), list[Mark](), list[str]()
    for item in text.split(","):
        mark = _mark(item, form)
        if mark:
            marks.append(mark)
            continue
        span = _span(item, form)
        values |= set(span)
        if len(span) == 1 < span.step:
            warnings.append(
                f"{form.name}: {item} means {span[0]} only, since its step reaches beyond the field or range"
            )
    return Field(frozenset(values), tuple(marks), text.startswith("*"), tuple(warnings))


def _span(item: str, form: Form) -> range:
    """Return the values of an item."""
    parts = ITEM.fullmatch(item)
    if not parts:
        raise Malformed(f"{form.name}: {_wrong(item)}")
    step = int((parts["step"] or "1")[:9])
    if not step:
        raise Malformed(f"{form.name}: {item} has a step of 0; the least is 1")
    if parts["star"]:
        return range(form.low, form.high + 1, step)
    first = form.value(parts["first"])
    if parts["last"]:
        return range(first, _end(item, first, parts["last"], form) + 1, step)
    return range(first, form.high + 1, step) if parts["step"] else range(first, first + 1)


def _end(item: str, first: int, text: str, form: Form) -> int:
    """Return the end of a range; `SUN` ends a week that began after it."""
    last = 7 if form is WEEKDAY and text == "SUN" and first > 0 else form.value(text)
    if last < first:
        hint = "; Sunday at the end of a range is 7" if form is WEEKDAY and last == 0 else ""
        raise Malformed(f"{form.name}: {item} goes backwards{hint}; write two ranges with a comma between them")
    return last


def _mark(item: str, form: Form) -> Mark | None:
    if form is DATE:
        return _mark_of_date(item)
    return _mark_of_weekday(item) if form is WEEKDAY else None


def _mark_of_date(item: str) -> Mark | None:
    if item in (Kind.LAST, Kind.LAST_WORKDAY):
        return Mark(Kind(item))
    nearest = NEAREST.fullmatch(item)
    return Mark(Kind.NEAREST, DATE.value(nearest["number"])) if nearest else None


def _mark_of_weekday(item: str) -> Mark | None:
    if last := LAST_OF.fullmatch(item):
        return Mark(Kind.LAST_OF, from_monday(WEEKDAY.value(last["weekday"])))
    if nth := NTH.fullmatch(item):
        return Mark(Kind.NTH, from_monday(WEEKDAY.value(nth["weekday"])), int(nth["nth"]))
    return None


def from_monday(weekday: int) -> int:
    """Return cron's weekday, Sunday being 0 or 7, counted from Monday, which is 0."""
    return (weekday - 1) % 7


def _nearest(number: int, shape: Shape) -> int | None:
    if number > shape.length:
        return None
    match shape.weekday_of(number):
        case 5:
            return number - 1 if number > 1 else number + 2
        case 6:
            return number + 1 if number < shape.length else number - 2
        case _:
            return number


def _wrong(item: str) -> str:
    if not item:
        return "a value is missing beside a comma, or at an end"
    if "?" in item:
        return "? is of another cron; write * for any day"
    if item.count("-") > 1:
        return f"{item} is a double range; a range has one start and one end"
    if "#" in item:
        return f"{item} is no n#k: the k-th weekday n of a month, such as MON#2, k from 1 to 5, in the day of week only"
    return f"{item} is not *, a value, a range or a step such as */15, nor a mark that this field takes"
