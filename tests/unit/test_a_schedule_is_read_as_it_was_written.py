"""Schedules as items: those of every release are still read, and one that cannot be read stops nobody."""

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import schedules as stories
from tests.support.lab import Lab
from tests.template.expansion import ROOT, expand
from tests.unit.making import NOW, a_job, a_schedule, schedules

from onthedot.adapters.items import JOB, item_of, job_of
from onthedot.adapters.schedule_items import PART, REQUIRED, SCHEDULE, row_key, schedule_item, schedule_of
from onthedot.rules.agenda import shard_of
from onthedot.rules.instants import from_text
from onthedot.rules.jobs import Job, Payload
from onthedot.rules.schedules import OnResume, Pause, Schedule, ScheduleState

HISTORY = ROOT / "tests/snapshots/items_of_schedules.json"
PAUSE = (
    '{"since": "2027-03-28T01:00:00.000Z", "until": "2027-03-29T01:00:00.000Z", "reason": "moving",'
    ' "by": "alice", "on_resume": "missed"}'
)
FULL = {
    "name": {"S": "nightly"},
    "part": {"S": "schedule"},
    "shard": {"S": "1"},
    "state": {"S": "paused"},
    "generation": {"S": "9f" * 12},
    "version": {"N": "7"},
    "fields": {"S": '{"handler":"example.echo","cron":"0 9 * * *","zone":"Europe/Zürich"}'},
    "payload_item": {"S": "payload#f00"},
    "payload_size": {"N": "2000"},
    "payload_hash": {"S": "74234e98afe7498fb5daf1f36ac2d78a"},
    "since": {"S": "2027-03-28T01:00:00.000Z"},
    "planned_until": {"S": "2027-03-28T01:00:00.001Z"},
    "created_at": {"S": "2027-03-28T01:00:00.000Z"},
    "changed_at": {"S": "2027-03-28T01:00:00.000Z"},
    "changed_by": {"S": "arn:aws:iam::123456789012:user/alice"},
    "stamp": {"S": "ab" * 12},
    "next_at": {"S": "2027-03-29T01:00:00.000Z"},
    "paced_until": {"S": "2027-03-28T02:00:00.000Z"},
    "paused": {"S": PAUSE},
    "broken": {"S": "why"},
    "tzdata": {"S": "2026c"},
    "next_local": {"S": "2027-03-29T03:00:00*"},
    "resumed_at": {"S": "2027-03-28T00:30:00.000Z"},
    "busy": {"S": "2027-03-28T00:40:00.000Z"},
    "waiting": {"S": "2027-03-28T00:50:00.000Z"},
}
AS_FULL = a_schedule(
    version=7,
    state=ScheduleState.PAUSED,
    fields={"handler": "example.echo", "cron": "0 9 * * *", "zone": "Europe/Zürich"},
    payload=Payload(2000, stored_as="payload#f00"),
    planned_until=from_text("2027-03-28T01:00:00.001Z"),
    next_at=from_text("2027-03-29T01:00:00.000Z"),
    paced_until=from_text("2027-03-28T02:00:00.000Z"),
    paused=Pause(NOW, from_text("2027-03-29T01:00:00.000Z"), "moving", "alice", OnResume.MISSED),
    broken="why",
    next_local="2027-03-29T03:00:00*",
    resumed_at=from_text("2027-03-28T00:30:00.000Z"),
    busy="2027-03-28T00:40:00.000Z",
    waiting="2027-03-28T00:50:00.000Z",
)
WITHIN = {"payload_item", "payload_size", "paced_until", "paused", "broken", "resumed_at", "busy", "waiting"}
LEAST = {name: value for name, value in FULL.items() if name not in WITHIN} | {
    "state": {"S": "active"},
    "version": {"N": "1"},
    "fields": {"S": '{"handler":"example.echo","cron":"0 9 * * *"}'},
    "payload": {"S": "null"},
    "planned_until": {"S": "2027-03-28T01:00:00.000Z"},
    "next_at": {"S": "2027-03-28T09:00:00.000Z"},
    "next_local": {"S": "2027-03-28T09:00:00"},
}
GOLDEN = [(FULL, AS_FULL), (LEAST, a_schedule())]
SLOT = {
    "schedule": {"S": "schedule#nightly"},
    "slot": {"S": "2027-03-28T01:00:00.000Z"},
    "state": {"S": "scheduled"},
    "handler": {"S": "example.echo"},
    "run_at": {"S": "2027-03-28T01:00:00.000Z"},
    "created_at": {"S": "2027-03-28T00:59:00.000Z"},
    "generation": {"S": "9f" * 12},
    "version": {"N": "7"},
    "local_slot": {"S": "2027-03-28T03:00:00+02:00"},
    "fold": {"N": "1"},
    "overlap": {"S": "wait"},
    "pinned": {"BOOL": True},
    "attempt": {"N": "0"},
    "owner": {"S": "ab" * 12},
    "payload_item": {"S": "payload#f00"},
    "payload_size": {"N": "2000"},
    "shard": {"S": "1"},
    "agenda": {"S": "2027-03-28T01:05:00.000Z#schedule#nightly#2027-03-28T01:00:00.000Z"},
}
AS_SLOT = a_job(
    schedule="schedule#nightly",
    slot="2027-03-28T01:00:00.000Z",
    wake=from_text("2027-03-28T01:05:00.000Z"),
    payload=Payload(2000, stored_as="payload#f00"),
    request=None,
    generation="9f" * 12,
    version=7,
    local_slot="2027-03-28T03:00:00+02:00",
    fold=1,
    overlap="wait",
    pinned=True,
    owner="ab" * 12,
)
KEYS = {"name", "part"}
SINCE = {"next_local", "resumed_at", "busy", "waiting"}
"""What came with retiming and turns: schedules of before have none of it."""
OPTIONAL = {"shard", "next_at", "paced_until", "paused", "broken", "tzdata", "payload_size"} | SINCE
FREE = {
    *("generation", "payload_hash", "changed_by", "stamp", "payload_item", "payload", "broken", "tzdata", "shard"),
    *("next_local", "busy", "waiting"),
}
"""Attributes that may hold any text."""
RETYPED: list[dict[str, Any]] = [
    {"S": "text"}, {"N": "1"}, {"BOOL": True}, {"B": b"x"}, {"M": {}}, {"L": []}, {"SS": ["x"]}, {"NS": ["1"]},
]  # fmt: skip
GARBLED = ["", "garbage", "null", "[]", "1", '"text"', "{", "[" * 20_000, "0000-00-00T00:00:00.000Z"]
NOT_NUMBERS = ["9" * 400, "1E+125", "-1E-130"]


