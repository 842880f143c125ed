"""A row that cannot be read becomes broken, with the reason, told once and off the index; all others go on."""

import json
from datetime import timedelta
from typing import Any

import pytest
from tests.support.lab import Lab
from tests.support.schedules import change, look, minutes, put, row, skipped, slots_of, told

from onthedot.rules.events import Event
from onthedot.rules.instants import to_text
from onthedot.rules.schedules import ScheduleState

MINUTELY = {"cron": "* * * * *", "handler": "test.record"}


def said(**fields: Any) -> dict[str, Any]:
    """Return the attribute that says this of a schedule."""
    return {"fields": {"S": json.dumps({**MINUTELY, **fields})}}


GARBAGE: dict[str, dict[str, Any]] = {
    "a zone that is gone": said(zone="Mars/Olympus"),
    "a cron of four fields": said(cron="* * * *"),
    "a cron that is a number": said(cron=5),
    "two expressions": said(every=60),
    "a date that matches nothing": said(cron="0 0 30 2 *"),
    "excluded numbers": said(exclude=[5]),
    "excluded nothing": said(exclude=[None]),
    "a policy that nobody knows": said(missed="sometimes"),
    "a grace that is true": said(grace=True),
    "a grace below nothing": said(grace=-1),
    "a retry that is a text": said(retry="often"),
    "a retry of texts": said(retry={"max_attempts": "x"}),
    "a field of tomorrow": said(colour="red"),
    "a spread of years": said(spread="P9Y"),
    "no handler": {"fields": {"S": '{"cron":"* * * * *"}'}},
    "no JSON": {"fields": {"S": "{"}},
    "a list": {"fields": {"S": "[]"}},
    "too deep": {"fields": {"S": "[" * 100_000}},
    "a binary": {"fields": {"B": b"x"}},
    "no fields": {"fields": None},
    "no payload": {"payload": None},
    "no generation": {"generation": None},
    "no version": {"version": None},
    "a version that is a text": {"version": {"S": "two"}},
    "no state": {"state": None},
    "a state that nobody knows": {"state": {"S": "dancing"}},
    "a state that is a number": {"state": {"N": "1"}},
    "no time of the last edit": {"since": None},
    "a time that is none": {"since": {"S": "yesterday"}},
    "a time that is a number": {"planned_until": {"N": "5"}},
    "no stamp": {"stamp": None},
    "a stamp that is a number": {"stamp": {"N": "5"}},
    "a stamp that is nothing": {"stamp": {"NULL": True}},
    "a pause of nothing": {"paused": {"S": "{}"}},
    "a pause that is a list": {"paused": {"S": "[1]"}},
    "a payload of no size": {"payload": None, "payload_item": {"S": "payload#x"}, "payload_size": {"S": "x"}},
}


def breaking(lab: Lab) -> dict[str, str]:
    """Make a schedule of each kind of garbage, among healthy ones; return what each is called."""
    names = {f"s{number:02}": what for number, what in enumerate(GARBAGE)}
    for name, what in names.items():
        put(name, cron="0 4 * * *")
        change(lab, name, next_at={"S": to_text(lab.now() + timedelta(seconds=30))}, **GARBAGE[what])
    for name in ("a", "s05-well", "z"):
        put(name)
    lab.time.shift(300)
    return names


def test_every_kind_of_garbage(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """One row that could not be read ended the look at its shard, and no schedule of it ran, minute after minute."""
    names, notes = breaking(lab), told(monkeypatch)
    lab.tick()
    for name in ("a", "s05-well", "z"):
        assert list(slots_of(name)) == minutes(lab.now().replace(second=0) - timedelta(minutes=4), 15)
    rows = {item["name"]["S"]: item for item in lab.items("SchedulesTable") if "broken" in item}
    assert sorted(rows) == sorted(names)
    assert [names[name] for name, item in rows.items() if item["state"] != {"S": "broken"} or "next_at" in item] == []
    assert not [what for name, what in names.items() if not row(name).broken]
    lab.tick()
    for name in names:
        look(row(name))
    assert sorted(name for event, name, *_ in notes if event is Event.SCHEDULE_BROKEN) == sorted(names), "each once"
    assert not [note for note in notes if note[0] is Event.SCHEDULE_FAILED]


@pytest.mark.parametrize("group", ["\ud800"])
def test_what_can_be_read_and_not_be_planned_stops_no_other(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, group: str
) -> None:
    """What nobody thought of is told at each tick, and the others go on."""
    names, notes = [put(name).name for name in ("a", "b", "c")], told(monkeypatch)
    change(lab, "b", **said(group=group))
    lab.time.shift(60)
    lab.tick()
    assert [len(slots_of(name)) for name in names] == [11, 10, 11]
    assert [name for event, name, *_ in notes if event is Event.SCHEDULE_FAILED] == ["b"]


def test_it_is_counted(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    """A schedule that stands still must ring somewhere."""
    put("s")
    change(lab, "s", **said(zone="Mars/Olympus"), next_at={"S": to_text(lab.now())})
    lab.tick()
    assert '"SchedulesBroken":[1.0]' in capsys.readouterr().out.replace(" ", "")


@pytest.mark.parametrize("what", ["a policy that nobody knows", "a field of tomorrow"])
def test_an_edit_mends_it_and_what_was_missed_is_not_forgotten(lab: Lab, what: str) -> None:
    """Mended, it began anew, and nobody ever heard of the slots that passed while it was broken."""
    put("s", missed="latest")
    change(lab, "s", **GARBAGE[what])
    lab.advance(minutes=30)
    assert row("s").state is ScheduleState.BROKEN
    put("s", missed="latest")
    now = row("s")
    assert (now.state, now.version, now.broken) == (ScheduleState.ACTIVE, 2, None)
    assert skipped(lab, "s") == [("2027-01-04T08:11:00Z", "2027-01-04T08:29:00Z", 19, "not the latest")]
    assert list(slots_of("s"))[10:] == minutes(lab.now().replace(second=0), 11)


def test_an_edit_mends_even_what_cannot_be_read_at_all(lab: Lab) -> None:
    """There was no way to a working schedule but to delete its row by hand."""
    names = breaking(lab)
    lab.tick()
    for name in names:
        put(name, cron=f"{lab.now().minute + 5} * * * *")
        assert (row(name).state, row(name).broken) == (ScheduleState.ACTIVE, None)
        assert minutes(lab.now().replace(second=0), 6)[-1] in slots_of(name)
