"""200 OK with failures inside, which no emulator returns (aws-traps 49), and index reads (aws-traps 46)."""

from datetime import timedelta
from typing import Any

import pytest
from tests.faults.failing import Faults, refused
from tests.support import jobs
from tests.support.handlers import ran
from tests.support.lab import Lab

from onthedot import wiring
from onthedot.adapters import batches
from onthedot.adapters.sqs import ROUNDS
from onthedot.messages import ShardMessage, job_text
from onthedot.rules.agenda import Entry
from onthedot.rules.errors import Throttled
from onthedot.rules.jobs import ONE_SLOT
from onthedot.steps.ports import Refusal


def failed(*numbers: int, fault: bool = False) -> dict[str, Any]:
    one = {"SenderFault": fault, "Code": "InternalError", "Message": "no"}
    return {"Successful": [], "Failed": [{"Id": str(number), **one} for number in numbers]}


def entries(count: int) -> list[Entry]:
    now = wiring.world().clock.now()
    return [Entry(now, f"job#{number}", ONE_SLOT) for number in range(count)]


def send(count: int) -> list[Refusal]:
    return wiring.world().queue.send(entries(count), lambda entry: entry.wake)


def test_keys_that_are_left_out_for_ever_are_a_throttle(faults: Faults) -> None:
    """A library asked for them without a pause and without an end, until Lambda ended the function."""
    key = {"schedule": {"S": "job#a"}, "slot": {"S": ONE_SLOT}}
    left_out: dict[str, Any] = {"Responses": {}, "UnprocessedKeys": {"JobsTable": {"Keys": [key]}}}
    faults.on("BatchGetItem", *[left_out] * 100)
    with pytest.raises(Throttled):
        wiring.world().indexes.read([("job#a", ONE_SLOT)])
    assert faults.count("BatchGetItem") == batches.ROUNDS


def test_a_key_that_cannot_be_used_for_now_is_not_the_messages_fault(lab: Lab, faults: Faults) -> None:
    """SQS blames the sender for a throttled KMS key, too: a whole shard went to the strays."""

    def throttled_key(asked: dict[str, Any]) -> dict[str, Any]:
        one = {"SenderFault": True, "Code": "KmsThrottled", "Message": ""}
        return {"Successful": [], "Failed": [{"Id": it["Id"], **one} for it in asked["Entries"]]}

    jobs.create("far", 1_000)
    lab.time.shift(timedelta(seconds=900))
    faults.on("SendMessageBatch", None, *[throttled_key] * ROUNDS)
    lab.tick()
    assert lab.messages("StrayQueue") == []
    lab.advance(minutes=3)
    assert ran() == ["far"]


def test_what_is_refused_is_sent_again_and_the_rest_is_not(lab: Lab, faults: Faults) -> None:
    def some(arguments: dict[str, Any]) -> dict[str, Any]:
        accepted = [entry for entry in arguments["Entries"] if entry["Id"] != "1"]
        lab.sqs.send_message_batch(QueueUrl=arguments["QueueUrl"], Entries=accepted)
        return failed(1)

    faults.on("SendMessageBatch", some)
    assert send(3) == []
    assert sorted(message.body for message in lab.messages()) == sorted(job_text(entry) for entry in entries(3))


@pytest.mark.usefixtures("lab")
def test_what_is_refused_again_and_again_is_told(faults: Faults) -> None:
    faults.on("SendMessageBatch", failed(0, 2), failed(0, 1), failed(0, 1))
    refusals = send(3)
    assert [refusal.entry for refusal in refusals] == [entries(3)[0], entries(3)[2]]
    assert not any(refusal.vain for refusal in refusals)
    assert faults.count("SendMessageBatch") == ROUNDS


@pytest.mark.usefixtures("lab")
def test_what_will_never_be_accepted_is_told_and_not_sent_again(faults: Faults) -> None:
    faults.on("SendMessageBatch", failed(1, fault=True))
    (refusal,) = send(2)
    assert (refusal.entry, refusal.vain) == (entries(2)[1], True)
    assert faults.count("SendMessageBatch") == 1


@pytest.mark.usefixtures("lab")
def test_a_call_that_fails_whole_refuses_all_of_its_entries(faults: Faults) -> None:
    faults.on("SendMessageBatch", *[refused("RequestThrottled")] * 6)
    refusals = send(12)
    assert {refusal.entry for refusal in refusals} == set(entries(12))
    assert not any(refusal.vain for refusal in refusals)


@pytest.mark.parametrize("answer", [failed(3), refused("RequestThrottled")], ids=["one", "whole call"])
def test_a_refused_shard_keeps_no_other_from_being_looked_at(lab: Lab, faults: Faults, answer: Any) -> None:
    """The batches behind it were not sent: half of all shards waited for the next tick, if that had more luck."""
    faults.on("SendMessageBatch", answer)
    now = wiring.world().clock.now()
    with pytest.raises(RuntimeError, match="did not accept"):
        wiring.shard_queue().ask(ShardMessage(str(number), now) for number in range(25))
    assert len(lab.messages("ShardQueue")) == 15


@pytest.mark.usefixtures("lab")
def test_keys_that_were_not_processed_are_asked_for_again(faults: Faults) -> None:
    for name in ("a", "b"):
        jobs.create(name, 3_600)
    faults.on("BatchGetItem", lambda asked: {"Responses": {"JobsTable": []}, "UnprocessedKeys": asked["RequestItems"]})
    keys = [("job#b", ONE_SLOT), ("job#a", ONE_SLOT), ("job#gone", ONE_SLOT)]
    assert [job.id for job in wiring.world().indexes.read(keys)] == ["b", "a"]
    assert faults.count("BatchGetItem") == 2


def test_an_index_is_read_as_it_is_and_everything_else_as_it_is_now(lab: Lab) -> None:
    """AWS refuses a strongly consistent read of an index; an old read of a job would show what it no longer is."""
    jobs.create("a")
    jobs.create("large", payload=f'"{"x" * 2000}"')
    lab.calls.clear()
    lab.tick()
    lab.settle()
    wiring.world().indexes.read([("job#a", ONE_SLOT)])
    jobs.job("a")
    for call in lab.calls:
        if call.operation == "Query":
            assert call.body["IndexName"]
            assert "ConsistentRead" not in call.body
        if call.operation in {"GetItem", "Scan"}:
            assert call.body["ConsistentRead"] is True
        if call.operation == "BatchGetItem":
            assert all(table["ConsistentRead"] for table in call.body["RequestItems"].values())
    assert {"Query", "GetItem", "Scan", "BatchGetItem"} <= {call.operation for call in lab.calls}
