"""Next slots for each CPU second: `30 2 * * *` in Europe/Berlin, beside three other libraries.

`walked` goes from slot to slot; `asked` calls anew for each slot with nothing but the instant before, as planners do.
"""

from collections import deque
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import islice

from apscheduler.triggers.cron import CronTrigger  # type: ignore[import-untyped]
from croniter import croniter
from cronsim import CronSim

from benchmarks.rows import Row, compared, per_cpu_second
from onthedot.rules.cron import read_cron
from onthedot.rules.slots import Timetable, slots
from onthedot.rules.zones import find

EXPRESSION, ZONE = "30 2 * * *", "Europe/Berlin"
START, END = datetime(2027, 1, 1, tzinfo=UTC), datetime(2047, 1, 1, tzinfo=UTC)
SLOTS, ROUNDS = 3_000, 7


def rows() -> list[Row]:
    """Let each take its turn, several times."""
    others = {"cronsim": _rate(_cronsim), "croniter": _rate(_croniter), "apscheduler": _rate(_apscheduler)}
    walked = compared("next-slot, walked", "slots/CPU s", ROUNDS, _rate(_walked), **others)
    return walked + compared("next-slot, asked", "slots/CPU s", ROUNDS, _rate(_asked), **others)


def _rate(way: Callable[[], Iterator[datetime]]) -> Callable[[], float]:
    return lambda: per_cpu_second(SLOTS, lambda: deque(islice(way(), SLOTS), maxlen=0))


def _timetable() -> Timetable:
    zone = find(ZONE)
    assert zone, "the pinned database has it"
    return Timetable(read_cron(EXPRESSION), zone)


def _walked() -> Iterator[datetime]:
    return (slot.instant for slot in slots(_timetable(), START, END))


def _asked() -> Iterator[datetime]:
    timetable, after = _timetable(), START
    while True:
        after = next(slots(timetable, after, END)).instant
        yield after


def _cronsim() -> Iterator[datetime]:
    return CronSim(EXPRESSION, START.astimezone(_timetable().zone))


def _croniter() -> Iterator[datetime]:
    found = croniter(EXPRESSION, START.astimezone(_timetable().zone))
    while True:
        yield found.get_next(datetime)


def _apscheduler() -> Iterator[datetime]:
    trigger = CronTrigger.from_crontab(EXPRESSION, timezone=_timetable().zone)
    before, now = None, START
    while True:
        before = now = trigger.get_next_fire_time(before, now)
        yield before
