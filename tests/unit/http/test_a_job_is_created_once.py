"""The same id and request meet the same job, whatever the order of keys; another request changes nothing."""

from datetime import timedelta
from typing import Any

import pytest
from tests.unit.http.memory import START, Api

from onthedot.http.models import Job
from onthedot.rules.errors import Throttled, Unavailable
from onthedot.rules.jobs import State


def test_the_same_request_meets_the_same_job(api: Api) -> None:
    created = api.call("POST", "/jobs", '{"handler":"h","id":"k1","payload":{"a":1,"b":{"c":2,"d":3}},"delay":60}')
    api.clock.time += timedelta(seconds=5)
    again = api.call("POST", "/jobs", ' {"delay":60,"payload":{"b":{"d":3,"c":2},"a":1},"id":"k1","handler":"h"}')
    assert (created.status, again.status) == (201, 200)
    assert again.body == created.body
    assert len(api.queue.sent) == 2, "handed over again: the first one may have died before it did"


@pytest.mark.parametrize(
    "other", [{"payload": {"a": 2}}, {"payload": {"a": 1.0}}, {"delay": 61}, {"group": "g"}, {"handler": "i"}]
)
def test_another_request_is_a_conflict_and_changes_nothing(api: Api, other: dict[str, Any]) -> None:
    fields = {"handler": "h", "id": "k1", "payload": {"a": 1}, "delay": 60}
    api.call("POST", "/jobs", fields)
    before = dict(api.jobs.rows)
    answer = api.call("POST", "/jobs", fields | other)
    assert answer.status == 409
    assert "k1" in answer.body["detail"]
    assert api.jobs.rows == before


def test_the_check_outlives_the_job_until_it_expires(api: Api) -> None:
    api.create(id="k1")
    api.change("k1", state=State.SUCCEEDED, wake=None, finished_at=START, expires_at=START + timedelta(days=30))
    assert api.create(id="k1").body["state"] == "succeeded"
    assert api.create(id="k1", delay=1).status == 409
    api.clock.time += timedelta(days=30)
    assert api.call("GET", "/jobs/k1").status == 404, "expired, and not deleted yet"
    assert api.create(id="k1", delay=1).status == 201


@pytest.mark.parametrize("method", ["PATCH", "DELETE", "GET"])
def test_what_has_expired_is_not_there(api: Api, method: str) -> None:
    api.create(id="x")
    api.change("x", state=State.CANCELLED, wake=None, finished_at=START, expires_at=START)
    assert api.call(method, "/jobs/x", {"delay": 1} if method == "PATCH" else None).status == 404


def test_jobs_without_an_id_are_each_their_own(api: Api) -> None:
    first, second = api.create(), api.create()
    assert first.body["id"] != second.body["id"]
    assert api.call("GET", f"/jobs/{first.body['id']}").body == first.body


def test_a_cancelled_job_is_cancelled_a_second_time(api: Api) -> None:
    api.create(id="x", delay=60)
    first = api.call("DELETE", "/jobs/x")
    api.clock.time += timedelta(seconds=9)
    assert api.call("DELETE", "/jobs/x").text == first.text
    assert (first.status, first.body["state"], first.body["outcome"]) == (200, "cancelled", {"kind": "cancelled"})


def test_a_job_is_moved_with_and_without_another_payload(api: Api) -> None:
    api.create(id="x", delay=60, payload=[1], start_within=5)
    moved = api.call("PATCH", "/jobs/x", {"run_at": "2027-06-01T12:00:00", "zone": "Europe/Berlin"})
    assert (moved.status, moved.body["run_at"], moved.body["payload"]) == (200, "2027-06-01T10:00:00Z", [1])
    assert api.call("PATCH", "/jobs/x", {"delay": 1, "payload": None}).body["payload"] is None