@pytest.mark.parametrize(("item", "schedule"), GOLDEN, ids=["full", "least"])
def test_the_first_releases_schedules_are_read_and_written_the_same(item: dict[str, Any], schedule: Schedule) -> None:
    """Items live for years, and two releases share a table during an upgrade (aws-traps 29)."""
    assert schedule_of(item) == schedule
    assert schedule_item(schedule, 4) == item


def test_the_first_releases_jobs_of_slots_are_read_and_written_the_same() -> None:
    assert job_of(SLOT) == AS_SLOT
    assert item_of(AS_SLOT, 4) == SLOT


def test_a_reader_bears_what_a_newer_writer_adds() -> None:
    assert schedule_of(FULL | {"later": {"S": "x"}, "tags": {"SS": ["x"]}, "nested": {"M": {}}}) == AS_FULL


@settings(max_examples=40)
@given(schedules())
def test_a_schedule_is_read_as_it_was_written(schedule: Schedule) -> None:
    assert schedule_of(schedule_item(schedule, 4)) == schedule


@settings(max_examples=40)
@given(schedules(), st.integers(1, 256))
def test_a_schedule_is_looked_for_only_while_it_has_something_to_come(schedule: Schedule, shards: int) -> None:
    """The index of what is due is sparse: without `next_at` a schedule costs no look."""
    item = schedule_item(schedule, shards)
    assert ("next_at" in item) == (schedule.next_at is not None)
    assert item["shard"] == {"S": shard_of(schedule.key, shards)}
    assert item["part"] == {"S": PART}


def is_told_broken(item: dict[str, Any]) -> bool:
    """Tell whether an item is read as a broken schedule, which says why, and stays in its place."""
    schedule = schedule_of(item)
    if schedule.generation:
        return False
    assert (schedule.name, schedule.state) == ("nightly", ScheduleState.BROKEN)
    assert schedule.broken is not None
    assert schedule.broken.startswith("its row cannot be read: ")
    assert len(schedule.broken) <= 400
    return True


@pytest.mark.parametrize("name", sorted(FULL.keys() - KEYS))
def test_what_lacks_an_attribute_is_broken_unless_it_need_not_have_it(name: str) -> None:
    for left in ({}, {name: {"NULL": True}}):
        item = {key: value for key, value in FULL.items() if key != name} | left
        assert is_told_broken(item) == (name not in OPTIONAL)


