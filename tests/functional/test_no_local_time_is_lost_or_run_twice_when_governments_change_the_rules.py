"""Another time zone database: what was computed by the old one moves before it is due, each local time runs once.

T11: services with an older database, or with next runs computed before the update, ran local-time jobs an hour off, in
silence. O02: a host's stale files won over the newer package.
"""

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.support.databases import database, zone_with
from tests.support.handlers import RAN
from tests.support.lab import Lab
from tests.support.schedules import hold, put, resume, row, slots_of, told

from onthedot import wiring
from onthedot.rules.events import Event
from onthedot.rules.instants import shown
from onthedot.rules.ledger import Kind
from onthedot.rules.schedules import mark_of
from onthedot.steps.ledger import ledger_page

Place = tuple[str, list[tuple[str, float]]]
VANCOUVER: Place = ("America/Vancouver", [("2026-11-01T09:00", -8), ("2027-03-14T10:00", -7)])
"""As it was before British Columbia kept summer time for good: it is 16:00Z at 09:00, and was to be 17:00Z."""
CASABLANCA: Place = ("Africa/Casablanca", [("2026-09-20T01:00", 1)])
"""As if Morocco had stayed an hour ahead of UTC: it is 09:00Z at 09:00, and was to be 08:00Z."""
BEIRUT: Place = ("Asia/Beirut", [("2022-10-29T21:00", 2), ("2023-04-20T22:00", 3)])
"""As it was said to be for two days: it is 06:00Z at 09:00 from 26 March on, and was to be 07:00Z."""
DAY = "2027-01-04"
FIXED: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "daily": ({"cron": "0 9 * * *"}, ("09:00",)),
    "hours": ({"cron": "0 8-10 * * *"}, ("08:00", "09:00", "10:00")),
    "minutes": ({"cron": "0,3,6 9 * * *"}, ("09:00", "09:03", "09:06")),
    "weekly": ({"cron": "0 9 * * MON"}, ("09:00",)),
    "last": ({"rrule": "FREQ=DAILY;UNTIL=20270104", "starts_at": "2026-12-04T09:00:00"}, ("09:00",)),
}
PLACES = {
    "Vancouver": (VANCOUVER, "2027-01-04T14:30:30", "2027-01-05T16:00:00Z", 150),
    "Casablanca": (CASABLANCA, "2027-01-04T06:30:30", "2027-01-05T09:00:00Z", 90),
}
"""When each story begins, the next slot by the new rules, and after how many minutes it is 09:00 by the old ones."""


def old_database(*places: Place) -> Any:
    return database("2026.1", *(zone_with(name, changes) for name, changes in places))


def new_database() -> Any:
    return database("2026.6")


def begin(lab: Lab, text: str) -> None:
    """Begin at another instant than labs do."""
    lab.time.move_to(datetime.fromisoformat(text).replace(tzinfo=UTC))
    lab.next_tick = lab.now().replace(second=0) + timedelta(minutes=1)


def until(lab: Lab, instant: datetime) -> None:
    """Let a database be in use until an instant; its first tick comes at once."""
    lab.tick()
    lab.next_tick = lab.now().replace(second=0, microsecond=0) + timedelta(minutes=1)
    lab.advance(seconds=(instant - lab.now()).total_seconds())


def ran_local(name: str) -> Counter[str]:
    """Return how often each local time of a schedule ran."""
    jobs = {job.id: job for job in slots_of(name).values()}
    return Counter(mark_of(jobs[call.id])[:16] for call in RAN if call.id.startswith(f"{name}@"))


def once(*times: str) -> dict[str, int]:
    return {f"{DAY}T{each}": 1 for each in times}


def lost(lab: Lab, name: str) -> list[str]:
    """Return the slots that the ledger calls missing."""
    page = ledger_page(wiring.world(), name, lab.now() - timedelta(days=3), lab.now(), 10_000)
    assert page is not None
    return [shown(each.first) for each in page.rows if each.kind == Kind.MISSING]


@pytest.mark.parametrize("minutes", [60, 84, 85, 90, 91, 148])
@pytest.mark.parametrize("place", PLACES)
def test_each_local_time_runs_once_whenever_the_database_comes(lab: Lab, place: str, minutes: float) -> None:
    """T11: never at both the old and the new instant, and never at neither."""
    zone, start, following, _ = PLACES[place]
    begin(lab, start)
    with old_database(zone):
        for name, (fields, _) in FIXED.items():
            put(name, zone=zone[0], **fields)
        lab.advance(minutes=minutes)
    with new_database():
        lab.tick()
        lab.advance(hours=5)
        for name, (_, times) in FIXED.items():
            assert ran_local(name) == once(*times), name
            assert lost(lab, name) == []
        assert shown(row("daily").next_at or lab.now()) == following
        assert row("daily").next_local == "2027-01-05T09:00:00"


