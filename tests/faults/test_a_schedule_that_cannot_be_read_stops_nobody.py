"""A row that somebody garbled, or a newer release wrote: it is told of, stops no other, and an edit mends it."""

import json
from typing import Any

import pytest
from tests.faults.failing import Faults, refused
from tests.support import schedules
from tests.support.handlers import RAN
from tests.support.lab import Lab
from tests.support.worlds import Repeating, client_of, with_client

from onthedot import wiring
from onthedot.rules.events import Event
from onthedot.rules.schedules import ScheduleState
from onthedot.steps.plan import definition_of

HOUR = 3_600
GARBLED: dict[str, dict[str, Any] | None] = {
    "fields": {"S": "no json"},
    "state": {"S": "asleep"},
    "since": None,
    "version": {"S": "1"},
    "generation": {"N": "1"},
    "paused": {"S": "[" * 20_000},
    "stamp": None,
}
STAMPS: list[dict[str, Any] | None] = [None, {"N": "1"}, {"S": ""}, {"NULL": True}, {"M": {}}, {"S": "x"}]
UNKNOWN = {
    "a fault": {"S": '{"handler":"test.record","cron":"99 * * * *"}'},
    "a field": {"S": '{"handler":"test.record","cron":"0 9 * * *","moon":"full"}'},
    "no handler": {"S": '{"cron":"0 9 * * *"}'},
    "nothing": {"S": "{}"},
}


def broken(lab: Lab, **attributes: dict[str, Any] | None) -> str:
    """Return the name of a schedule that is due and cannot be read."""
    schedules.put("broken", cron="0 9 * * *")
    schedules.change(lab, "broken", **attributes)
    return "broken"


def is_mended() -> bool:
    """Mend the broken schedule as anybody would: write it anew."""
    schedules.put("broken")
    return schedules.row("broken").state is ScheduleState.ACTIVE and len(schedules.slots_of("broken")) == 10


@pytest.mark.parametrize("name", GARBLED)
def test_all_others_are_planned_and_it_is_told_of_once(lab: Lab, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told = schedules.told(monkeypatch)
    broken(lab, **{name: GARBLED[name]})
    others = [f"other{number}" for number in range(3)]
    for other in others:
        schedules.put(other, cron="0 9 * * *")
    lab.advance(hours=2)
    assert sorted(call.id for call in RAN) == [f"{other}@2027-01-04T09:00:00Z" for other in others]
    assert [note[1] for note in told if note[0] is Event.SCHEDULE_BROKEN] == ["broken"]
    assert not [note for note in told if note[0] is Event.SCHEDULE_FAILED]
    assert schedules.row("broken").state is ScheduleState.BROKEN
    assert is_mended()


@pytest.mark.parametrize("fields", UNKNOWN.values(), ids=UNKNOWN)
def test_a_definition_that_means_nothing_is_broken_too(lab: Lab, fields: dict[str, Any]) -> None:
    broken(lab, fields=fields)
    lab.advance(hours=2)
    found = schedules.row("broken")
    assert (found.state, found.next_at) == (ScheduleState.BROKEN, None)
    assert found.broken
    assert is_mended()


@pytest.mark.parametrize("stamp", STAMPS, ids=str)
def test_it_is_mended_and_deleted_whatever_its_stamp_has_become(lab: Lab, stamp: dict[str, Any] | None) -> None:
    """The condition was that there is no stamp, which a stamp of another type never met: nobody could mend it."""
    broken(lab, fields={"S": "no json"}, stamp=stamp)
    assert is_mended()
    schedules.change(lab, "broken", fields={"S": "no json"}, stamp=stamp)
    assert schedules.delete("broken") is not None
    assert wiring.world().schedules.get("broken") is None


@pytest.mark.parametrize("stamp", STAMPS, ids=str)
def test_two_who_mend_it_at_once_do_not_both(lab: Lab, stamp: dict[str, Any] | None) -> None:
    broken(lab, fields={"S": "no json"}, stamp=stamp)
    before = schedules.row("broken")
    mended = schedules.put("broken")
    write = wiring.world().schedules.write
    refusal = write(before, mended, [])
    assert refusal is None, "the same write again is the same write"
    other = schedules.put("other")
    assert write(before, type(other)(**{**facts(other), "name": "broken"}), []) is not None
    assert schedules.row("broken") == mended


def facts(schedule: Any) -> dict[str, Any]:
    """Return what a schedule is made of."""
    return {name: getattr(schedule, name) for name in schedule.__slots__}


def test_a_mark_that_meets_itself_is_told_of(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK had repeated the call, so nobody told of the schedule, and no alarm rang."""
    told = schedules.told(monkeypatch)
    broken(lab, fields={"S": "{}"})
    world = wiring.world()
    repeating = with_client(world, "schedules", Repeating(client_of(world, "schedules")))
    assert definition_of(repeating, schedules.row("broken")) is None
    assert [note[0] for note in told].count(Event.SCHEDULE_BROKEN) == 1


def test_a_mark_that_was_too_late_is_not(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    broken(lab, fields={"S": "{}"})
    before = schedules.row("broken")
    assert is_mended()
    told = schedules.told(monkeypatch)
    assert definition_of(wiring.world(), before) is None
    assert told == []
    assert schedules.row("broken").state is ScheduleState.ACTIVE


def test_a_mark_meets_a_transaction_as_if_there_had_been_none(lab: Lab, faults: Faults) -> None:
    broken(lab, fields={"S": "{}"})
    faults.on("UpdateItem", *[refused("TransactionConflictException")] * 2)
    assert definition_of(wiring.world(), schedules.row("broken")) is None
    assert schedules.row("broken").state is ScheduleState.BROKEN


def test_what_it_was_is_not_needed_to_write_it_anew(lab: Lab) -> None:
    broken(lab, **dict.fromkeys(("fields", "since", "payload", "payload_hash", "created_at", "changed_by")))
    assert is_mended()


@pytest.mark.parametrize("payload", ['"small"', f'"{"x" * 2_000}"'], ids=["inside", "apart"])
def test_its_payload_is_shown_and_expires_once_it_is_mended(lab: Lab, payload: str) -> None:
    """It was shown as null, and what lay apart was kept for ever."""
    schedules.put("broken", payload, cron="0 9 * * *")
    schedules.change(lab, "broken", fields={"S": "no json"})
    assert json.dumps(lab.call("GET", "/schedules/broken").body["payload"]) == payload
    schedules.put("broken", cron="0 9 * * *")
    assert all("expires_at" in item for item in lab.items())
    assert lab.call("GET", "/schedules/broken").body["payload"] is None
