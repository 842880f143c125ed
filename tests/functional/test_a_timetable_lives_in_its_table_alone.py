"""Everything that a timetable needs is in the table: restarts, gaps between looks, and clock changes lose nothing."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.support.handlers import RAN
from tests.support.lab import Lab, forget
from tests.support.schedules import history, look, put, ran_slots, row, skipped, slots_of

from onthedot.rules.instants import from_text, shown, to_text
from onthedot.rules.schedules import ScheduleState

DAY = timedelta(days=1)


def at(text: str) -> datetime:
    return from_text(f"{text}.000Z")


def begin(lab: Lab, text: str) -> None:
    """Have the lab's time begin there."""
    lab.time.move_to(at(text))
    lab.next_tick = lab.now().replace(second=0) + timedelta(minutes=1)


def test_a_rhythm_longer_than_any_process_lives(lab: Lab) -> None:
    """X08: the next run lived in memory; in a service that restarts every two days a weekly job never ran."""
    begin(lab, "2027-01-01T00:00:00")
    put("s", every=604_800, anchor="2027-01-01T00:00:00Z")
    for _ in range(14):
        lab.advance(days=2)
        forget()
    lab.advance(days=1)
    assert ran_slots("s") == [f"2027-01-{day}T00:00:00Z" for day in ("08", "15", "22", "29")]


@pytest.mark.parametrize("policy", ["catch_up", "latest"])
def test_a_slot_between_two_looks(lab: Lab, policy: str) -> None:
    """X05: each look saw only the minute before it, and when the leader changed, a slot fell between two looks.

    Here the one at 03:59:10 made its job already; a dispatcher that had been down since then finds it no later.
    """
    begin(lab, "2027-01-04T03:45:00")
    put("s", cron="0 4 * * *", missed=policy)
    lab.time.move_to(at("2027-01-04T04:02:05"))
    look(row("s"))
    lab.settle()
    assert ran_slots("s") == ["2027-01-04T04:00:00Z"]
    assert RAN[0].at - at("2027-01-04T04:00:00") == timedelta(seconds=125)
    look(row("s"))
    look(row("s"))
    lab.settle()
    assert len(RAN) == 1, "a tick more or less is harmless"


def test_what_has_expired_and_is_not_deleted_yet_takes_no_slot(lab: Lab) -> None:
    """L08: items past their time stay for days; a deleted schedule's old job and history must not count."""
    begin(lab, "2027-01-04T08:00:30")
    read = put("s", cron="0 9 * * *")
    lab.time.move_to(at("2027-01-04T08:55:00"))
    [job] = look(read)
    item = {"schedule": {"S": job.schedule}, "slot": {"S": job.slot}}
    [stored] = [item for item in lab.items() if item["slot"]["S"] == job.slot]
    old = {name: value for name, value in stored.items() if name not in ("agenda", "shard", "wake")}
    nine = to_text(at("2027-01-04T09:00:00"))
    gone = str(int(lab.now().timestamp()) - 3_600)
    expired = old | {"state": {"S": "succeeded"}, "generation": {"S": "former"}, "expires_at": {"N": gone}}
    lab.dynamodb.put_item(TableName=lab.tables["JobsTable"], Item=expired | item)
    lab.dynamodb.put_item(
        TableName=lab.tables["SchedulesTable"],
        Item={
            "name": {"S": "s"},
            "part": {"S": f"skipped#{nine}#former"},
            "facts": {"S": json.dumps({"from": nine, "to": nine, "count": 1, "reason": "x"})},
            "expires_at": {"N": gone},
        },
    )
    put("s", "2", cron="0 9 * * *")
    assert [job.payload.text for job in slots_of("s").values()] == ["2"]
    lab.advance(minutes=6)
    assert ran_slots("s") == ["2027-01-04T09:00:00Z"]


SPRING = ["2027-03-27T01:30:00Z", "2027-03-28T01:00:00Z", "2027-03-29T00:30:00Z"]
AUTUMN = ["2026-10-24T00:30:00Z", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"]


@pytest.mark.parametrize(("start", "slots"), [("2027-03-26T12:00:30", SPRING), ("2026-10-23T12:00:30", AUTUMN)])
def test_half_past_one_in_london_over_both_changes(lab: Lab, start: str, slots: list[str]) -> None:
    """Each night once, at the local time, and in spring right after the hour that is not."""
    begin(lab, start)
    put("s", cron="30 1 * * *", zone="Europe/London")
    lab.advance(days=3)
    runs = ran_slots("s")
    assert len(runs) == 3
    assert [shown(call.at.replace(microsecond=0)) for call in RAN] == runs
    local = {slot: (job.local_slot, job.fold) for slot, job in slots_of("s").items()}
    assert runs == slots, local


@pytest.mark.parametrize(("start", "count"), [("2027-03-27T23:45:30", 6), ("2026-10-24T23:45:30", 6)])
def test_every_half_hour_goes_on_through_both_changes(lab: Lab, start: str, count: int) -> None:
    """A rhythm is of real time: each pass of the hour that comes twice counts, and none is made up."""
    begin(lab, start)
    put("s", cron="*/30 * * * *", zone="Europe/London")
    lab.advance(hours=3)
    first = at(start).replace(minute=0, second=0) + timedelta(hours=1)
    assert ran_slots("s") == [shown(first + number * timedelta(minutes=30)) for number in range(count)]


def test_a_timetable_that_is_over_has_ended(lab: Lab) -> None:
    """It stayed on the index of what is due, and each minute somebody looked in vain."""
    put("s", ends_at="2027-01-04T08:05:00Z")
    lab.advance(minutes=20)
    assert len(ran_slots("s")) >= 4
    ended = row("s")
    assert (ended.state, ended.next_at) == (ScheduleState.ENDED, None)
    lab.calls.clear()
    lab.tick()
    assert {call.operation for call in lab.calls} & {"GetItem", "BatchGetItem", "TransactWriteItems"} == set()
    again: Any = put("s", ends_at="2027-01-04T11:00:00Z")
    assert again.state is ScheduleState.ACTIVE
    assert history(lab, "s", "version")[0]["version"] == 1
    assert skipped(lab, "s") == []
