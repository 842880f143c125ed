"""What the next clock changes will do to a timetable, told before they do it, with a time that none of them touches.

Asked are the zone's changes, one after the other, for readings inside the gap or the repeat: no slot is walked, so a
timetable of every minute costs no more than one of every year. A wildcard or a rhythm goes by instants, and is not
touched.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import takewhile

from onthedot.rules.calendar import DAY, date_of
from onthedot.rules.cron import Cron
from onthedot.rules.every import Every
from onthedot.rules.rrule import Rrule
from onthedot.rules.slots import EPOCH, MOST_MADE_UP, SECOND, Timetable, readings
from onthedot.rules.stretches import Change, changes_between
from onthedot.rules.zones import SlotsOnGap, SlotsOnRepeat

YEARS = 5
HOUR = 3600


@dataclass(frozen=True, slots=True)
class Touch:
    """A date on which a change touches a timetable, and the times of day that it touches. Units: seconds."""

    date: date
    change: Change
    times: tuple[int, ...]

    @property
    def is_gap(self) -> bool:
        """Tell whether the times do not exist; else they come twice."""
        return self.change.after > self.change.before


def warnings(timetable: Timetable, now: datetime) -> list[str]:
    """Return what the person who made the timetable should know."""
    expression = timetable.expression
    own = list(expression.warnings) if isinstance(expression, Cron) else []
    found = touches(timetable, now)
    safer = _safer(timetable, [time for touch in found for time in touch.times], now)
    for same in ([touch for touch in found if touch.is_gap], [touch for touch in found if not touch.is_gap]):
        if same:
            own.append(_told(timetable, same) + safer)
    return own


def touches(timetable: Timetable, now: datetime) -> list[Touch]:
    """Return where the clock changes of the next five years touch a timetable of fixed times. Order: by date."""
    rule = timetable.expression
    if isinstance(rule, Every) or (isinstance(rule, Cron) and rule.wildcard):
        return []
    asked = ((change, _touched(timetable, rule, change)) for change in _changes(timetable, now))
    return [
        Touch(date_of(found[0] // DAY), change, tuple(sorted({reading % DAY for reading in found})))
        for change, found in asked
        if found
    ]


def _changes(timetable: Timetable, now: datetime) -> Iterator[Change]:
    first = max(now, timetable.starts_at or now)
    last = min(_years_after(now), timetable.ends_at or _years_after(now))
    for change in changes_between(timetable.zone, first.year - 1, last.year):
        if first < EPOCH + change.at * SECOND < last:
            yield change


def _touched(timetable: Timetable, rule: Cron | Rrule, change: Change) -> list[int]:
    low, high = _affected(change)
    return list(takewhile(lambda reading: reading < high, readings(timetable, rule, low)))


def _affected(change: Change) -> tuple[int, int]:
    """Return the readings that do not exist or come twice, the second excluded."""
    return change.at + min(change.before, change.after), change.at + max(change.before, change.after)


def _told(timetable: Timetable, same: Sequence[Touch]) -> str:
    gap = same[0].is_gap
    times = sorted({time for touch in same for time in touch.times})
    what = _does(len(times), "not exist") if gap else ("comes twice" if len(times) == 1 else "come twice")
    dates = ", ".join(str(touch.date) for touch in same)
    result = _at_gap(timetable.on_gap, same) if gap else REPEATS[timetable.on_repeat]
    return f"{_clocks(times)} {what} in {timetable.zone.key} on {dates}; {result}."


REPEATS = {
    SlotsOnRepeat.FIRST: "the slot is then at the first (on_repeat: first)",
    SlotsOnRepeat.LAST: "the slot is then at the second (on_repeat: last)",
    SlotsOnRepeat.BOTH: "there is a slot at each (on_repeat: both)",
}
GAPS = {
    SlotsOnGap.AFTER: "the slot is then at the first instant after the gap (on_gap: after)",
    SlotsOnGap.SHIFT: "the slot is then later by the length of the gap (on_gap: shift)",
    SlotsOnGap.SKIP: "there is then no slot (on_gap: skip)",
}


def _at_gap(on_gap: SlotsOnGap, same: Sequence[Touch]) -> str:
    if on_gap is SlotsOnGap.AFTER and all(touch.change.after - touch.change.before > MOST_MADE_UP for touch in same):
        return "there is then no slot, since a jump of more than three hours is not made up (on_gap: after)"
    return GAPS[on_gap]


def _safer(timetable: Timetable, touched: Sequence[int], now: datetime) -> str:
    """Return a sentence that names the same times some whole hours away, on the same date, never touched."""
    changes = [_affected(change) for change in _changes(timetable, now)]
    taken = timetable.expression.times if isinstance(timetable.expression, Cron) else ()
    for hours in sorted(range(-23, 24), key=lambda each: (abs(each), -each)):
        moved = [time + hours * HOUR for time in sorted(set(touched))]
        if touched and all(_is_safe(time, changes) and time not in taken for time in moved):
            return f" A safer time is {_clocks(moved)}."
    return ""


def _is_safe(time: int, changes: Sequence[tuple[int, int]]) -> bool:
    return 0 <= time < DAY and all((time - low) % DAY >= high - low for low, high in changes)


def _clocks(times: Sequence[int]) -> str:
    shown = [f"{time // HOUR:02}:{time // 60 % 60:02}" for time in times]
    return ", ".join(shown) if len(shown) <= 4 else f"{shown[0]} to {shown[-1]}"


def _does(count: int, what: str) -> str:
    return f"{'does' if count == 1 else 'do'} {what}"


def _years_after(now: datetime) -> datetime:
    try:
        return now.replace(year=now.year + YEARS)
    except ValueError:
        return now.replace(year=now.year + YEARS, month=3, day=1)
