"""What an outage would do to a timetable: which slots run, when, and which are skipped; no clock is read.

    down_from                          down_to
    |--- slots pass, none planned ------|--- judged together, then each slot at its own time
                  |------------- the slots that are shown -------------|

Slots that the outage took are judged together whether they are shown or not, since each counts for the limit and the
pace of the others. Planning ahead is left aside: it would let the first minutes of an outage run on time.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice, takewhile

from onthedot.rules.inputs import Refused
from onthedot.rules.missed import Judged, MissedRule, Planned, Skipped, judge, planned, planned_from
from onthedot.rules.slots import Timetable

MOST_SLOTS = 1_000
"""So many are shown."""
MOST_PASSED = 100_000
"""So many are judged for an outage: over two months of one for each minute, within a second."""


@dataclass(frozen=True, slots=True)
class Outage:
    """A time in which nothing is planned: after one instant, until another."""

    down_from: datetime
    down_to: datetime

    def took(self, planned: Planned) -> bool:
        """Tell whether a slot passed meanwhile, and its job could have started."""
        return self.down_from < planned.slot.instant and planned.run_at <= self.down_to


@dataclass(frozen=True, slots=True)
class Preview:
    """Some slots of a timetable, when those of them run that do, and those that do not. Order: by slot."""

    slots: list[Planned]
    runs: list[Planned]
    skipped: list[Skipped]


def shown_between(timetable: Timetable, start: datetime, end: datetime, most: int = MOST_SLOTS) -> list[Planned]:
    """Return the slots from one instant on, before another.

    Raises: Refused when there are more than `most`; no further slot is looked for.
    """
    before_end = takewhile(lambda planned: planned.slot.instant < end, planned_from(timetable, start))
    return list(_at_most(most, before_end))


def first_shown(timetable: Timetable, start: datetime, count: int, most: int = MOST_SLOTS) -> list[Planned]:
    """Return the first so many slots from an instant on; fewer when the timetable ends.

    Raises: Refused when there are more than `most`; no further slot is looked for.
    """
    return list(islice(_at_most(most, planned_from(timetable, start)), count))


def preview(timetable: Timetable, rule: MissedRule, shown: Sequence[Planned], outage: Outage | None = None) -> Preview:
    """Return what becomes of neighbouring slots when nothing is planned during an outage.

    Raises: Refused when the outage takes more than `MOST_PASSED` slots.
    """
    judged = _judge(timetable, rule, outage) if outage else Judged([], [])
    runs_at = {run.slot.instant: run.run_at for run in judged.runs}
    runs = [
        Planned(each.slot, runs_at.get(each.slot.instant, each.run_at))
        for each in shown
        if each.slot.instant in runs_at or not (outage and outage.took(each))
    ]
    return Preview(list(shown), runs, [part for whole in judged.skipped for part in _cut(whole, shown)])


def _judge(timetable: Timetable, rule: MissedRule, outage: Outage) -> Judged:
    taken = takewhile(outage.took, planned(timetable, outage.down_from, outage.down_to))
    return judge(rule, _at_most(MOST_PASSED, taken), outage.down_to)


def _cut(whole: Skipped, shown: Sequence[Planned]) -> Iterator[Skipped]:
    """Return the part of a range that is shown, if there is any."""
    inside = [each.slot.instant for each in shown if whole.first <= each.slot.instant <= whole.last]
    if inside:
        yield Skipped(inside[0], inside[-1], len(inside), whole.reason)


def _at_most(most: int, found: Iterator[Planned]) -> Iterator[Planned]:
    for number, each in enumerate(found):
        if number == most:
            raise Refused(f"has over {most:,} slots")
        yield each
