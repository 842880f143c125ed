"""Each event of API Gateway that `events/` holds is answered, the same files that `sam local invoke -e` sends."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.http.memory import Api

EVENTS = Path(__file__).parents[3] / "events"
ANSWERS = {
    "create-job": 200,
    "create-job-at-a-local-time": 201,
    "create-job-base64": 201,
    "create-job-invalid-utf8": 400,
    "create-job-without-a-body": 400,
    "create-job-with-every-fault": 400,
    "create-job-with-nan": 400,
    "create-batch": 200,
    "get-job": 200,
    "get-job-encoded-path": 200,
    "get-job-decoded-path": 200,
    "get-job-custom-domain": 200,
    "reschedule-job": 200,
    "cancel-job": 200,
    "retry-job": 409,
    "retry-dead": 200,
    "cancel-group": 200,
    "list-jobs": 200,
    "list-jobs-refused": 400,
    "put-schedule": 200,
    "put-schedule-with-every-fault": 400,
    "patch-schedule-of-another-version": 412,
    "get-schedule": 200,
    "list-schedule-jobs": 200,
    "pause-schedule": 200,
    "resume-schedule": 200,
    "delete-schedule": 200,
    "preview": 200,
    "health": 503,
    "openapi": 200,
    "method-not-served": 405,
    "root": 404,
    "root-custom-domain": 404,
}


def event(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((EVENTS / f"api-{name}.json").read_text())
    return found


@pytest.fixture
def peopled(api: Api) -> Api:
    """Return the API with the job of `create-job`, one of a schedule, and the schedule of `put-schedule`."""
    assert api.send(event("create-job")).status == 201
    assert api.send(event("put-schedule")).status == 201
    job = replace(api.jobs.rows["job#hello", "-"], schedule="schedule#nightly", slot="2027-03-28T01:00:00.000Z")
    api.jobs.rows[job.key] = job
    return api


def test_every_event_is_here() -> None:
    assert {path.stem.removeprefix("api-") for path in EVENTS.glob("api-*.json")} == set(ANSWERS)


@pytest.mark.parametrize(("name", "status"), ANSWERS.items())
def test_each_is_answered(peopled: Api, name: str, status: int) -> None:
    answer = peopled.send(event(name))
    assert answer.status == status, answer.text
    assert not peopled.crashes


def test_an_id_is_the_same_encoded_or_not_and_behind_a_domain_of_its_own(peopled: Api) -> None:
    encoded, decoded = (peopled.send(event(f"get-job-{form}-path")) for form in ("encoded", "decoded"))
    assert encoded.body == decoded.body
    assert (encoded.body["id"], encoded.body["slot"]) == ("nightly@2027-03-28T01:00:00Z", "2027-03-28T01:00:00Z")
    assert peopled.send(event("get-job-custom-domain")).body["id"] == "hello"


def test_a_line_break_at_the_end_names_no_other_job(api: Api) -> None:
    """`DELETE /jobs/a%0A` cancelled the job `a`: the router's pattern ends before a last line break."""
    api.call("POST", "/jobs", {"handler": "h", "id": "a", "delay": 60})
    assert api.call("DELETE", "/jobs/a\n").status == 404
    assert api.call("GET", "/jobs/a").body["state"] == "scheduled"


def test_every_fault_of_a_schedule_is_told_at_once(api: Api) -> None:
    faults = api.send(event("put-schedule-with-every-fault")).body["errors"]
    assert {fault["field"] for fault in faults} == {"handler", "cron", "zone", "grace", "missed", "moon"}
