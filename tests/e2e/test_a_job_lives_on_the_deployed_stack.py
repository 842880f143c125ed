"""The first job, end to end, on the deployed template with IAM enforced: created, run on time, moved, taken back."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.e2e.deployed import Deployed

from onthedot.client import path_to

pytestmark = pytest.mark.e2e

PATIENCE_SECONDS = 60
AT_ONCE = 3
"""The emulator starts a process for each call at a time, and each unpacks the whole layer."""
TOO_LATE_SECONDS = 30
"""Two is what a free worker takes; a cold one on a busy machine takes ten."""


def create(stack: Deployed, **request: Any) -> dict[str, Any]:
    """Create a job and return it."""
    answer = stack.client.call("POST", "/jobs", {"handler": "example.echo", **request})
    assert answer.status == 201, answer.text
    job: dict[str, Any] = answer.body
    return job


def show(stack: Deployed, job_id: str) -> dict[str, Any]:
    """Return a job as it is now."""
    answer = stack.client.call("GET", path_to("jobs", job_id))
    assert answer.status == 200, answer.text
    job: dict[str, Any] = answer.body
    return job


def ended(stack: Deployed, job_id: str) -> dict[str, Any]:
    """Wait for the job's outcome and return the job."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (job := show(stack, job_id))["state"] in ("scheduled", "running"):
        assert time.monotonic() < deadline, f"no outcome after {PATIENCE_SECONDS} s: {job}"
        time.sleep(0.3)
    return job


def test_a_job_runs_once_never_early_with_its_payload(stack: Deployed) -> None:
    payload = {"float": 1.0, "big": 10**40, "empty": ["", None, {}, []], "text": "héllo \U0001f600"}
    job = ended(stack, create(stack, delay=2, payload=payload)["id"])
    assert (job["state"], job["result"], job["payload"]) == ("succeeded", payload, payload)
    assert (job["attempt"], len(job["attempts"])) == (1, 1)
    assert 0 <= job["late_seconds"] < TOO_LATE_SECONDS


def test_a_large_payload_reaches_the_handler_whole(stack: Deployed) -> None:
    job = ended(stack, create(stack, payload="x" * 200_000)["id"])
    assert (job["state"], job["payload"]) == ("succeeded", "x" * 200_000)
    assert job["result"] == {"truncated": True, "bytes": 200_002}


def test_a_job_taken_back_inside_its_delay_never_runs(stack: Deployed) -> None:
    job_id = create(stack, delay=6)["id"]
    for _ in range(2):
        answer = stack.client.call("DELETE", path_to("jobs", job_id))
        assert (answer.status, answer.body["state"]) == (200, "cancelled")
    time.sleep(9)
    job = show(stack, job_id)
    assert (job["state"], job["attempts"]) == ("cancelled", [])


def test_a_job_moved_inside_its_delay_runs_at_its_new_time_only(stack: Deployed) -> None:
    job_id = create(stack, delay=8)["id"]
    moved = stack.client.call("PATCH", path_to("jobs", job_id), {"delay": 10, "payload": "moved"})
    assert moved.status == 200, moved.text
    job = ended(stack, job_id)
    assert (job["result"], job["attempt"]) == ("moved", 1)
    assert job["run_at"] == moved.body["run_at"]
    assert datetime.fromisoformat(job["started_at"]) >= datetime.fromisoformat(job["run_at"])


def test_what_has_ended_can_no_longer_be_changed(stack: Deployed) -> None:
    job = ended(stack, create(stack)["id"])
    for method, body in (("PATCH", {"delay": 60}), ("DELETE", None)):
        answer = stack.client.call(method, path_to("jobs", job["id"]), body)
        assert answer.status == 409
        assert "succeeded" in answer.body["detail"]
        assert job["finished_at"] in answer.body["detail"]


def test_a_handler_that_nobody_knows_ends_its_job_as_dead(stack: Deployed) -> None:
    asked = {"handler": "no.such", "group": "e2e-dead", "retry": {"max_attempts": 1}}
    job = ended(stack, create(stack, **asked)["id"])
    assert job["state"] == "dead"
    assert "example.echo" in job["last_error"]
    listed = stack.client.call("GET", "/jobs", query={"state": "dead", "handler": "no.such"}).body["items"]
    assert job["id"] in [item["id"] for item in listed]