def test_a_batch_judges_each_job_by_itself(api: Api) -> None:
    api.create(id="taken")
    api.jobs.broken |= {"slow": Unavailable("no answer"), "throttled": Throttled("")}
    jobs = [
        {"handler": "h", "id": "a"},
        {"handler": "h", "id": "a"},
        {"handler": "i", "id": "a"},
        {"handler": "h", "id": "taken"},
        {"handler": "h", "delay": -1, "run_at": "2020-01-01T00:00:00Z"},
        {"handler": "h", "delay": "x"},
        5,
        {"handler": "h", "id": "slow"},
        {"handler": "h", "id": "throttled"},
        {"handler": "h", "payload": "x" * 262_144},
        {"handler": "h", "id": "z"},
    ]
    answer = api.call("POST", "/jobs/batch", {"jobs": jobs})
    results = answer.body["results"]
    assert answer.status == 200
    assert [result["status"] for result in results] == [201, 200, 409, 409, 422, 400, 400, 503, 429, 413, 201]
    assert results[1]["job"] == results[0]["job"]
    assert {error["field"] for error in results[4]["problem"]["errors"]} == {"jobs.4.delay", "jobs.4.run_at"}
    assert results[6]["problem"]["errors"] == [{"field": "jobs.6", "message": "must be an object"}]
    assert {job.id for job in api.jobs.rows.values()} >= {"a", "z"}


def test_a_batch_is_safe_to_repeat(api: Api) -> None:
    jobs = [{"handler": "h", "id": f"j{number}", "payload": "x" * 200} for number in range(60)]
    api.jobs.broken["j30"] = Unavailable("no answer")
    first = api.call("POST", "/jobs/batch", {"jobs": jobs})
    assert [result["status"] for result in first.body["results"]].count(201) == 59
    api.jobs.broken.clear()
    again = api.call("POST", "/jobs/batch", {"jobs": jobs})
    assert [result["status"] for result in again.body["results"]].count(200) == 59
    assert again.body["results"][30]["status"] == 201
    assert again.body["results"][0]["job"] == first.body["results"][0]["job"]
    assert len(api.jobs.rows) == 60


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"jobs": {}}, 400),
        ({"jobs": [{"handler": "h"}], "dry_run": True}, 400),
        ({"jobs": []}, 422),
        ({"jobs": [{"handler": "h"}] * 501}, 422),
    ],
)
def test_a_batch_that_is_none_is_refused_whole(api: Api, body: Any, status: int) -> None:
    assert api.call("POST", "/jobs/batch", body).status == status
    assert not api.jobs.rows


def test_500_jobs_are_a_batch(api: Api) -> None:
    answer = api.call("POST", "/jobs/batch", {"jobs": [{"handler": "h"}] * 500})
    assert {result["status"] for result in answer.body["results"]} == {201}
    assert len(api.jobs.rows) == 500


def test_a_job_is_shown_as_it_is(api: Api) -> None:
    api.create(id="x", delay=60, group="g", retry={"max_attempts": 3})
    at = START + timedelta(seconds=63, milliseconds=250)
    api.change("x", state=State.RUNNING, attempt=1, started_at=at)
    running = api.call("GET", "/jobs/x").body
    assert running["late_seconds"] == 3.25
    api.change("x", started_at=START + timedelta(seconds=63))
    assert '"late_seconds":3,' in api.call("GET", "/jobs/x").text, "milliseconds only when they are not zero"
    api.change("x", started_at=at)
    assert running["attempts"] == [{"number": 1, "started_at": "2027-01-01T00:01:03.250Z"}]
    done = {
        "state": State.DEAD,
        "wake": None,
        "finished_at": at + timedelta(seconds=1),
        "error": "boom",
        "reason": "timed out",
    }
    api.change("x", **done)
    dead = api.call("GET", "/jobs/x").body
    Job.model_validate(dead)
    assert dead["outcome"] == {"kind": "dead", "reason": "timed out"}
    assert dead["last_error"] == "boom"
    assert dead["attempts"][0] == {**running["attempts"][0], "finished_at": "2027-01-01T00:01:04.250Z", "error": "boom"}
    assert (dead["max_attempts"], dead["group"], dead["attempt"]) == (3, "g", 1)
    assert not {"result", "schedule", "slot", "local_slot"} & dead.keys()


def test_every_view_is_the_job_of_the_contract(api: Api) -> None:
    for answer in (api.create(id="x", group="g"), api.call("GET", "/jobs/x"), api.call("DELETE", "/jobs/x")):
        assert Job.model_validate(answer.body).idempotency_key == answer.body["idempotency_key"]
        assert None not in [value for name, value in answer.body.items() if name != "payload"]
