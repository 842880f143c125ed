"""After an outage each missed slot ends as its schedule's policy says: run, and when, or skipped, and why."""

from collections import Counter
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from tests.support.handlers import RAN, ran
from tests.support.lab import Lab
from tests.support.schedules import definition, history, look, minutes, put, ran_slots, row, skipped, slots_of, told
from tests.support.worlds import Died, Interrupted, Skewed, client_of, die, with_client, with_clock

from onthedot.rules.events import Event
from onthedot.rules.instants import from_text, shown, to_text
from onthedot.rules.outage import Outage, preview, shown_between
from onthedot.rules.schedules import ScheduleState

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


def at(text: str) -> datetime:
    return from_text(f"{text}.000Z")


POLICIES: dict[str, dict[str, Any]] = {
    "catch_up": {},
    "catch_up, few, slowly": {"catch_up_limit": 7, "catch_up_rate": 4},
    "catch_up in a window": {"catch_up_window": 1_000, "catch_up_limit": 20},
    "latest": {"missed": "latest"},
    "latest in a window": {"missed": "latest", "catch_up_window": 3_600, "cron": "3 8,9 * * *"},
    "skip": {"missed": "skip"},
    "skip with a grace": {"missed": "skip", "grace": 600},
    "latest, spread": {"missed": "latest", "spread": 40},
}


@pytest.mark.parametrize("policy", POLICIES)
def test_what_was_foreseen_is_what_happens(lab: Lab, policy: str) -> None:
    """An owner chooses a policy by its preview; what the planner does must be that, job by job and range by range."""
    fields = {"cron": "*/2 * * * *", **POLICIES[policy]}
    born_at = put("s", **fields).created_at
    until = row("s").planned_until
    lab.time.shift(2 * HOUR)
    meaning = definition("s", {"handler": "test.record", **fields}, born_at)
    shown_slots = shown_between(meaning.timetable, until, lab.now() + 11 * MINUTE)
    foreseen = preview(meaning.timetable, meaning.missed, shown_slots, Outage(until, lab.now()))
    new = look(row("s"))
    ahead = lab.now() + 10 * MINUTE
    assert [(job.slot, job.run_at) for job in new] == [
        (to_text(run.slot.instant), run.run_at) for run in foreseen.runs if run.slot.instant <= ahead
    ]
    ranges = [(shown(one.first), shown(one.last), one.count, one.reason) for one in foreseen.skipped]
    assert skipped(lab, "s") == ranges


MINUTELY = at("2027-01-10T00:00:00")
X03: dict[str, tuple[dict[str, Any], list[str], int]] = {
    "latest": ({"missed": "latest"}, ["2027-01-10T12:00:00Z"], 709),
    "skip": ({"missed": "skip"}, ["2027-01-10T12:00:00Z"], 709),
    "catch_up": ({}, minutes(at("2027-01-10T10:21:00"), 100), 610),
}


@pytest.mark.parametrize("policy", X03)
def test_a_night_without_a_dispatcher(lab: Lab, policy: str) -> None:
    """X03: over a hundred missed slots, and the schedule never ran again. Ten of them were planned before."""
    fields, runs, left_out = X03[policy]
    lab.time.move_to(MINUTELY)
    put("s", **fields)
    lab.time.move_to(at("2027-01-10T12:00:30"))
    new = look(row("s"))
    late = [shown(from_text(job.slot)) for job in new if job.slot <= to_text(lab.now())]
    assert (late, sum(count for *_, count, _ in skipped(lab, "s"))) == (runs, left_out)
    assert shown(from_text(new[len(late)].slot)) == "2027-01-10T12:01:00Z"
    assert row("s").next_at == at("2027-01-10T12:11:00")
    assert row("s").state is ScheduleState.ACTIVE


def test_a_dispatcher_that_dies_half_way_loses_none_and_doubles_none(lab: Lab) -> None:
    """720 missed minutes with 200 KB each would be 144 MB; all jobs share one payload, and progress is stored."""
    lab.time.move_to(MINUTELY)
    put("s", f'"{"x" * 200_000}"', catch_up_limit=1_000, catch_up_rate=1)
    lab.time.move_to(at("2027-01-10T12:00:30"))
    for part, operation, calls in (("queue", "send_message_batch", 0), ("schedules", "transact_write_items", 3)):
        world = with_clock(Skewed())
        deadly = Interrupted(client_of(world, part), operation, [lambda: None] * calls + [die])
        with pytest.raises(Died):
            look(row("s"), with_client(world, part, deadly))
        lab.time.shift(20)
    assert len(slots_of("s")) == 10 + 4 * 97, "one chunk that was not handed over, and three"
    look(row("s"))
    jobs = slots_of("s")
    assert list(jobs) == minutes(at("2027-01-10T00:01:00"), 731)
    assert {job.payload.stored_as for job in jobs.values()} == {row("s").payload.stored_as}
    payloads = [item for item in lab.items() if item["slot"]["S"].startswith("payload#")]
    assert len(payloads) == 1
    times = [job.run_at for job in jobs.values()][10:720]
    assert {later - earlier for earlier, later in pairwise(times)} == {MINUTE}, "at its pace, also over the deaths"
    assert skipped(lab, "s") == []


def test_what_is_caught_up_runs_at_its_pace_while_the_timetable_goes_on(lab: Lab) -> None:
    """A burst after an outage is the next outage; and what is due now must not queue behind it."""
    put("s", catch_up_limit=30, catch_up_rate=10, cron="*/2 * * * *")
    lab.time.shift(HOUR)
    lab.advance(minutes=4)
    runs = {call.id.partition("@")[2]: call.at for call in RAN}
    assert len(runs) == len(RAN)
    old = sorted(at for slot, at in runs.items() if "2027-01-04T08:12:00Z" <= slot <= "2027-01-04T09:00:00Z")
    assert len(old) >= 20
    assert all(later - earlier >= timedelta(seconds=5) for earlier, later in pairwise(old))
    live = [runs[slot] - at(slot[:-1]) for slot in ("2027-01-04T09:02:00Z", "2027-01-04T09:04:00Z")]
    assert all(timedelta(0) <= late <= timedelta(seconds=2) for late in live)


def test_the_first_slot_of_a_new_schedule_may_be_missed_too(lab: Lab) -> None:
    """What never ran was never missed, by a scheduler that counted from the last run."""
    put("s", cron="30 8 * * *")
    lab.time.shift(2 * HOUR)
    lab.advance(minutes=1)
    assert ran_slots("s") == ["2027-01-04T08:30:00Z"]


def test_what_is_late_by_less_than_the_grace_is_not_missed(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tick that comes after its minute is no fault to tell anybody of; one more second is."""
    notes = told(monkeypatch)
    for late, name in ((60, "late"), (61, "missed")):
        lab.time.move_to(at("2027-01-05T08:00:30" if name == "late" else "2027-01-06T08:00:30"))
        put(name, cron="30 8 * * *", missed="skip")
        lab.time.shift(29 * MINUTE + timedelta(seconds=30 + late))
        look(row(name))
        assert len(slots_of(name)) == (name == "late")
    assert [note[1:] for note in notes if note[0] is Event.SLOTS_MISSED] == [("missed", 1, "1 missed")]
    assert Counter(one["reason"] for one in history(lab, "missed", "skipped")) == {"missed": 1}
    lab.settle()
    assert len(ran()) == 1