def test_the_same_request_is_the_same_job(stack: Deployed) -> None:
    request = {"handler": "example.echo", "id": "e2e-same", "run_at": "2030-01-01T09:00:00", "zone": "Europe/London"}
    answers = [stack.client.call("POST", "/jobs", body) for body in (request, dict(reversed(request.items())))]
    assert [answer.status for answer in answers] == [201, 200]
    assert answers[0].body == answers[1].body
    assert stack.client.call("POST", "/jobs", {**request, "payload": 1}).status == 409


def test_a_batch_is_answered_in_order_and_listed_by_group(stack: Deployed) -> None:
    jobs = [{"handler": "example.echo", "id": f"e2e-batch-{n}", "delay": 3600 + n, "group": "e2e"} for n in range(30)]
    results = stack.client.call("POST", "/jobs/batch", {"jobs": [*jobs, {"handler": 5}]}).body["results"]
    assert [result["status"] for result in results] == [201] * 30 + [400]
    assert [result["job"]["id"] for result in results[:30]] == [job["id"] for job in jobs]
    listed: list[str] = []
    query = {"group": "e2e", "limit": "7"}
    while True:
        page = stack.client.call("GET", "/jobs", query=query).body
        listed += [item["id"] for item in page["items"]]
        if "next_cursor" not in page:
            break
        query["cursor"] = page["next_cursor"]
    assert sorted(listed) == sorted(str(job["id"]) for job in jobs)


def test_many_at_once_with_one_id_make_one_job(stack: Deployed) -> None:
    """P05: each of them found no job, and each made one."""
    request = {"handler": "example.echo", "id": "e2e-race", "delay": 3_600}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = list(pool.map(lambda _: stack.client.call("POST", "/jobs", request), range(20)))
    assert sorted(answer.status for answer in answers) == [200] * 19 + [201]
    assert len({answer.text for answer in answers}) == 1


def test_cancel_and_start_at_once_have_one_winner(stack: Deployed) -> None:
    """R07: a cancel said yes while the handler ran."""
    at = (datetime.now(UTC) + timedelta(seconds=8)).isoformat()
    jobs = [create(stack, run_at=at)["id"] for _ in range(20)]
    time.sleep(max(0, (datetime.fromisoformat(at) - datetime.now(UTC)).total_seconds()))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        cancels = list(pool.map(lambda it: stack.client.call("DELETE", path_to("jobs", it)).status, jobs))
    outcomes = [(status, ended(stack, job)["state"]) for status, job in zip(cancels, jobs, strict=True)]
    assert set(outcomes) <= {(200, "cancelled"), (409, "succeeded")}


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/jobs", b'{"handler": NaN}', 400),
        ("POST", "/jobs", b'{"handler": "a", "payload": "\xff"}', 400),
        ("POST", "/jobs", {"handler": "a", "delay": -1}, 422),
        ("POST", "/jobs", {"handler": "a", "payload": "x" * 262_144}, 413),
        ("GET", "/jobs/nobody", None, 404),
        ("GET", "/nowhere", None, 404),
        ("PUT", "/jobs", {}, 405),
        ("GET", "/jobs?limit=0", None, 400),
    ],
)
def test_bad_input_is_refused_with_a_problem(
    stack: Deployed, method: str, path: str, body: object, status: int
) -> None:
    path, _, query = path.partition("?")
    answer = stack.client.call(method, path, body, dict([query.split("=")]) if query else None)
    assert (answer.status, answer.body.get("status")) == (status, status), answer.text
    assert answer.headers["content-type"] == "application/problem+json"


def test_health_and_the_contract_are_served(stack: Deployed) -> None:
    health = stack.client.call("GET", "/health").body
    assert [shard["shard"] for shard in health["shards"]] == ["0", "1"]
    assert "/jobs/{id}" in stack.client.call("GET", "/openapi.json").body["paths"]
