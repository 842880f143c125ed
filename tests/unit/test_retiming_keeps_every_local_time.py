"""Retiming decides what another time zone database moves: all that differs, and nothing that does not."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from tests.support.databases import zone_with
from tests.support.timetables import cron, instant
from tests.unit.making import a_schedule

from onthedot.rules.definitions import Definition, Overlap
from onthedot.rules.instants import MILLISECOND, shown
from onthedot.rules.jobs import Job, State
from onthedot.rules.missed import MissedRule, Planned
from onthedot.rules.planning import Place, job_of, place_of
from onthedot.rules.retiming import Retimed, retimed, with_stand_ins
from onthedot.rules.schedules import Schedule, coming, mark_of
from onthedot.rules.slots import Slot, Timetable, next_slots, slots
from onthedot.rules.zones import SlotsOnRepeat

OLD = zone_with("America/Vancouver", [("2026-11-01T09:00", -8), ("2027-03-14T10:00", -7)])
BEIRUT_A = zone_with("Asia/Beirut", [("2023-03-25T22:00", 3), ("2023-10-28T21:00", 2)])
BEIRUT_B = zone_with("Asia/Beirut", [("2022-10-29T21:00", 2), ("2023-04-20T22:00", 3), ("2023-10-28T21:00", 2)])
"""Two days before, the change was put off to 21 April; four days later, it was as before."""


def at(timetable: Timetable, zone: ZoneInfo) -> Timetable:
    return replace(timetable, zone=zone)


def planned(timetable: Timetable, since: str, until: str) -> tuple[Schedule, list[Job]]:
    """Return a schedule that is planned so far by a timetable, and its jobs."""
    schedule = a_schedule(since=instant(since), planned_until=instant(until), paused=None)
    following = next_slots(timetable, schedule.planned_until, 1)[0]
    schedule = replace(schedule, next_at=following.instant, next_local=coming(following).local)
    return schedule, [a_job_of(schedule, timetable, each) for each in slots(timetable, instant(since), instant(until))]


def a_job_of(schedule: Schedule, timetable: Timetable, slot: Slot) -> Job:
    rule = Definition(
        handler="h",
        timetable=timetable,
        missed=MissedRule(),
        group=None,
        timeout=None,
        retry=None,
        start_within=None,
        overlap=Overlap.ALLOW,
    )
    return job_of(schedule, rule, Planned(slot, slot.instant), schedule.since)


def ahead(jobs: Sequence[Job], now: datetime) -> list[Job]:
    return [job for job in jobs if job.run_at > now]


def next_of(result: Retimed) -> str:
    assert result.schedule.next_at
    return shown(result.schedule.next_at)


@pytest.mark.parametrize("state", [State.SCHEDULED, State.CANCELLED, State.SUCCEEDED])
def test_nothing_moves_where_nothing_differs(state: State) -> None:
    """A job between the others that somebody had cancelled made the whole schedule look as if it had moved."""
    timetable = cron("*/2 9-17 * * *", "Europe/Berlin")
    fixed = replace(timetable, expression=cron("0,2,4,6,8 9 * * *").expression)
    for each in (timetable, fixed):
        schedule, jobs = planned(each, "2027-01-04T07:00", "2027-01-04T08:05")
        jobs[1] = replace(jobs[1], state=state)
        result = retimed(schedule, each, jobs, instant("2027-01-04T07:59"), "new")
        assert result == Retimed(replace(schedule, tzdata="new"))


def test_a_last_slot_that_is_planned_already_does_not_move() -> None:
    timetable = cron("0 9 * * *", "Europe/Berlin", ends_at=instant("2027-01-04T09:00"))
    schedule, jobs = planned(timetable, "2027-01-03T09:00", "2027-01-04T07:00")
    jobs = [a_job_of(schedule, timetable, each) for each in next_slots(timetable, instant("2027-01-04T07:00"), 1)]
    result = retimed(schedule, timetable, jobs, instant("2027-01-04T07:55"), "new")
    assert (result.moved, result.withdrawn) == (None, ())


def test_hours_that_keep_their_instants_still_move() -> None:
    """At the same instants the clocks show another hour: 08:00 ran, and 09:00 would never have run."""
    timetable = cron("0 8-10 * * *", "America/Vancouver")
    schedule, _ = planned(at(timetable, OLD), "2027-01-04T15:00", "2027-01-04T16:10")
    result = retimed(schedule, timetable, [], instant("2027-01-04T16:05"), "new")
    assert next_of(result) == "2027-01-04T16:00:00Z"


def test_another_local_time_at_the_same_instant_has_a_place_of_its_own() -> None:
    timetable = cron("0 8-10 * * *", "America/Vancouver")
    schedule, jobs = planned(at(timetable, OLD), "2027-01-04T15:00", "2027-01-04T16:10")
    nine = a_job_of(schedule, timetable, next_slots(timetable, instant("2027-01-04T15:30"), 1)[0])
    assert (jobs[0].slot, mark_of(jobs[0]), mark_of(nine)) == (nine.slot, "2027-01-04T08:00:00", "2027-01-04T09:00:00")
    assert place_of(jobs[0], schedule, nine, schedule.since) is Place.BESIDE


def test_the_slots_that_an_outage_left_are_not_forgotten() -> None:
    """A deployment at the end of an outage left out what wildcards had missed, without a word."""
    timetable = cron("*/10 * * * *", "America/Vancouver")
    schedule, _ = planned(at(timetable, OLD), "2027-01-04T07:00", "2027-01-04T08:05")
    result = retimed(schedule, timetable, [], instant("2027-01-04T12:00"), "new")
    assert result == Retimed(replace(schedule, tzdata="new"))


def test_a_wildcard_loses_no_instant() -> None:
    half = zone_with("America/Vancouver", [("2026-11-01T09:00", -7.5)])
    timetable = cron("0 * * * *", "America/Vancouver")
    schedule, jobs = planned(at(timetable, OLD), "2027-01-04T07:00", "2027-01-04T08:32")
    result = retimed(
        schedule, at(timetable, half), ahead(jobs, instant("2027-01-04T08:25")), instant("2027-01-04T08:25"), "new"
    )
    assert next_of(result) == "2027-01-04T08:30:00Z"


def test_midnight_in_beirut() -> None:
    """2023: the clocks were to jump over midnight, then they were not; what was made up for it was taken for 01:00."""
    timetable = cron("0 0 * * *", "Asia/Beirut")
    old, new = at(timetable, BEIRUT_A), at(timetable, BEIRUT_B)
    now = instant("2023-03-25T21:55")
    schedule, jobs = planned(old, "2023-03-24T23:00", "2023-03-25T22:05")
    assert [mark_of(job) for job in jobs] == ["2023-03-26T00:00:00"]
    for there in (jobs, []):
        before = schedule if there else planned(old, "2023-03-24T23:00", "2023-03-25T21:00")[0]
        result = retimed(before, new, there, now, "new")
        assert result.moved is None or next_of(result) == "2023-03-25T22:00:00Z"
    half, _ = planned(replace(old, expression=cron("30 0 * * *").expression), "2023-03-24T23:00", "2023-03-25T21:00")
    result = retimed(half, replace(new, expression=cron("30 0 * * *").expression), [], now, "new")
    assert next_of(result) == "2023-03-25T22:30:00Z"


def test_the_later_of_two_passes_that_come_no_more_runs_in_the_only_one() -> None:
    timetable = replace(cron("30 1 * * *", "America/Vancouver"), on_repeat=SlotsOnRepeat.LAST)
    schedule, _ = planned(at(timetable, OLD), "2026-10-31T10:00", "2026-11-01T00:00")
    assert schedule.next_local == "2026-11-01T01:30:00*"
    result = retimed(schedule, timetable, [], instant("2026-11-01T00:05"), "new")
    assert next_of(result) == "2026-11-01T08:30:00Z"


def test_both_passes_run_once_when_the_database_comes_between_them() -> None:
    """The text order of 01:00* and 01:30 is not their order in time: 01:30 ran again."""
    timetable = replace(cron("0,30 1 * * *", "America/New_York"), on_repeat=SlotsOnRepeat.BOTH)
    schedule, jobs = planned(timetable, "2026-11-01T04:00", "2026-11-01T05:45")
    assert (schedule.next_local, len(jobs)) == ("2026-11-01T01:00:00*", 2)
    result = retimed(schedule, timetable, [], instant("2026-11-01T05:45"), "new")
    assert result == Retimed(replace(schedule, tzdata="new"))
    later = zone_with("America/New_York", [("2026-11-01T06:30", -5)])
    result = retimed(schedule, at(timetable, later), [], instant("2026-11-01T05:45"), "new")
    result = with_stand_ins(result, at(timetable, later), jobs, instant("2026-11-01T05:45"), timedelta(days=30))
    blocked = {job.slot for job in (*jobs, *result.stand_ins)}
    found = slots(at(timetable, later), result.schedule.planned_until, instant("2026-11-01T12:00"))
    free = [each for each in found if a_job_of(schedule, timetable, each).slot not in blocked]
    assert "2026-11-01T01:30:00" not in [coming(each).local for each in free]
    assert result.schedule.planned_until >= instant("2026-11-01T05:30") - MILLISECOND
