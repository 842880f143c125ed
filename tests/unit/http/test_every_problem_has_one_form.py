"""Whatever goes wrong is told in the one form of RFC 9457, and nothing that is not the caller's is told."""

from typing import Any

import jsonschema
import pytest
from tests.unit.http.memory import Answer, Api, event

from onthedot.http.models import ProblemOut
from onthedot.rules.errors import Throttled, Unavailable
from onthedot.rules.jobs import State

METHODS = ["GET", "PUT", "POST", "DELETE", "PATCH", "HEAD", "OPTIONS"]


def is_problem(answer: Answer, status: int) -> bool:
    """Check an answer against the one schema of problems."""
    jsonschema.validate(answer.body, ProblemOut.model_json_schema(), cls=jsonschema.Draft202012Validator)
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert (answer.status, answer.body["status"]) == (status, status)
    assert answer.body["title"]
    assert answer.body["detail"]
    return True


def test_each_status_has_it(api: Api) -> None:
    api.create(id="x", delay=60)
    assert is_problem(api.create(delay="x"), 400)
    assert is_problem(api.call("POST", "/jobs", "{"), 400)
    assert is_problem(api.call("GET", "/jobs", query={"limit": "0"}), 400)
    assert is_problem(api.call("GET", "/jobs/y"), 404)
    assert is_problem(api.call("GET", "/nowhere"), 404)
    assert is_problem(api.call("PUT", "/jobs"), 405)
    assert is_problem(api.create(id="x", delay=61), 409)
    assert is_problem(api.create(payload="x" * 262_144), 413)
    assert is_problem(api.create(delay=-1), 422)


def test_a_crash_tells_the_log_what_happened_and_the_caller_nothing(api: Api) -> None:
    api.create(id="x")
    api.jobs.broken["x"] = RuntimeError("secret table arn:aws:x")
    answer = api.call("GET", "/jobs/x")
    assert is_problem(answer, 500)
    assert "secret" not in answer.text
    assert [str(crash) for crash in api.crashes] == ["secret table arn:aws:x"]


@pytest.mark.parametrize(("error", "status"), [(Throttled("slow down"), 429), (Unavailable("no answer in time"), 503)])
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/jobs/x", None),
        ("POST", "/jobs", {"handler": "example.echo", "id": "x"}),
        ("PATCH", "/jobs/x", {"delay": 1}),
        ("DELETE", "/jobs/x", None),
    ],
)
def test_when_aws_does_not_answer_the_caller_is_told_when_to_come_again(
    api: Api, error: Exception, status: int, method: str, path: str, body: Any
) -> None:
    api.create(id="x", delay=60)
    api.jobs.broken["x"] = error
    answer = api.call(method, path, body)
    assert is_problem(answer, status)
    assert int(answer.headers["Retry-After"]) >= 1


@pytest.mark.parametrize(
    ("path", "served"),
    [
        ("/jobs", {"GET", "POST", "DELETE"}),
        ("/jobs/", {"GET", "POST", "DELETE"}),
        ("/jobs/x/retry", {"POST"}),
        ("/dead/retry", {"POST"}),
        ("/jobs/x", {"GET", "PATCH", "DELETE"}),
        ("/jobs/batch", {"GET", "PATCH", "DELETE", "POST"}),
        ("/health", {"GET"}),
        ("/openapi.json", {"GET"}),
    ],
)
def test_a_method_that_is_not_served_is_a_405_with_those_that_are(api: Api, path: str, served: set[str]) -> None:
    for method in METHODS:
        answer = api.call(method, path)
        assert (answer.status == 405) is (method not in served)
        if method not in served:
            assert is_problem(answer, 405)
            assert set(answer.headers["Allow"].split(", ")) == served


@pytest.mark.parametrize("path", ["/", "", "/nowhere", "/jobs/x/y", "/jobs/x/again", "/dead", "/ledgers", "/jobs//x"])
def test_a_path_that_is_not_there_is_a_404_whatever_the_method(api: Api, path: str) -> None:
    assert all(is_problem(api.call(method, path), 404) for method in METHODS)


@pytest.mark.parametrize(
    "job_id",
    [
        "x%00",
        "%2e%2e",
        "a b",
        "ä",
        "%ff",
        "@",
        "a@",
        "a@b",
        "a@2027-13-01T00:00:00Z",
        "x" * 65,
        "a%0a",
        "%",
        "<x>",
        '"',
    ],
)
def test_an_id_that_no_job_can_have_is_a_404(api: Api, job_id: str) -> None:
    for method, body in (("GET", None), ("DELETE", None), ("PATCH", {"delay": 1})):
        assert is_problem(api.call(method, f"/jobs/{job_id}", body), 404)
    assert not api.jobs.asked_for, "such a key may be one that DynamoDB refuses"


@pytest.mark.parametrize("path", ["/jobs", "/jobs/x", "/health", "/openapi.json"])
def test_an_unknown_or_repeated_query_parameter_is_a_400(api: Api, path: str) -> None:
    assert is_problem(api.call("GET", path, query={"verbose": "1"}), 400)
    assert is_problem(api.call("DELETE", "/jobs/x", query={"stop": "1"}), 400)
    assert is_problem(api.call("PATCH", "/jobs/x", query={"stop": "true"}), 400)
    assert is_problem(api.call("GET", "/jobs", query={"limit": ["1", "2"]}), 400)


@pytest.mark.parametrize(
    ("method", "path"),
    [("DELETE", "/jobs?group=g"), ("DELETE", "/jobs/x"), ("GET", "/jobs"), ("DELETE", "/schedules/s")],
)
def test_a_body_where_none_is_taken_is_a_400(api: Api, method: str, path: str) -> None:
    """A `dry_run` in the body was passed over, and the whole group cancelled."""
    path, _, query = path.partition("?")
    asked = {"group": "g"} if query else None
    api.create(id="x", delay=60, group="g")
    assert is_problem(api.call(method, path, {"dry_run": True}, query=asked), 400)
    assert api.call("GET", "/jobs/x").body["state"] == "scheduled"
    assert api.call(method, path, {}, query=asked).status in {200, 404}


@pytest.mark.parametrize("state", [State.RUNNING, State.SUCCEEDED, State.DEAD, State.SKIPPED])
def test_a_conflict_names_the_state_and_since_when(api: Api, state: State) -> None:
    api.create(id="x", delay=60)
    api.clock.time = api.clock.time.replace(minute=2)
    finished = None if state is State.RUNNING else api.clock.time
    api.change("x", state=state, started_at=api.clock.time, finished_at=finished)
    for method, body in (("PATCH", {"delay": 1}), ("DELETE", None)):
        answer = api.call(method, "/jobs/x", body)
        assert is_problem(answer, 409)
        assert f"{state} since 2027-01-01T00:02:00Z" in answer.body["detail"]


def test_an_event_without_headers_or_query_is_answered(api: Api) -> None:
    assert api.send(event("GET", "/jobs") | {"headers": None, "multiValueHeaders": None}).status == 200
    assert api.send({"httpMethod": "GET", "path": "/jobs", "requestContext": {}}).status == 200
