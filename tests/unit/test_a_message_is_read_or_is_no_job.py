"""What crosses a queue: every released version is still read, and nothing else is taken for a job."""

import json
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.unit.making import NOW, entries, names

from onthedot.messages import ShardMessage, job_text, read_job, read_shard, shard_text
from onthedot.rules.agenda import Entry

JOB = '{"v":1,"schedule":"job#a","slot":"-","wake":"2027-03-28T01:00:00.000Z"}'
SWEPT = "2027-03-28T00:00:00.000Z#job#j1#-"
SHARD = (
    '{"v":1,"shard":"3","ticked_at":"2027-03-28T01:00:00.000Z","hops":2,"lease":"f00",'
    '"swept":"2027-03-28T00:00:00.000Z#job#j1#-"}'
)
FIRST = '{"v":1,"shard":"3","ticked_at":"2027-03-28T01:00:00.000Z","hops":0,"lease":null,"swept":null}'


def test_the_first_releases_messages_are_read() -> None:
    """A message may be two weeks old, and four days of an upgrade have both versions (aws-traps 29)."""
    assert read_job(JOB) == Entry(NOW, "job#a", "-")
    assert read_shard(SHARD) == ShardMessage("3", NOW, 2, "f00", SWEPT)
    assert read_shard(FIRST) == ShardMessage("3", NOW)


def test_they_are_written_as_the_first_release_did() -> None:
    assert job_text(Entry(NOW, "job#a", "-")) == JOB
    assert shard_text(ShardMessage("3", NOW, 2, "f00", SWEPT)) == SHARD
    assert shard_text(ShardMessage("3", NOW)) == FIRST


def test_a_reader_bears_what_a_newer_writer_of_this_version_adds() -> None:
    assert read_job(JOB.replace('"v":1', '"v":1,"new":{}')) == Entry(NOW, "job#a", "-")


@given(entries())
def test_a_job_message_is_read_as_it_was_written(entry: Entry) -> None:
    assert read_job(job_text(entry)) == entry


@given(st.integers(0, 255), st.integers(0, 60), st.none() | names())
def test_a_shard_message_is_read_as_it_was_written(shard: int, hops: int, lease: str | None) -> None:
    message = ShardMessage(str(shard), NOW + timedelta(milliseconds=shard), hops, lease)
    assert read_shard(shard_text(message)) == message


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["v", "schedule", "slot", "wake", "x"]), inner),
    max_leaves=8,
)


@given(st.text() | JSON.map(json.dumps))
@example("[" * 100_000)
@example("1" * 5_000)
@example("")
def test_any_text_is_a_job_or_none_and_never_an_error(text: str) -> None:
    found = read_job(text)
    assert found is None or isinstance(found, Entry)


def changed(text: str, **facts: Any) -> str:
    return json.dumps(json.loads(text) | facts)


@pytest.mark.parametrize(
    "facts",
    [
        {"v": 2},
        {"v": 0},
        {"v": "1"},
        {"v": None},
        {"schedule": ""},
        {"schedule": 1},
        {"schedule": None},
        {"schedule": "a"},
        {"schedule": "job#\ud800"},
        {"schedule": "job#" + "a" * 2045},
        {"slot": ""},
        {"slot": None},
        {"slot": "\udfff"},
        {"slot": "a" * 1025},
        {"wake": ""},
        {"wake": 1},
        {"wake": "2027-03-28T01:00:00Z"},
        {"wake": "0001-01-01T00:00:00+14:00"},
    ],
    ids=lambda facts: str(facts)[:40],
)
def test_this_is_no_job(facts: dict[str, Any]) -> None:
    """A key that DynamoDB refuses would fail each time that it is received, for two weeks, and never be a stray."""
    assert read_job(changed(JOB, **facts)) is None


@pytest.mark.parametrize("name", ["v", "schedule", "slot", "wake"])
def test_a_message_that_lacks_something_is_no_job(name: str) -> None:
    facts = json.loads(JOB)
    del facts[name]
    assert read_job(json.dumps(facts)) is None


@pytest.mark.parametrize(
    "facts",
    [
        {"v": 2},
        {"shard": 3},
        {"shard": ""},
        {"shard": "x"},
        {"shard": "-1"},
        {"shard": "03"},
        {"shard": "٣"},
        {"shard": "256"},
        {"ticked_at": "now"},
        {"ticked_at": "0001-01-01T00:00:00+14:00"},
        {"hops": "2"},
        {"hops": None},
        {"lease": 1},
    ],
    ids=lambda facts: str(facts)[:40],
)
def test_this_is_no_shard_message(facts: dict[str, Any]) -> None:
    """A shard called `x` got a row in the table, and no tick could count the shards any more."""
    with pytest.raises(ValueError, match=r".+"):
        read_shard(changed(SHARD, **facts))
