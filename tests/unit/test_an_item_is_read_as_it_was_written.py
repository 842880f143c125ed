"""Jobs as items: those of every release are still read, and nothing is lost on the way there and back."""

from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.template.expansion import expand
from tests.unit.making import NOW, SECOND, a_job, instants, jobs, payloads, running

from onthedot.adapters.attributes import seconds_text
from onthedot.adapters.expressions import Expression
from onthedot.adapters.indexes import KEYS
from onthedot.adapters.items import JOB, SHARD, item_of, job_key, job_of
from onthedot.rules.instants import MILLISECOND
from onthedot.rules.jobs import Job, Payload, Retry, State
from onthedot.rules.transitions import ended

RUNNING = {
    "schedule": {"S": "job#a"},
    "slot": {"S": "-"},
    "handler": {"S": "example.echo"},
    "run_at": {"S": "2027-03-28T01:00:00.000Z"},
    "request": {"S": "00000000000000000000000000000000"},
    "created_at": {"S": "2027-03-28T00:59:00.000Z"},
    "timeout": {"N": "30"},
    "start_within": {"N": "1"},
    "start_before": {"S": "2027-03-28T01:00:01.000Z"},
    "owner": {"S": "other"},
    "lease_until": {"N": "1806195647.25"},
    "started_at": {"S": "2027-03-28T01:00:00.000Z"},
    "state": {"S": "running"},
    "attempt": {"N": "1"},
    "retry": {"S": '{"max_attempts": 8, "first": 5.0, "factor": 2.0, "max": 60.0}'},
    "payload_item": {"S": "payload#f00"},
    "payload_size": {"N": "2000"},
    "payload_until": {"S": "2028-05-31T01:00:00.000Z"},
    "shard": {"S": "0"},
    "agenda": {"S": "2027-03-28T01:00:00.000Z#job#a#-"},
    "group_key": {"S": "batch#0"},
    "grouped": {"S": "2027-03-28T00:59:00.000Z#job#a#-"},
}
AS_RUNNING = running(
    group="batch",
    timeout=timedelta(seconds=30),
    retry=Retry(8, 5.0, 2.0, 60.0),
    start_within=SECOND,
    start_before=NOW + SECOND,
    lease_until=NOW + timedelta(seconds=47, milliseconds=250),
    payload=Payload(2000, stored_as="payload#f00", kept_until=NOW + timedelta(days=430)),
)
DEAD = {name: value for name, value in RUNNING.items() if name != "agenda"} | {
    "state": {"S": "dead"},
    "finished_at": {"S": "2027-03-28T01:00:00.001Z"},
    "error": {"S": "RuntimeError: boom"},
    "reason": {"S": "failed"},
    "expires_at": {"N": "1808787601"},
    "dead": {"S": "2027-03-28T01:00:00.001Z#job#a#-"},
}
AS_DEAD = ended(
    AS_RUNNING, State.DEAD, NOW + MILLISECOND, timedelta(days=30), error="RuntimeError: boom", reason="failed"
)
LEAST = {
    "schedule": {"S": "job#a"},
    "slot": {"S": "-"},
    "handler": {"S": "example.echo"},
    "run_at": {"S": "2027-03-28T01:00:00.000Z"},
    "request": {"S": "00000000000000000000000000000000"},
    "created_at": {"S": "2027-03-28T00:59:00.000Z"},
    "state": {"S": "scheduled"},
    "attempt": {"N": "0"},
    "payload": {"S": "null"},
    "shard": {"S": "0"},
    "agenda": {"S": "2027-03-28T01:00:00.000Z#job#a#-"},
}
TRUE = LEAST | {"pinned": {"BOOL": True}, "stop": {"BOOL": True}}
GOLDEN = [(RUNNING, AS_RUNNING), (DEAD, AS_DEAD), (LEAST, a_job()), (TRUE, a_job(pinned=True, stop=True))]


@pytest.mark.parametrize(("item", "job"), GOLDEN, ids=["running", "dead", "least", "true"])
def test_the_first_releases_items_are_read_and_written_the_same(item: dict[str, Any], job: Job) -> None:
    """Items live for years, and two releases share a table during an upgrade (aws-traps 29)."""
    assert job_of(item) == job
    assert item_of(job, 4) == item


