"""The ledger: what became of every slot that a schedule should have had, and why.

    terms      |---- version 1 ----|-------- version 2 --------|        each with the timetable it had
    jobs         x  x  x  x     x      x  x           x  x  x           merged with the slots, in their order
    otherwise             skipped             paused                    one row, however long

A slot is expected by the version in force at its time. It has its job, or it lies in a range that was skipped or in a
pause. One that is not planned yet is said to be so; one that has none of these is missing, which must not occur.

Before another time zone database came, slots were elsewhere, and only that one knows where. What it made tells: a job
has the offset of its local time. Between two jobs that this database would give the same offsets, both agree.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import groupby
from operator import attrgetter, itemgetter
from zoneinfo import ZoneInfo

from onthedot.rules.instants import from_text
from onthedot.rules.jobs import Job
from onthedot.rules.slots import Slot, Timetable, slots
from onthedot.rules.zones import offset_at

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


Fate = Job | tuple[Kind, str | None]
"""The job of a slot, or what became of a slot without one, and why."""


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


def ledger(
    past: Past, jobs: Iterable[Job], after: datetime, until: datetime, before: Job | None = None
) -> Iterator[Row]:
    """Return what became of the slots after one instant, up to another and with it. Order: by slot.

    `jobs` are those of the slots from the first on; no more than one of those beyond the second is asked for. `before`
    is the last one of the slots before. Order: by slot.
    """
    for fate, alike in groupby(_fates(past, iter(jobs), after, until, before), key=itemgetter(0)):
        yield _of_job(fate) if isinstance(fate, Job) else _without_job(fate, [slot for _, slot in alike if slot])


def _fates(
    past: Past, jobs: Iterator[Job], after: datetime, until: datetime, before: Job | None
) -> Iterator[tuple[Fate, Slot | None]]:
    """Return each slot that was expected with its fate, and each job in its place, expected or not."""
    why_skipped, job = _in_order(past.skipped), next(jobs, None)
    for slot, zone in _expected(past, after, until):
        while job is not None and from_text(job.slot) < slot.instant:
            yield job, None
            before, job = job, next(jobs, None)
        if job is not None and from_text(job.slot) == slot.instant:
            yield job, slot
            before, job = job, next(jobs, None)
        else:
            agreed = bool(past.moved_at) and _is_as_in(zone, before) and _is_as_in(zone, job)
            yield _fate(past, slot.instant, why_skipped(slot.instant), agreed=agreed), slot
    while job is not None and from_text(job.slot) <= until:
        yield job, None
        job = next(jobs, None)


def _expected(past: Past, after: datetime, until: datetime) -> Iterator[tuple[Slot, ZoneInfo]]:
    """Return the slots that should have been; terms that overlap, since clocks differ, have each slot once."""
    for term in past.terms:
        for slot in slots(term.timetable, max(after, term.since), min(until, term.until)):
            after = slot.instant
            yield slot, term.timetable.zone


def _is_as_in(zone: ZoneInfo, job: Job | None) -> bool:
    """Tell whether a job stands for the local time that the database in use has at its slot, too."""
    local = datetime.fromisoformat(job.local_slot) if job is not None and job.local_slot else None
    return job is not None and local is not None and local.utcoffset() == offset_at(from_text(job.slot), zone)


def _in_order(skipped: Iterable[Range]) -> Callable[[datetime], str | None]:
    """Return what tells why a slot was skipped, if asked in order of time; where ranges meet, the first one says."""
    ahead, here = deque(sorted(skipped, key=attrgetter("first"))), list[Range]()

    def why(at: datetime) -> str | None:
        while ahead and ahead[0].first <= at:
            here.append(ahead.popleft())
        here[:] = [span for span in here if at <= span.last]
        return here[0].reason if here else None

    return why


def _fate(past: Past, at: datetime, why_skipped: str | None, *, agreed: bool) -> tuple[Kind, str | None]:
    if why_skipped is not None:
        return Kind.SKIPPED, why_skipped
    if at > past.planned_until:
        return Kind.PENDING, NOT_PLANNED
    moved = not agreed and any(at - moved_at < A_DAY for moved_at in past.moved_at)
    return (Kind.SKIPPED, MOVED) if moved else (Kind.MISSING, None)


def _of_job(job: Job) -> Row:
    at = from_text(job.slot)
    return Row(at, at, job.local_slot or "", 1, job.state.value, job.reason, job)


def _without_job(fate: tuple[Kind, str | None], alike: Sequence[Slot]) -> Row:
    kind, reason = fate
    return Row(alike[0].instant, alike[-1].instant, alike[0].local_text, len(alike), kind.value, reason)
