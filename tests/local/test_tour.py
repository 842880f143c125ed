"""`make run` tells in plain lines what becomes of its jobs, and ends by the first."""

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from local import tour
from local.progress import Failure
from rich.console import Console

from onthedot.client import Answer, Client


@dataclass
class Api:
    """Answers as the API would; the first job's state moves on with each look."""

    states: list[dict[str, Any]]
    url: str = "http://127.0.0.1:1/live"
    created: list[Mapping[str, Any]] = field(default_factory=list)

    def call(self, method: str, path: str, body: Any = None) -> Answer:
        """Answer one call."""
        if method == "POST":
            self.created.append(body)
            return _answer(201, {"id": str(len(self.created)), "state": "scheduled"})
        looked = self.states.pop(0) if path == "/jobs/1" else {"state": "scheduled"}
        return _answer(200, {"id": path[-1], "run_at": "2027-01-01T00:00:00Z"} | looked)


def test_it_ends_when_the_first_job_has_succeeded(monkeypatch: pytest.MonkeyPatch) -> None:
    running = {"state": "running", "late_seconds": 0.125}
    api = Api([{"state": "scheduled"}, {"state": "scheduled"}, running, {"state": "succeeded", "late_seconds": 0.125}])
    lines = _guide(api, monkeypatch)
    assert [job["delay"] for job in api.created] == [4, 600, 30 * 86400]
    assert [line.partition("  due ")[2] for line in lines if "  due " in line] == [
        "in 4 seconds: scheduled: in SQS already, with that delay",
        "in 10 minutes: scheduled: in SQS already, with that delay",
        "in 30 days: scheduled: in DynamoDB until its last minutes",
        "in 4 seconds: running, started 0.12 s late",
        "in 4 seconds: succeeded, started 0.12 s late",
    ]


def test_the_line_to_paste_stays_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    api = Api([{"state": "succeeded", "late_seconds": 0}], url="http://127.0.0.1:1/" + "x" * 300)
    pasted = [line for line in _guide(api, monkeypatch) if "curl --aws-sigv4" in line]
    assert len(pasted) == 2
    assert all(api.url in line for line in pasted)


def test_a_job_that_ends_otherwise_is_a_failure_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    api = Api([{"state": "dead", "last_error": "no such handler"}])
    with pytest.raises(Failure, match="dead: no such handler"):
        _guide(api, monkeypatch)


def test_a_job_that_never_runs_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tour, "FIRST_SECONDS", 0)
    with pytest.raises(Failure, match="no outcome after 0 s: it is scheduled"):
        _guide(Api([{"state": "scheduled"}]), monkeypatch)


def test_an_unexpected_answer_is_a_failure_that_shows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    api = Api([])
    monkeypatch.setattr(api, "call", lambda *_: _answer(503, {"title": "Busy"}))
    with pytest.raises(Failure, match=r"503 instead of 201.*Busy"):
        _guide(api, monkeypatch)


def _guide(api: Api, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(tour, "PAUSE_SECONDS", (0.0, 0.0))
    shown = io.StringIO()
    tour.guide(cast(Client, api), Console(file=shown), once=True)
    return shown.getvalue().splitlines()


def _answer(status: int, body: object) -> Answer:
    return Answer(status, {}, json.dumps(body))