def test_what_moved_is_told_once_and_nothing_else(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    begin(lab, "2027-01-04T14:30:30")
    with old_database(VANCOUVER):
        for name, zone in (("moves", "America/Vancouver"), ("stays", "Europe/Berlin")):
            put(name, zone=zone, cron="0 9 * * *")
        put("wild", zone="America/Vancouver", cron="0 * * * *")
        put("rhythm", zone="America/Vancouver", every="PT1H")
        lab.advance(minutes=10)
    notes = told(monkeypatch)
    with new_database():
        lab.tick()
        lab.tick()
    reason = "next 2027-01-04T17:00:00Z is now 2027-01-04T16:00:00Z, by the time zones of 2026.6 and no longer 2026.1"
    assert [note for note in notes if note[0] is Event.SCHEDULE_MOVED] == [(Event.SCHEDULE_MOVED, "moves", 1, reason)]
    assert {row(name).tzdata for name in ("moves", "stays", "wild", "rhythm")} == {"2026.6"}
    with new_database():
        lab.advance(minutes=80)
    assert ran_local("moves") == once("09:00")


@pytest.mark.parametrize("days", [("24T10:00", "24T20:00"), ("24T10:00", "26T05:00"), ("25T21:50", "25T22:10")])
def test_a_change_that_is_put_off_and_withdrawn_within_days_costs_no_local_time(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, days: tuple[str, str]
) -> None:
    """Beirut, March 2023: two days before the clocks went forward that was put off by a month, and then it was not."""
    begin(lab, "2023-03-24T05:00:30")
    names, notes = {"nine": "0 9 * * *", "gap": "30 0 * * *", "midnight": "0 0 * * *"}, told(monkeypatch)
    put_off, withdrawn = (datetime.fromisoformat(f"2023-03-{day}").replace(tzinfo=UTC) for day in days)
    with database("2023.1"):
        for name, expression in names.items():
            put(name, zone=BEIRUT[0], cron=expression)
        until(lab, put_off)
    with database("2023.2", zone_with(*BEIRUT)):
        until(lab, withdrawn)
    with database("2023.3"):
        until(lab, datetime(2023, 3, 27, 20, tzinfo=UTC))
        for name, local in {"nine": "09:00", "gap": "00:30", "midnight": "00:00"}.items():
            first = 24 if name == "nine" else 25
            assert ran_local(name) == {f"2023-03-{day}T{local}": 1 for day in range(first, 28)}, name
            assert lost(lab, name) == []
    moves = Counter(name for event, name, *_ in notes if event is Event.SCHEDULE_MOVED)
    assert set(moves) <= names.keys()
    assert max(moves.values(), default=0) <= 2, "there and back"


@pytest.mark.parametrize("place", PLACES)
def test_what_somebody_cancelled_or_moved_by_hand_is_not_planned_again(lab: Lab, place: str) -> None:
    """The slot of a job that was cancelled had its job again where the new rules have it."""
    zone, start, _, nine = PLACES[place]
    begin(lab, start)
    with old_database(zone):
        put("s", zone=zone[0], cron="0,3,6 9 * * *")
        lab.advance(minutes=nine - 3)
        first, second, third = slots_of("s").values()
        assert lab.call("DELETE", f"/jobs/{second.id}").status == 200
        later = shown(third.run_at + timedelta(minutes=90))
        assert lab.call("PATCH", f"/jobs/{third.id}", {"run_at": later}).status == 200
    with new_database():
        lab.tick()
        lab.advance(hours=4)
        assert ran_local("s") == once("09:00", "09:06")
        assert third.id in {call.id for call in RAN}
        assert lost(lab, "s") == []
    assert first.id not in {call.id for call in RAN}


@pytest.mark.parametrize("place", PLACES)
def test_a_pause_over_the_change_runs_nothing_twice(lab: Lab, place: str) -> None:
    zone, start, _, nine = PLACES[place]
    begin(lab, start)
    with old_database(zone):
        put("s", zone=zone[0], cron="0 9 * * *")
        lab.advance(minutes=nine + 2)
        hold("s")
    with new_database():
        lab.advance(minutes=4)
        resume("s")
        lab.advance(hours=3)
        assert ran_local("s") == once("09:00")
        assert lost(lab, "s") == []