def test_a_reader_bears_what_a_newer_writer_adds() -> None:
    assert job_of(LEAST | {"colour": {"N": "1"}, "tags": {"SS": ["x"]}, "nested": {"M": {}}}) == a_job()


@settings(max_examples=40)
@given(jobs())
def test_a_job_is_read_as_it_was_written(job: Job) -> None:
    assert job_of(item_of(job, 4)) == job


@given(instants(), st.timedeltas(timedelta(0), timedelta(days=3650)))
def test_a_table_deletes_by_whole_seconds_and_never_too_soon(now: datetime, keep: timedelta) -> None:
    """DynamoDB's TTL takes a Number of whole epoch seconds, and passes over anything else in silence."""
    job = ended(running(), State.SUCCEEDED, now, keep)
    assert job.expires_at is not None
    (number,) = item_of(job, 4)["expires_at"].items()
    assert number == ("N", str(int(job.expires_at.timestamp())))
    assert job.expires_at >= now + keep


def test_the_attribute_that_expires_is_the_tables() -> None:
    ttl = expand().properties("JobsTable")["TimeToLiveSpecification"]
    assert ttl == {"AttributeName": "expires_at", "Enabled": True}
    assert "expires_at" in JOB


@given(st.integers(-(10**15), 10**15))
def test_a_number_of_seconds_is_plain_and_exact(milliseconds: int) -> None:
    text = seconds_text(milliseconds * MILLISECOND)
    assert Decimal(text) * 1000 == milliseconds
    assert "E" not in text


def test_keys_and_indexes_are_the_templates() -> None:
    jobs, shards = expand().properties("JobsTable"), expand().properties("ShardsTable")
    assert schema(*job_key("job#a", "-")) == jobs["KeySchema"]
    assert schema("shard") == shards["KeySchema"]
    assert "shard" in SHARD
    indexes = {index["IndexName"]: index for index in jobs["GlobalSecondaryIndexes"]}
    assert {name.value: schema(*keys) for name, keys in KEYS.items()} == {
        name: index["KeySchema"] for name, index in indexes.items()
    }
    shown = {name: index["Projection"].get("NonKeyAttributes", []) for name, index in indexes.items()}
    assert shown == {"agenda": [], "groups": [], "dead": ["handler"]}


def schema(*names: str) -> list[dict[str, str]]:
    return [{"AttributeName": name, "KeyType": kind} for name, kind in zip(names, ("HASH", "RANGE"), strict=False)]


@settings(max_examples=40)
@given(jobs())
def test_a_job_is_in_an_index_only_while_it_belongs_there(job: Job) -> None:
    item = item_of(job, 4)
    assert ("agenda" in item) == (job.wake is not None)
    assert ("grouped" in item) == ("group_key" in item) == (job.group is not None)
    assert ("dead" in item) == (job.state is State.DEAD and job.finished_at is not None)


@settings(max_examples=25)
@given(jobs(), jobs())
def test_an_update_changes_what_differs(one: Job, other: Job) -> None:
    before, after = item_of(one, 4), item_of(replace(other, schedule=one.schedule, slot=one.slot), 4)
    expression = Expression()
    update = expression.changes(before, after)
    words = update.replace(",", "").split()
    removed = words[words.index("REMOVE") + 1 :] if "REMOVE" in words else []
    pairs = words[1 : len(words) - len(removed) - bool(removed)]
    changed = {
        pair[0][1:]: expression.values[pair[2]] for pair in zip(pairs[::3], pairs[1::3], pairs[2::3], strict=True)
    }
    kept = {name: value for name, value in before.items() if f"#{name}" not in removed}
    assert kept | changed == after


def test_a_change_that_changes_nothing_is_still_an_update() -> None:
    """An empty UpdateExpression is refused: to move a far job to the time that it had was answered with a 500."""
    item = item_of(a_job(), 4)
    assert Expression().changes(item, item) == "SET #state = :v0"


@given(payloads())
def test_a_payload_keeps_its_size(payload: Payload) -> None:
    assert job_of(item_of(a_job(payload=payload), 4)).payload == payload
