"""A ledger covers exactly the slots that should have been, and all jobs: in order, none twice, whatever the window."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.timetables import MINUTE, cron, instant
from tests.unit.making import a_job

from onthedot.rules.instants import MILLISECOND, from_text, to_text
from onthedot.rules.jobs import Job, State
from onthedot.rules.ledger import A_DAY, MOVED, NOT_PLANNED, PAUSED, Past, Range, Row, Term, ledger

START = instant("2027-01-04T08:00:00")
LENGTH = 40
AS_NOW, AS_OF_OLD = "2027-01-04T08:00:00+00:00", "2027-01-04T09:00:00+01:00"
"""Local times by the database in use and by another: their offsets tell."""
WHOLE = START - MILLISECOND, START + LENGTH * MINUTE
Fate = tuple[str, str | None]


def minute(number: int) -> datetime:
    return START + number * MINUTE


def job(number: int, state: State = State.SUCCEEDED, reason: str | None = None) -> Job:
    return a_job(schedule="schedule#s", slot=to_text(minute(number)), state=state, reason=reason, local_slot=AS_NOW)


@dataclass(frozen=True)
class Life:
    """A past, the jobs in it, and how many minutes lie between the slots of each term."""

    past: Past
    jobs: Sequence[Job]
    steps: Sequence[int]

    def rows(self, after: datetime, until: datetime) -> list[Row]:
        """Return the ledger of a window."""
        jobs = [one for one in self.jobs if after < from_text(one.slot)]
        before = [one for one in self.jobs if from_text(one.slot) <= after]
        return list(ledger(self.past, jobs, after, until, before[-1] if before else None))

    def expected(self) -> set[datetime]:
        """Return the slots that should have been, by counting minutes."""
        found = set[datetime]()
        for term, step in zip(self.past.terms, self.steps, strict=True):
            found |= {minute(at) for at in range(0, LENGTH + 1, step) if term.since < minute(at) <= term.until}
        return found

    def fate(self, at: datetime) -> Fate:
        """Return what became of a slot, by asking everything that is known."""
        for one in self.jobs:
            if from_text(one.slot) == at:
                return one.state, one.reason
        for span in sorted(self.past.skipped, key=lambda span: span.first):
            if span.first <= at <= span.last:
                return "skipped", span.reason
        if at > self.past.planned_until:
            return "pending", NOT_PLANNED
        moved = any(at - moved < A_DAY for moved in self.past.moved_at) and not self.both_agree(at)
        return ("skipped", MOVED) if moved else ("missing", None)

    def both_agree(self, at: datetime) -> bool:
        """Tell whether the jobs on both sides of an instant are where this database would have them."""
        earlier = [one for one in self.jobs if from_text(one.slot) < at]
        later = [one for one in self.jobs if from_text(one.slot) > at]
        return bool(earlier and later) and {earlier[-1].local_slot, later[0].local_slot} == {AS_NOW}

    def told(self, rows: Sequence[Row]) -> list[tuple[datetime, Fate]]:
        """Return each slot that rows speak of, and what they say of it."""
        slots = sorted(self.expected())
        return [(at, (row.kind, row.reason)) for row in rows for at in slots_in(row, slots)]


def slots_in(row: Row, slots: Sequence[datetime]) -> list[datetime]:
    return [row.first] if row.job else [at for at in slots if row.first <= at <= row.last]


@st.composite
def lives(draw: st.DrawFn) -> Life:
    """Return a life of up to four versions, with pauses, skipped ranges and jobs at any minute."""
    at = st.integers(0, LENGTH)
    cuts = sorted(draw(st.lists(at, min_size=2, max_size=5)))
    gaps = draw(st.lists(st.integers(0, 4), min_size=len(cuts) - 1, max_size=len(cuts) - 1))
    steps = draw(st.lists(st.sampled_from([1, 2, 5]), min_size=len(cuts) - 1, max_size=len(cuts) - 1))
    terms = [
        Term(cron(f"*/{step} * * * *"), minute(since + gap), minute(until))
        for since, until, gap, step in zip(cuts, cuts[1:], gaps, steps, strict=False)
    ]
    spans = st.tuples(at, st.integers(0, 20), st.sampled_from([PAUSED, "missed", "not the latest"]))
    skipped = [Range(minute(first), minute(first + more), why) for first, more, why in draw(st.lists(spans))]
    skipped = list({span.first: span for span in skipped}.values())
    jobs = [
        replace(
            job(number, draw(st.sampled_from(State)), draw(st.sampled_from([None, "late"]))),
            local_slot=draw(st.sampled_from([AS_NOW, AS_NOW, AS_OF_OLD])),
        )
        for number in sorted(draw(st.sets(at)))
    ]
    moved_at = draw(st.sampled_from([[], [minute(0) - A_DAY + MINUTE], [minute(0) + 9 * A_DAY]]))
    return Life(Past(terms, skipped, minute(draw(at)), moved_at), jobs, steps)


@given(lives())
def test_rows_cover_exactly_the_expected_slots_and_all_jobs_in_order(life: Life) -> None:
    wanted = sorted(life.expected() | {from_text(one.slot) for one in life.jobs})
    assert life.told(life.rows(*WHOLE)) == [(at, life.fate(at)) for at in wanted]


@given(lives())
def test_a_row_counts_its_slots(life: Life) -> None:
    slots = sorted(life.expected())
    for row in life.rows(*WHOLE):
        assert row.count == len(slots_in(row, slots))
        assert row.last == slots_in(row, slots)[-1]


@given(lives())
def test_ranges_are_as_long_as_can_be_and_never_go_across_a_job(life: Life) -> None:
    rows = life.rows(*WHOLE)
    for one, other in pairwise(rows):
        assert one.last < other.first
        assert one.job or other.job or (one.kind, one.reason) != (other.kind, other.reason)


@given(lives(), st.lists(st.integers(0, LENGTH * 60)))
def test_any_split_of_a_window_tells_the_same_of_the_same_slots(life: Life, seconds: list[int]) -> None:
    edges = [WHOLE[0], *sorted(START + timedelta(seconds=each) for each in seconds), WHOLE[1]]
    parts = [life.told(life.rows(*part)) for part in pairwise(edges)]
    assert [each for part in parts for each in part] == life.told(life.rows(*WHOLE))


@given(lives())
def test_a_page_that_begins_after_any_row_goes_on_as_the_whole_does(life: Life) -> None:
    rows = life.rows(*WHOLE)
    for number, row in enumerate(rows):
        assert life.rows(row.last, WHOLE[1]) == rows[number + 1 :]


def test_terms_that_overlap_have_each_slot_once() -> None:
    """Two edits within seconds, by machines whose clocks differ: a slot came twice, and the second time was lost."""
    every = cron("* * * * *")
    past = Past([Term(every, minute(0), minute(5)), Term(every, minute(3), minute(8))], [], minute(8))
    rows = list(ledger(past, [job(number) for number in range(1, 9)], minute(0), minute(8)))
    assert [(row.first, row.kind) for row in rows] == [(minute(number), "succeeded") for number in range(1, 9)]


def test_where_ranges_begin_together_the_first_that_is_given_says_why() -> None:
    """An edit in a pause left slots behind, and they were told to be unplanned: they were paused."""
    ranges = [Range(minute(1), minute(9), PAUSED), Range(minute(1), minute(4), "edited")]
    past = Past([Term(cron("* * * * *"), minute(0), minute(9))], ranges, minute(9))
    [row] = ledger(past, [], minute(0), minute(9))
    assert (row.first, row.last, row.count, row.kind, row.reason) == (minute(1), minute(9), 9, "skipped", PAUSED)


@pytest.mark.parametrize(("planned", "kind"), [(5, "missing"), (4, "pending")])
def test_what_is_planned_and_has_nothing_is_missing(planned: int, kind: str) -> None:
    past = Past([Term(cron("*/5 * * * *"), minute(0), minute(9))], [], minute(planned))
    [row] = ledger(past, [], minute(0), minute(9))
    assert (row.first, row.local, row.count, row.kind) == (minute(5), "2027-01-04T08:05:00+00:00", 1, kind)


@pytest.mark.parametrize("broken", [None, 0, 8])
def test_a_slot_that_was_lost_before_a_move_is_missing_where_both_databases_agree(broken: int | None) -> None:
    """Whatever had no job before another database came was told to have moved, a lost slot of weeks before, too."""
    jobs = [job(number) for number in (0, 1, 2, 3, 4, 6, 7, 8, 9)]
    jobs = [replace(one, local_slot=AS_OF_OLD) if broken == number else one for number, one in enumerate(jobs)]
    past = Past([Term(cron("* * * * *"), minute(-1), minute(9))], [], minute(9), [minute(0) + 9 * A_DAY])
    kinds = [row.kind for row in ledger(past, jobs, minute(-1), minute(9)) if not row.job]
    assert kinds == ["missing"], "what lies elsewhere says nothing of it"
    for side in (4, 5):
        differs = [replace(one, local_slot=AS_OF_OLD) if n == side else one for n, one in enumerate(jobs)]
        rows = [row for row in ledger(past, differs, minute(-1), minute(9)) if not row.job]
        assert [(row.kind, row.reason) for row in rows] == [("skipped", MOVED)]
