"""Next slots a second on one core: `30 2 * * *` in Europe/Berlin beside three other libraries.

`python -m benchmarks.next_slot` prints one line of JSON: the medians of rounds in which each takes its turn. `walked`
goes from slot to slot; `asked` calls anew for each slot with nothing but the instant before, as a planner does.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import islice
from statistics import median

from apscheduler.triggers.cron import CronTrigger  # type: ignore[import-untyped]
from croniter import croniter
from cronsim import CronSim

from onthedot.rules.cron import read_cron
from onthedot.rules.slots import Timetable, slots
from onthedot.rules.zones import find

EXPRESSION, ZONE = "30 2 * * *", "Europe/Berlin"
START, END = datetime(2027, 1, 1, tzinfo=UTC), datetime(2047, 1, 1, tzinfo=UTC)
SLOTS, ROUNDS = 3_000, 7


def main() -> None:
    """Let each take its turn, several times, and print the medians."""
    ways = {"walked": _walked, "asked": _asked, "cronsim": _cronsim, "croniter": _croniter, "apscheduler": _apscheduler}
    for way in ways.values():
        _rate(way)
    rates = {name: [0.0] * ROUNDS for name in ways}
    for turn in range(ROUNDS):
        for name, way in ways.items():
            rates[name][turn] = _rate(way)
    medians = {name: round(median(each)) for name, each in rates.items()}
    sys.stdout.write(json.dumps({"name": "next_slot", "unit": "slots/s", **medians}) + "\n")


def _rate(way: Callable[[], Iterator[datetime]]) -> float:
    started = time.process_time()
    count = sum(1 for _ in islice(way(), SLOTS))
    assert count == SLOTS, "each gives as many as it is asked for"
    return SLOTS / (time.process_time() - started)


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


if __name__ == "__main__":
    main()
