"""The events of `sam local invoke -e`, each given to its function."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.support import jobs, schedules
from tests.support.lab import Context, Lab
from tests.template.expansion import ROOT

import api
import dead_letters
import dispatch
import tick
import worker
from onthedot.rules.jobs import State

FUNCTIONS: dict[str, Any] = {"tick": tick, "dispatch": dispatch, "worker": worker, "dead_letters": dead_letters}
EVENTS = sorted(path for name in FUNCTIONS for path in (ROOT / "events").glob(f"{name}-*.json"))
PUT_BACK = {"dispatch-no-shard": 1}
STRAYS = {"worker-batch": 1, "worker-no-job": 1, "dead_letters-no-job": 1}


def call(path: Path) -> Any:
    return FUNCTIONS[path.stem.split("-")[0]].handler(json.loads(path.read_text()), Context(path.stem))


@pytest.mark.parametrize("path", EVENTS, ids=lambda path: path.stem)
def test_an_event_is_answered_as_its_case_says(lab: Lab, path: Path) -> None:
    answer = call(path)
    if path.stem.startswith("tick"):
        assert answer is None
        return
    assert answer.keys() == {"batchItemFailures"}
    assert len(answer["batchItemFailures"]) == PUT_BACK.get(path.stem, 0)
    assert len(lab.messages("StrayQueue")) == STRAYS.get(path.stem, 0)


def test_the_workers_job_runs_when_there_is_one(lab: Lab) -> None:
    jobs.create("report-2027", 3_600, handler="example.echo")
    wake = jobs.wake_at(jobs.job("report-2027"))
    lab.time.move_to(wake)
    event = json.loads((ROOT / "events/worker-job.json").read_text())
    event["Records"][0]["body"] = jobs.message(jobs.job("report-2027"))
    assert worker.handler(event, Context("worker")) == {"batchItemFailures": []}
    assert jobs.job("report-2027").state is State.SUCCEEDED


def event(name: str) -> Any:
    """Return an event, as its file has it."""
    return json.loads((ROOT / f"events/{name}.json").read_text())


def put_and_planned(lab: Lab) -> None:
    """Have the schedule of `api-put-schedule`, and the job that the events of a slot mean."""
    assert api.handler(event("api-put-schedule"), Context("api"))["statusCode"] == 201
    lab.time.move_to(datetime(2027, 1, 4, 8, 52, 30, tzinfo=UTC))
    lab.tick()
    [job] = schedules.slots_of("weekly-report").values()
    assert event("worker-job-of-a-slot")["Records"][0]["body"] == jobs.message(job)


def test_a_slots_job_runs_when_there_is_one(lab: Lab) -> None:
    put_and_planned(lab)
    lab.time.move_to(datetime(2027, 1, 4, 9, 0, tzinfo=UTC))
    assert worker.handler(event("worker-job-of-a-slot"), Context("worker")) == {"batchItemFailures": []}
    [job] = schedules.slots_of("weekly-report").values()
    assert (job.id, job.state) == ("weekly-report@2027-01-04T09:00:00Z", State.SUCCEEDED)
    assert job.result == '{"team":7}'


def test_a_slots_job_that_sqs_gave_up_on_goes_again(lab: Lab) -> None:
    put_and_planned(lab)
    lab.purge()
    lab.time.move_to(datetime(2027, 1, 4, 9, 0, tzinfo=UTC))
    assert dead_letters.handler(event("dead_letters-job-of-a-slot"), Context("dead_letters")) == {
        "batchItemFailures": []
    }
    lab.advance(minutes=2)
    [job] = schedules.slots_of("weekly-report").values()
    assert (job.state, job.attempt) == (State.SUCCEEDED, 1)


def test_every_function_has_an_event() -> None:
    assert {path.stem.split("-")[0] for path in EVENTS} == FUNCTIONS.keys()
