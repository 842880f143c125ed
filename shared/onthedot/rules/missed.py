"""Missed slots: those whose time passed before they became jobs, and what their owner wants done about them.

    passed, oldest first                                                        now
    |-- older than the window --|-- over the limit --|-- caught up --|-- late --|
             skipped                   skipped              runs         runs

What is late by no more than `grace` is not missed. All that passed are judged together, since "the newest" of a part is
not the newest of the whole. They may be hundreds of thousands, so they go by one at a time, and what is skipped is kept
as ranges. A slot that is skipped is always older than every slot that runs.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import groupby

from onthedot.rules.instants import MILLISECOND
from onthedot.rules.slots import Slot, Timetable, slots, slots_within
from onthedot.rules.spread import offset_of

EVER = datetime.max.replace(tzinfo=UTC)
OUTSIDE = "outside the catch-up window"
OVER_LIMIT = "over the catch-up limit"
NOT_LATEST = "not the latest"
MISSED = "missed"


class Missed(StrEnum):
    """What becomes of slots that were missed."""

    CATCH_UP = "catch_up"  # each runs, oldest first, at a rate
    LATEST = "latest"  # the newest of all that passed runs
    SKIP = "skip"  # none runs


@dataclass(frozen=True, slots=True)
class Planned:
    """A slot and when its job may start."""

    slot: Slot
    run_at: datetime


@dataclass(frozen=True, slots=True)
class Skipped:
    """Neighbouring slots that were skipped for one reason, from the first to the last and with it."""

    first: datetime
    last: datetime
    count: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedRule:
    """What the owner of a schedule says about missed slots. Units: `rate` is jobs a minute."""

    missed: Missed = Missed.CATCH_UP
    grace: timedelta = timedelta(seconds=60)
    window: timedelta = timedelta(days=7)
    limit: int = 100
    rate: int = 60

    @property
    def step(self) -> timedelta:
        """The least time between two jobs that are caught up."""
        return 60_000 // self.rate * MILLISECOND

    def is_late(self, planned: Planned, now: datetime) -> bool:
        """Tell whether a slot that passed is only late, not missed."""
        return now - planned.run_at <= self.grace

    def is_outside(self, planned: Planned, now: datetime) -> bool:
        """Tell whether a slot was missed too long ago to be made up."""
        return now - planned.run_at > max(self.grace, self.window)


@dataclass(frozen=True, slots=True)
class Judged:
    """What becomes of slots that passed: those that run, and when; and those before them, which do not."""

    runs: list[Planned]
    skipped: list[Skipped]


Verdicts = Iterator[tuple[Planned, str | None]]
"""Slots, each with why it is skipped, or `None` when it runs. Order: by time."""


def planned(timetable: Timetable, after: datetime, until: datetime) -> Iterator[Planned]:
    """Return the slots after one instant, up to another and with it, and when their jobs may start. Order: by both."""
    if not timetable.spread:
        return (Planned(slot, slot.instant) for slot in slots(timetable, after, until))
    return _spread(timetable, slots(timetable, after, EVER), until)


def planned_from(timetable: Timetable, start: datetime) -> Iterator[Planned]:
    """Return the slots from an instant on, and when their jobs may start. Order: by both."""
    return _spread(timetable, slots_within(timetable, start, EVER), EVER)


def judge(rule: MissedRule, passed: Iterable[Planned], now: datetime, paced_until: datetime | None = None) -> Judged:
    """Return what becomes of all slots without a job whose jobs could have started by now.

    `paced_until` is what `pace_end` returned for the jobs that were caught up before. Order: `passed` by time.
    """
    runs: list[Planned] = []
    skipped: list[Skipped] = []
    for reason, group in groupby(_verdicts(rule, passed, now), key=lambda verdict: verdict[1]):
        same = (each for each, _ in group)
        if reason is None:
            runs = _paced(rule, same, now, paced_until)
        else:
            skipped.append(_range(same, reason))
    return Judged(runs, skipped)


def pace_end(rule: MissedRule, runs: Sequence[Planned]) -> datetime | None:
    """Return before when no other job may be caught up after these runs; `None` when none of them sets a pace."""
    return runs[-1].run_at + rule.step if runs and rule.missed is Missed.CATCH_UP else None


def _spread(timetable: Timetable, found: Iterator[Slot], until: datetime) -> Iterator[Planned]:
    slot = next(found, None)
    while slot is not None and slot.instant <= until:
        following = next(found, None)
        until_next = following.instant - slot.instant if following else None
        yield Planned(slot, slot.instant + offset_of(timetable, until_next))
        slot = following


def _verdicts(rule: MissedRule, passed: Iterable[Planned], now: datetime) -> Verdicts:
    match rule.missed:
        case Missed.CATCH_UP:
            return _newest(rule, passed, now)
        case Missed.LATEST:
            return _latest(rule, passed, now)
        case Missed.SKIP:
            return ((each, None if rule.is_late(each, now) else MISSED) for each in passed)


def _newest(rule: MissedRule, passed: Iterable[Planned], now: datetime) -> Verdicts:
    left: deque[Planned] = deque()
    for each in passed:
        if rule.is_outside(each, now):
            yield each, OUTSIDE
            continue
        left.append(each)
        if len(left) > rule.limit and not rule.is_late(left[0], now):
            yield left.popleft(), OVER_LIMIT
    yield from ((each, None) for each in left)


def _latest(rule: MissedRule, passed: Iterable[Planned], now: datetime) -> Verdicts:
    newest: Planned | None = None
    for each in passed:
        if newest is not None:
            yield newest, OUTSIDE if rule.is_outside(newest, now) else NOT_LATEST
        newest = each
    if newest is not None:
        yield newest, OUTSIDE if rule.is_outside(newest, now) else None


def _paced(rule: MissedRule, runs: Iterable[Planned], now: datetime, paced_until: datetime | None) -> list[Planned]:
    """Return when each runs. Nothing is early: all of them could have started by now."""
    if rule.missed is not Missed.CATCH_UP:
        return [Planned(run.slot, now) for run in runs]
    start = max(now, paced_until or now)
    return [Planned(run.slot, start + number * rule.step) for number, run in enumerate(runs)]


def _range(same: Iterator[Planned], reason: str) -> Skipped:
    first = last = next(same)
    count = 1
    for each in same:
        last, count = each, count + 1
    return Skipped(first.slot.instant, last.slot.instant, count, reason)
