"""The slots of a schedule: which instants its expression, its zone and its rules for clock changes mean.

    expression --readings--> local times --zone--> instants
                               |             |
                               |             +-- does not exist: on_gap      +-- comes twice: on_repeat
                               +-- on an excluded date: none

Time is walked from stretch to stretch of constant offset (see `stretches`). Within one, a local time is an instant and
a constant, so slots are in order by themselves; what fell into the gap before it is added at its beginning. Slots are a
set of instants: two local times that meet are one slot. Where a walk begins changes nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from heapq import merge
from itertools import islice
from zoneinfo import ZoneInfo

from onthedot.rules.calendar import DAY, FIRST_DAY, LAST_DAY, date_of, day_of
from onthedot.rules.cron import Cron
from onthedot.rules.every import Every
from onthedot.rules.instants import MILLISECOND, shown_locally
from onthedot.rules.rrule import Rrule
from onthedot.rules.stretches import Stretch, stretch_at
from onthedot.rules.zones import SlotsOnGap, SlotsOnRepeat

SECOND = timedelta(seconds=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST, LAST = FIRST_DAY * DAY, LAST_DAY * DAY
"""Between these seconds there are slots."""
MOST_MADE_UP = 3 * 3600
"""A longer jump of the clocks is not made up: a skipped date is no morning whose work is wanted at night."""


@dataclass(frozen=True, slots=True)
class Timetable:
    """What decides a schedule's slots: those from `starts_at` on, before `ends_at`."""

    expression: Cron | Every | Rrule
    zone: ZoneInfo
    on_gap: SlotsOnGap = SlotsOnGap.AFTER
    on_repeat: SlotsOnRepeat = SlotsOnRepeat.FIRST
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    exclude: frozenset[date] = frozenset()
    spread: timedelta = timedelta(0)
    name: str = ""

    @property
    def by_local_time(self) -> bool:
        """Whether each slot stands for a local time; those of wildcards and rhythms are instants."""
        return not isinstance(self.expression, Every) and not _is_wildcard(self.expression)

    @property
    def gap(self) -> SlotsOnGap:
        """What becomes of a slot whose local time does not exist; wildcards are never made up."""
        return SlotsOnGap.SKIP if _is_wildcard(self.expression) else self.on_gap

    @property
    def repeat(self) -> SlotsOnRepeat:
        """What becomes of a slot whose local time comes twice; for a wildcard each counts."""
        return SlotsOnRepeat.BOTH if _is_wildcard(self.expression) else self.on_repeat


@dataclass(frozen=True, slots=True)
class Slot:
    """One slot. `fold` is 1 when its reading came before; `note` says what a clock change did to it.

    `meant` is the local time that it was made up for, where the clocks jumped over that; else it is what they show.
    """

    instant: datetime
    offset: timedelta
    fold: int = 0
    note: str | None = None
    meant: datetime | None = None

    @property
    def local(self) -> datetime:
        """What clocks in the zone show at this instant, without a zone."""
        return (self.instant + self.offset).replace(tzinfo=None)

    @property
    def local_text(self) -> str:
        """What clocks in the zone show, with their offset: `2027-03-28T03:00:00+02:00`."""
        return shown_locally(self.instant, self.offset)


def slots(timetable: Timetable, after: datetime, until: datetime) -> Iterator[Slot]:
    """Return the slots after one instant, up to another and with it. Order: by time, none twice."""
    return _between(timetable, _milliseconds(after), _milliseconds(until))


def slots_within(timetable: Timetable, start: datetime, end: datetime) -> Iterator[Slot]:
    """Return the slots from one instant on, before another. Order: by time, none twice."""
    return _between(timetable, _milliseconds(start) - 1, _milliseconds(end) - 1)


def next_slots(timetable: Timetable, after: datetime, count: int) -> list[Slot]:
    """Return the next slots after an instant; fewer when the timetable ends. Order: by time."""
    return list(islice(_between(timetable, _milliseconds(after), LAST * 1000), count))


