"""Ledger: gather what is known of a schedule's past, and tell what became of its slots."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from onthedot.rules.events import Event
from onthedot.rules.history import MOVED, PAUSE, SKIPPED, VERSION, Record
from onthedot.rules.instants import MILLISECOND, from_text, to_text
from onthedot.rules.jobs import Job
from onthedot.rules.ledger import PAUSED, Kind, Past, Range, Row, Term, ledger
from onthedot.rules.missed import EVER
from onthedot.rules.reading import read_fields
from onthedot.rules.schedules import OnResume, Pause, Schedule
from onthedot.rules.slots import Timetable
from onthedot.steps.finding import FIRST_SLOT, jobs_between
from onthedot.steps.ports import World

LOOKS = 3
"""How often a slot that seems lost is looked for: its job may be on its way from one version to the next."""


@dataclass(frozen=True, slots=True)
class LedgerPage:
    """Some rows of a ledger, and after which slot the next page starts; nowhere when this is the last one."""

    rows: list[Row]
    next: datetime | None


def ledger_page(world: World, name: str, after: datetime, until: datetime, limit: int) -> LedgerPage | None:
    """Return what became of a schedule's slots after one instant, up to another; `None` when nobody knows of it.

    A schedule that was deleted is known until the retention. Order: by slot.
    """
    for _ in range(LOOKS):
        past = _past(world, name)
        if past is None:
            return None
        jobs = jobs_between(world, f"schedule#{name}", after, EVER, at_once=limit + 1)
        before = _last_before(world, name, after) if past.moved_at else None
        rows = list(islice(ledger(past, jobs, after, until, before), limit + 1))
        shown = rows[:limit]
        lost = sum(row.count for row in shown if row.kind == Kind.MISSING)
        if not lost:
            break
        world.clock.pause()
    else:
        world.journal.schedule(Event.SLOTS_LOST, name, lost)
    return LedgerPage(shown, shown[-1].last if len(rows) > limit else None)


def _last_before(world: World, name: str, after: datetime) -> Job | None:
    """Return the job of the last slot up to an instant."""
    return next(iter(world.indexes.newest(f"schedule#{name}", FIRST_SLOT, to_text(after + MILLISECOND), 1)), None)


def _past(world: World, name: str) -> Past | None:
    """Return the past of a schedule, its versions in order of time; the row is read first, so no term is left out."""
    now, schedule = world.clock.now(), world.schedules.get(name)
    records = world.schedules.history(name)
    if schedule is None and not records:
        return None
    terms = [term for term in map(_term, _of_kind(records, VERSION)) if term]
    skipped = [_paused(record) for record in _of_kind(records, PAUSE) if _is_left_out(record)]
    skipped += [_range(record) for record in _of_kind(records, SKIPPED)]
    moved_at = [from_text(record.facts["at"]) for record in _of_kind(records, MOVED)]
    if schedule is None:
        return Past(terms, skipped, now, moved_at)
    if schedule.paused is not None and schedule.paused.on_resume is OnResume.SKIP:
        skipped.insert(0, _pause(schedule.paused, now))
    timetable = _timetable(name, schedule.fields, schedule.created_at)
    known = any(_is_of(record, schedule) for record in _of_kind(records, VERSION))
    if timetable is not None and not known:
        terms.append(Term(timetable, schedule.since, now))
    return Past(terms, skipped, schedule.planned_until, moved_at)


def _of_kind(records: Sequence[Record], kind: str) -> Iterator[Record]:
    return (record for record in records if record.part.startswith(f"{kind}#"))


def _term(record: Record) -> Term | None:
    """Return a version's time in force; `None` when nobody can read its definition any more."""
    facts = record.facts
    timetable = _timetable(record.name, facts["fields"], from_text(facts["created_at"]))
    return Term(timetable, from_text(facts["since"]), from_text(facts["until"])) if timetable else None


def _is_of(record: Record, schedule: Schedule) -> bool:
    return (record.facts["generation"], record.facts["version"]) == (schedule.generation, schedule.version)


def _timetable(name: str, fields: Mapping[str, Any], born_at: datetime) -> Timetable | None:
    meaning = read_fields(name, fields, born_at)
    return None if isinstance(meaning, str) else meaning.timetable


def _range(record: Record) -> Range:
    return Range(from_text(record.facts["from"]), from_text(record.facts["to"]), record.facts["reason"])


def _is_left_out(record: Record) -> bool:
    """Tell whether the slots that passed in a pause were left out, and not judged as missed."""
    return bool(record.facts["on_resume"] == OnResume.SKIP.value)


def _paused(record: Record) -> Range:
    return _after(from_text(record.facts["since"]), from_text(record.facts["until"]))


def _pause(pause: Pause, now: datetime) -> Range:
    return _after(pause.since, pause.ended_at(now))


def _after(since: datetime, until: datetime) -> Range:
    return Range(since + MILLISECOND, until, PAUSED)