def test_what_needs_not_be_there_is_what_a_schedule_may_lack() -> None:
    assert not OPTIONAL & set(REQUIRED)
    assert set(REQUIRED) - {"payload"} | OPTIONAL | KEYS | {"payload_item"} == FULL.keys() | {"name"}


@pytest.mark.parametrize("name", sorted(FULL.keys() - KEYS | {"payload"}))
def test_what_has_an_attribute_of_another_type_is_broken(name: str) -> None:
    (own,) = (FULL | LEAST)[name]
    for value in RETYPED:
        if own not in value:
            assert is_told_broken(FULL | {name: value}), value


@pytest.mark.parametrize("name", sorted(FULL.keys() - KEYS - FREE))
@pytest.mark.parametrize("text", GARBLED, ids=lambda text: text[:9])
def test_what_is_garbled_is_broken(name: str, text: str) -> None:
    """Deeply nested JSON ends the reader by its own depth: one such row stopped the planning of its whole shard."""
    (kind,) = FULL[name]
    if kind == "N":
        return
    no_pause = name == "paused" and text == "null"
    assert is_told_broken(FULL | {name: {"S": text}}) != no_pause


@pytest.mark.parametrize("name", ["version", "payload_size"])
@pytest.mark.parametrize("number", NOT_NUMBERS)
def test_no_number_that_a_table_can_hold_is_an_exception(name: str, number: str) -> None:
    assert schedule_of(FULL | {name: {"N": number}}).name == "nightly"


@given(st.dictionaries(st.sampled_from(sorted(FULL.keys() - KEYS)), st.sampled_from(RETYPED) | st.none(), min_size=2))
def test_however_much_is_wrong_with_a_row_it_is_read(changes: dict[str, Any]) -> None:
    item = {name: value for name, value in (FULL | changes).items() if value is not None}
    assert schedule_of(item).name == "nightly"


def test_keys_and_indexes_are_the_templates() -> None:
    table = expand().properties("SchedulesTable")
    assert list(row_key("s")) == [key["AttributeName"] for key in table["KeySchema"]]
    assert [key["KeyType"] for key in table["KeySchema"]] == ["HASH", "RANGE"]
    for index in table["GlobalSecondaryIndexes"]:
        assert {key["AttributeName"] for key in index["KeySchema"]} <= SCHEDULE.keys()
        assert index["Projection"] == {"ProjectionType": "KEYS_ONLY"}
    assert table["TimeToLiveSpecification"] == {"AttributeName": "expires_at", "Enabled": True}


def lived(lab: Lab, patch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Return the schedules table after a life with an edit, a pause, an outage and a deletion."""
    tokens = iter(f"{number:024}" for number in range(10_000))
    patch.setattr("onthedot.clock.secrets.token_hex", lambda _: next(tokens))
    for step in ("edit", "retime"):
        patch.setattr(f"onthedot.steps.{step}.database_version", lambda: "2026c")
    stories.put("nightly", cron="0 9 * * *", zone="Europe/Berlin")
    lab.time.shift(1.5)
    stories.put("nightly", '{"a": 1.0}', cron="0 12 * * *", zone="Europe/Berlin", missed="skip")
    stories.hold("nightly", until=lab.now().replace(hour=18, microsecond=0))
    lab.time.shift(11 * 3_600)
    stories.resume("nightly")
    lab.time.shift(7 * 86_400)
    stories.look(stories.row("nightly"))
    stories.put("gone", cron="0 9 * * *")
    stories.delete("gone")
    rows = sorted(lab.items("SchedulesTable"), key=lambda item: (item["name"]["S"], item["part"]["S"]))
    some_token: list[dict[str, Any]] = json.loads(re.sub(r"0{20}\d{4}", "0" * 24, json.dumps(rows)))
    return some_token


def test_what_is_written_of_a_life_is_what_the_first_release_wrote(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ledger reads rows of the past for as long as the retention: their places and facts may grow, not change."""
    assert lived(lab, monkeypatch) == json.loads(HISTORY.read_text())


def test_rows_of_the_past_expire_and_the_schedule_does_not() -> None:
    rows = json.loads(HISTORY.read_text())
    assert {row["part"]["S"].split("#")[0] for row in rows} == {"schedule", "version", "pause", "skipped"}
    for row in rows:
        assert ("expires_at" in row) == (row["part"]["S"] != PART)
        assert "shard" not in row or row["part"]["S"] == PART
    assert "expires_at" not in SCHEDULE


def test_a_job_of_the_first_release_has_only_attributes_that_are_known() -> None:
    assert SLOT.keys() <= JOB.keys()
    assert isinstance(job_of(SLOT), Job)