def readings(timetable: Timetable, rule: Cron | Rrule, local: int) -> Iterator[int]:
    """Return the local times from this one on that are not on excluded dates. Units: seconds. Order: by time."""
    found = rule.readings(local)
    if not timetable.exclude:
        return found
    excluded = {day_of(when) for when in timetable.exclude}
    return (reading for reading in found if reading // DAY not in excluded)


def _between(timetable: Timetable, first: int, last: int) -> Iterator[Slot]:
    """Return the slots after one instant, up to another and with it. Units: milliseconds of UTC."""
    if timetable.starts_at:
        first = max(first, _milliseconds(timetable.starts_at) - 1)
    if timetable.ends_at:
        last = min(last, _milliseconds(timetable.ends_at) - 1)
    first, last = max(first, FIRST * 1000), min(last, LAST * 1000)
    if isinstance(timetable.expression, Every):
        return _elapsed(timetable, timetable.expression, first, last)
    return _walk(timetable, timetable.expression, first // 1000, last // 1000)


def _walk(timetable: Timetable, rule: Cron | Rrule, after: int, last: int) -> Iterator[Slot]:
    """Return the slots of a rule; stretches without any are jumped over. Units: seconds of UTC.

    A local time and its instant are less than a day apart, also where a gap is made up.
    """
    while after < last:
        stretch = stretch_at(timetable.zone, after + 1)
        yield from _in_stretch(timetable, rule, stretch, after, last)
        coming = next(readings(timetable, rule, stretch.end - DAY), None)
        if coming is None:
            return
        after = max(stretch.end - 1, coming - DAY - 1)


def _in_stretch(timetable: Timetable, rule: Cron | Rrule, stretch: Stretch, after: int, last: int) -> Iterator[Slot]:
    low, high = _range(stretch, timetable.repeat)
    low, high = max(low, after + 1 + stretch.offset), min(high, last + 1 + stretch.offset)
    made_up = _made_up(timetable, rule, stretch) if after < stretch.start + stretch.gap else []
    made_up = [slot for slot in made_up if after < _seconds(slot) <= last]
    regular = _regular(readings(timetable, rule, low), stretch, high)
    return _distinct(merge(made_up, regular, key=lambda slot: slot.instant)) if made_up else regular


def _range(stretch: Stretch, repeat: SlotsOnRepeat) -> tuple[int, int]:
    """Return the readings of this stretch that count, the second excluded."""
    low, high = stretch.start + stretch.offset, stretch.end + stretch.offset
    match repeat:
        case SlotsOnRepeat.FIRST:
            return max(low, stretch.start + stretch.before), high
        case SlotsOnRepeat.LAST:
            return low, min(high, stretch.end + stretch.following)
        case SlotsOnRepeat.BOTH:
            return low, high


def _regular(found: Iterator[int], stretch: Stretch, high: int) -> Iterator[Slot]:
    """Return the slots at readings that exist."""
    utc, offset = stretch.offset, timedelta(seconds=stretch.offset)
    second, first_of_two = stretch.start + stretch.before, stretch.end + stretch.following
    instant = datetime.fromtimestamp
    for reading in found:
        if reading >= high:
            return
        if second <= reading < first_of_two:
            yield Slot(instant(reading - utc, UTC), offset)
        else:
            yield _repeated(reading, stretch)


def _repeated(reading: int, stretch: Stretch) -> Slot:
    second = stretch.is_second(reading)
    note = f"{_clock(reading)} comes twice; this is the {'second' if second else 'first'}"
    return _slot(reading - stretch.offset, stretch, int(second), note)


def _made_up(timetable: Timetable, rule: Cron | Rrule, stretch: Stretch) -> list[Slot]:
    """Return the slots whose readings the clocks jumped over at the start of this stretch. Order: by time."""
    low, high = stretch.start + stretch.before, stretch.start + stretch.offset
    if timetable.gap is SlotsOnGap.SKIP or (timetable.gap is SlotsOnGap.AFTER and stretch.gap > MOST_MADE_UP):
        return []
    missing = list(_until(readings(timetable, rule, low), high))
    if timetable.gap is SlotsOnGap.SHIFT:
        return [_moved(at - stretch.before, [at], stretch) for at in missing]
    return [_moved(stretch.start, missing, stretch)] if missing else []


def _moved(instant: int, missing: list[int], stretch: Stretch) -> Slot:
    times = _clock(missing[0]) if len(missing) == 1 else f"{_clock(missing[0])} to {_clock(missing[-1])}"
    do = "does" if len(missing) == 1 else "do"
    note = f"{times} {do} not exist on {date_of(missing[0] // DAY)}; this is instead"
    return replace(_slot(instant, stretch, 0, note), meant=(EPOCH + missing[0] * SECOND).replace(tzinfo=None))


def _elapsed(timetable: Timetable, rule: Every, after: int, last: int) -> Iterator[Slot]:
    """Return the slots of a rhythm. Units: milliseconds of UTC. Excluded dates are jumped over, not stepped through."""
    excluded = {day_of(when) for when in timetable.exclude}
    while after < last:
        for instant in rule.instants(after):
            after = instant
            if instant > last:
                return
            stretch = stretch_at(timetable.zone, instant // 1000)
            reading = instant // 1000 + stretch.offset
            if reading // DAY in excluded:
                midnight = (reading // DAY + 1) * DAY - stretch.offset
                after = max(after, 1000 * min(midnight, stretch.end) - 1)
                break
            at = EPOCH + instant * MILLISECOND
            yield Slot(at, timedelta(seconds=stretch.offset), int(stretch.is_second(reading)))


def _distinct(ordered: Iterator[Slot]) -> Iterator[Slot]:
    last: datetime | None = None
    for slot in ordered:
        if slot.instant != last:
            yield slot
        last = slot.instant


def _until(found: Iterator[int], high: int) -> Iterator[int]:
    for reading in found:
        if reading >= high:
            return
        yield reading


def _slot(instant: int, stretch: Stretch, fold: int, note: str) -> Slot:
    return Slot(datetime.fromtimestamp(instant, UTC), timedelta(seconds=stretch.offset), fold, note)


def _clock(reading: int) -> str:
    second = reading % DAY
    return f"{second // 3600:02}:{second // 60 % 60:02}"


def _milliseconds(instant: datetime) -> int:
    return (instant - EPOCH) // MILLISECOND


def _seconds(slot: Slot) -> int:
    return (slot.instant - EPOCH) // SECOND


def _is_wildcard(expression: Cron | Every | Rrule) -> bool:
    return isinstance(expression, Cron) and expression.wildcard
