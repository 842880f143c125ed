"""Events and messages that nobody should send, and a host without time zones."""

import os
import subprocess
import sys
from typing import Any

import pytest
from tests.support import jobs
from tests.support.handlers import ran
from tests.support.lab import Context, Lab, event_of

import dead_letters
import dispatch
import tick
import worker

NO_JOB = [
    "",
    "no json",
    "null",
    "[]",
    "{}",
    '{"v":2}',
    '{"v":1,"schedule":"job#a","slot":"-","wake":"9999-12-31T23:59:59-14:00"}',
    '{"v":1,"schedule":"job#\\ud800","slot":"-","wake":"2027-01-04T08:00:30.000Z"}',
    "[" * 20_000,
]
HOST = """
import os, sys, zoneinfo
assert zoneinfo.TZPATH == (), zoneinfo.TZPATH
from datetime import datetime, UTC
from onthedot.rules import zones
zone = zones.find("Europe/Berlin")
print(zones.offset_at(datetime(2027, 7, 1, tzinfo=UTC), zone))
"""


def record(body: str, number: int = 0) -> dict[str, Any]:
    return {"MessageId": f"id-{number}", "ReceiptHandle": f"receipt-{number}", "Body": body}


def test_a_tick_ticks_whatever_it_is_given(lab: Lab) -> None:
    events: list[Any] = [{}, None, {"time": "x"}, []]
    for event in events:
        tick.handler(event, Context("tick"))
    assert len(lab.messages("ShardQueue")) == 2 * len(events)


@pytest.mark.parametrize("function", [worker, dead_letters], ids=["worker", "dead_letters"])
def test_a_message_that_is_no_job_is_kept_for_a_person(lab: Lab, function: Any) -> None:
    for number, text in enumerate(NO_JOB):
        answer = function.handler(event_of([record(text)]), Context("f"))
        assert answer == {"batchItemFailures": []}, text
        assert lab.messages("StrayQueue")[number].body == (text or " ")


def test_a_message_that_is_no_shard_is_put_back_to_become_a_dead_letter(lab: Lab) -> None:
    unknown = '{"v":1,"shard":"x","ticked_at":"2027-01-04T08:00:30.000Z","hops":0,"lease":null}'
    for text in [*NO_JOB, unknown]:
        answer = dispatch.handler(event_of([record(text)]), Context("f"))
        assert answer == {"batchItemFailures": [{"itemIdentifier": "id-0"}]}, text
    assert not lab.items("ShardsTable")


@pytest.mark.parametrize("function", [worker, dead_letters, dispatch], ids=lambda module: module.__name__)
def test_a_record_without_a_text_is_put_back(lab: Lab, function: Any) -> None:  # noqa: ARG001 - in the lab
    event = event_of([record("")])
    del event["Records"][0]["body"]
    answer = function.handler(event, Context("f"))
    assert answer == {"batchItemFailures": [{"itemIdentifier": "id-0"}]}


def test_one_bad_message_keeps_back_none_of_its_batch(lab: Lab) -> None:
    jobs.create("a")
    (good,) = lab.receive("JobQueue")
    event = event_of([record("no job", 1), good, record("", 2)])
    del event["Records"][2]["body"]
    assert worker.handler(event, Context("worker")) == {"batchItemFailures": [{"itemIdentifier": "id-2"}]}
    assert ran() == ["a"]


@pytest.mark.parametrize("zone", ["", "Asia/Tokyo"])
def test_zones_come_from_the_package_and_never_from_the_host(zone: str) -> None:
    """The runtime's files differ from the emulator host's (aws-traps 55)."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": "shared", "PYTHONTZPATH": "", "TZ": zone}
    done = subprocess.run([sys.executable, "-c", HOST], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "2:00:00"
