"""A lab is the deployed system but for the machine: its timer, queues and functions do what AWS's do."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.support.handlers import SCRIPT
from tests.support.lab import Lab

from onthedot import Job, handler, testing
from onthedot.testing import LabError, ParameterRefused, Refused

SECOND = timedelta(seconds=1)


def asked(lab: Lab) -> list[str]:
    """Return the messages that asked a dispatcher to look at a shard."""
    sent = [call.body for call in lab.calls if call.operation == "SendMessageBatch"]
    to_shards = [body["Entries"] for body in sent if body["QueueUrl"] == lab.urls["ShardQueue"]]
    return [entry["MessageBody"] for entries in to_shards for entry in entries]


def test_the_timer_ticks_on_the_minute_for_each_shard_of_the_template() -> None:
    with Lab(Shards=3) as lab:
        lab.schedule("s", cron="* * * * *", handler="test.record")
        lab.calls.clear()
        lab.advance(minutes=2)
        looks = [json.loads(text) for text in asked(lab)]
        assert sorted((look["ticked_at"][11:16], look["shard"]) for look in looks) == [
            (minute, shard) for minute in ("08:01", "08:02") for shard in "012"
        ]


@pytest.mark.parametrize("minute", [testing.Lab.minute, testing.Lab.tick])
def test_what_is_passed_over_changes_nothing(monkeypatch: pytest.MonkeyPatch, minute: Any) -> None:
    """A look at a shard in which nothing waits finds nothing, so a lab may leave it out."""
    monkeypatch.setattr(testing.Lab, "minute", minute)
    with testing.Lab() as lab:
        lab.schedule("s", cron="0 9 * * *", handler="test.record")
        lab.create("test.record", id="j", delay=3600)
        lab.advance(hours=2)
        ran = [(call.id, f"{call.started_at:%H:%M:%S}") for call in lab.ran()]
        assert ran == [("s@2027-01-04T09:00:00Z", "09:00:00"), ("j", "09:00:30")]


def test_a_delay_rides_sqs_and_ends_on_its_second(lab: Lab) -> None:
    lab.create("test.record", delay=timedelta(minutes=10), payload={"to": "you"})
    [sent] = [call.body for call in lab.calls if call.operation == "SendMessageBatch"]
    assert [entry["DelaySeconds"] for entry in sent["Entries"]] == [600]
    due = lab.now() + timedelta(minutes=10)
    lab.advance_to(due - SECOND)
    assert lab.ran() == []
    lab.advance_to(due + SECOND)
    [call] = lab.ran("test.record")
    assert timedelta(0) <= call.started_at - due <= timedelta(milliseconds=1)
    assert (call.payload, call.returned, call.error, call.attempt) == ({"to": "you"}, {"to": "you"}, None, 1)
    assert (call.schedule, call.slot, call.local_slot) == (None, None, None)


def test_what_sqs_gives_up_on_comes_back_from_the_dead_letters(lab: Lab) -> None:
    job = lab.create("test.record", id="a")
    [message] = lab.receive("JobQueue")
    dead_letters, jobs = lab.urls["JobDeadLetterQueue"], lab.urls["JobQueue"]
    lab.sqs.send_message(QueueUrl=dead_letters, MessageBody=message["Body"])
    lab.sqs.delete_message(QueueUrl=jobs, ReceiptHandle=message["ReceiptHandle"])
    lab.sqs.send_message(QueueUrl=dead_letters, MessageBody="no job")
    lab.advance(minutes=5)
    assert [call.id for call in lab.ran()] == [job["id"]]
    assert lab.strays() == ["no job"]


def test_an_outage_ends_with_its_block(lab: Lab) -> None:
    lab.schedule("s", every=600, handler="test.record", missed="skip")
    with lab.outage("tick", "worker"):
        lab.advance(hours=1)
        assert lab.ran() == []
    lab.advance(minutes=11)
    kinds = [row["outcome"]["kind"] for row in lab.ledger("s")]
    assert {"skipped", "succeeded"} == set(kinds)
    with pytest.raises(LabError, match=r"\['works'\] cannot be off"), lab.outage("works"):
        pass


def test_a_dispatcher_that_is_off_looks_at_no_shard(lab: Lab) -> None:
    job = lab.create("test.record", delay=3600)
    with lab.outage("dispatch"):
        lab.advance(minutes=61)
    assert lab.ran() == []
    lab.advance(minutes=2)
    assert [call.id for call in lab.ran()] == [job["id"]]


def test_a_refused_schedule_shows_the_problem(lab: Lab) -> None:
    with pytest.raises(Refused, match="PUT /schedules/s: 4") as refused:
        lab.schedule("s", cron="61 * * * *", zone="Europe/Bärlin", handler="test.record")
    assert {fault["field"] for fault in refused.value.problem["errors"]} == {"cron", "zone"}
    assert all(fault["message"] in str(refused.value) for fault in refused.value.problem["errors"])
    assert refused.value.status == refused.value.problem["status"]


def test_each_attempt_is_a_record_of_its_own(lab: Lab) -> None:
    """Also where the handler is one that the test registers after others have run."""
    lab.create("test.record")
    lab.advance()

    @handler("test.of_its_own", max_attempts=2)
    def of_its_own(job: Job) -> None:
        job.payload.append("changed")
        raise ValueError(f"no {job.attempt}")

    made = lab.create("test.of_its_own", payload=[])
    lab.advance(hours=1)
    first, second = lab.ran("test.of_its_own")
    assert (first.id, first.attempt, first.payload, str(first.error)) == (made["id"], 1, [], "no 1")
    assert (second.attempt, second.idempotency_key) == (2, first.idempotency_key)
    assert isinstance(second.error, ValueError)
    assert [job["last_error"] for job in lab.dead()] == ["ValueError: no 2"]
    assert len(lab.ran()) == 3


def test_a_name_that_no_handler_has_never_ran(lab: Lab) -> None:
    with pytest.raises(LabError, match=r"no handler is named 'test\.recrod'; known: .*test\.record"):
        lab.ran("test.recrod")


def test_a_worker_that_ends_its_process_ends_no_test(lab: Lab) -> None:
    """It would have ended pytest, with whatever else ran in it."""

    @handler("test.hangs", max_attempts=1, timeout=0.01)
    def hangs(_: Job) -> None:
        SCRIPT.go_on.wait(30)

    lab.create("test.hangs")
    lab.advance()
    assert [job["last_error"] for job in lab.dead()] == ["timed out after 0.01 s"]
    assert [call.ended_at for call in lab.ran()] == [None], "nobody can stop it"
    assert len(lab.messages()) == 1, "a process that ended acknowledges nothing"


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"Shards": 0}, "Shards cannot be 0: its MinValue is 1"),
        ({"WorkerTimeoutSeconds": 100}, "its AllowedValues"),
        ({"AlarmTopicArn": "x"}, "its AllowedPattern"),
        ({"Sharps": 1}, r"no parameter \['Sharps'\]; it has .*'Shards'"),
    ],
)
def test_a_parameter_is_what_the_template_takes(said: dict[str, Any], why: str) -> None:
    with pytest.raises(ParameterRefused, match=why):
        Lab(**said)


def test_time_is_an_instant_and_passes_forward(lab: Lab) -> None:
    with pytest.raises(LabError, match="no offset"):
        Lab(start=datetime(2027, 1, 1))  # noqa: DTZ001 - what is refused
    with pytest.raises(LabError, match="time passes"):
        lab.advance_to(lab.now() - SECOND)
