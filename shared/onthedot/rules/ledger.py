"""The ledger: what became of every slot that a schedule should have had, and why.

    terms      |---- version 1 ----|-------- version 2 --------|        each with the timetable it had
    jobs         x  x  x  x     x      x  x           x  x  x           merged with the slots, in their order
    otherwise             skipped             paused                    one row, however long

A slot is expected by the version in force at its time. It has its job, or it lies in a range that was skipped or in a
pause. One that is not planned yet is said to be so; one that has none of these is missing, which must not occur.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from onthedot.rules.instants import from_text
from onthedot.rules.jobs import Job
from onthedot.rules.slots import Slot, Timetable, slots

PAUSED = "its schedule was paused"
NOT_PLANNED = "not planned yet"
MOVED = "moved by another time zone database"
A_DAY = timedelta(hours=26)
"""More than any zone has moved its clocks by: a local time that ran under the old rules is not wanted again."""


class Kind(StrEnum):
    """What became of a slot that has no job; one that has a job is what its job is."""

    SKIPPED = "skipped"  # on purpose, and the reason says why
    PENDING = "pending"  # it passed, and the dispatcher has not got to it yet
    MISSING = "missing"  # nobody knows: it is lost


@dataclass(frozen=True, slots=True)
class Term:
    """A version's time in force: its slots come after `since`, up to `until` and with it."""

    timetable: Timetable
    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class Range:
    """A time whose slots were skipped, from the first to the last, and why."""

    first: datetime
    last: datetime
    reason: str

    def holds(self, slot: datetime) -> bool:
        """Tell whether a slot lies in it."""
        return self.first <= slot <= self.last


@dataclass(frozen=True, slots=True)
class Past:
    """What is known of a schedule's past: versions, skipped ranges, pauses, and how far it is planned."""

    terms: Sequence[Term]
    skipped: Sequence[Range]
    planned_until: datetime
    moved_at: Sequence[datetime] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """One slot and its job, or slots one after the other without a job that fared alike, and why."""

    first: datetime
    last: datetime
    local: str
    count: int
    kind: str
    reason: str | None = None
    job: Job | None = None


def ledger(past: Past, jobs: Iterable[Job], after: datetime, until: datetime) -> Iterator[Row]:
    """Return what became of the slots after one instant, up to another and with it. Order: by slot.

    `jobs` are those of the slots between the two. Order: by slot.
    """
    current: Row | None = None
    for row in _rows(past, iter(jobs), after, until):
        if current is not None and row.job is None and _fared_alike(current, row):
            current = replace(current, last=row.first, count=current.count + 1)
            continue
        if current is not None:
            yield current
        current = row
    if current is not None:
        yield current


def _rows(past: Past, jobs: Iterator[Job], after: datetime, until: datetime) -> Iterator[Row]:
    """Return a row for each slot that was expected or has a job all the same."""
    job = next(jobs, None)
    for slot in _expected(past, after, until):
        while job is not None and from_text(job.slot) < slot.instant:
            yield _of_job(job)
            job = next(jobs, None)
        if job is not None and from_text(job.slot) == slot.instant:
            yield _of_job(job)
            job = next(jobs, None)
        else:
            yield _without_job(past, slot)
    while job is not None:
        yield _of_job(job)
        job = next(jobs, None)


def _expected(past: Past, after: datetime, until: datetime) -> Iterator[Slot]:
    for term in past.terms:
        yield from slots(term.timetable, max(after, term.since), min(until, term.until))


def _of_job(job: Job) -> Row:
    at = from_text(job.slot)
    return Row(at, at, job.local_slot or "", 1, job.state.value, job.reason, job)


def _without_job(past: Past, slot: Slot) -> Row:
    kind, reason = _fate(past, slot.instant)
    return Row(slot.instant, slot.instant, slot.local_text, 1, kind.value, reason)


def _fate(past: Past, at: datetime) -> tuple[Kind, str | None]:
    reason = next((span.reason for span in past.skipped if span.holds(at)), None)
    if reason is not None:
        return Kind.SKIPPED, reason
    if at > past.planned_until:
        return Kind.PENDING, NOT_PLANNED
    moved = any(abs(at - moved_at) < A_DAY for moved_at in past.moved_at)
    return (Kind.SKIPPED, MOVED) if moved else (Kind.MISSING, None)


def _fared_alike(one: Row, other: Row) -> bool:
    return one.job is None and (one.kind, one.reason) == (other.kind, other.reason)
