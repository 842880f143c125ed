"""The README's commands, pasted into a shell against the deployed stack, do what it says."""

import json
import os
import re
import subprocess

import pytest
from local.setup import ROOT
from tests.e2e.deployed import Deployed

pytestmark = pytest.mark.e2e

README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    """Return the README's code blocks of a language."""
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_tour_can_be_pasted(stack: Deployed) -> None:
    """Its first calls were answered with 400: their times lacked seconds."""
    [tour] = [block for block in blocks("sh") if "call()" in block]
    lines = [line.split("   #")[0] for line in tour.splitlines() if line.strip() and not line.startswith("export")]
    separate = "; echo ----\n".join([*lines[1:], ""])
    environment = os.environ | {"ONTHEDOT_URL": stack.url, "NO_PROXY": "127.0.0.1"}
    done = subprocess.run(
        ["bash", "-c", f"{lines[0]}\n{separate}"], env=environment, capture_output=True, text=True, check=True
    )
    answers = [json.loads(text) for text in done.stdout.split("----") if text.strip()]
    hello, shown, later, moved, taken, listed, dead, again, *of_schedules, preview, health = answers
    report, edited, paused, resumed, triggered, jobs, ledger, versions, deleted = of_schedules
    assert (hello["id"], shown["id"], later["id"]) == ("hello", "hello", "later")
    assert (later["run_at"], moved["state"], taken["state"]) == ("2027-06-01T08:00:00Z", "scheduled", "cancelled")
    assert "items" in listed
    assert "items" in dead
    assert again == {"count": 0, "more": False}
    assert [schedule["version"] for schedule in (report, edited, paused, resumed, deleted)] == [1, 2, 2, 2, 2]
    assert (paused["state"], paused["paused"]["reason"], resumed["state"]) == ("paused", "holidays", "active")
    assert (edited["payload"], jobs, ledger) == ({"team": 7}, {"items": []}, {"items": []})
    assert triggered["id"] == "report@manual-now"
    assert [version["version"] for version in versions["items"]] == [2, 1]
    assert [slot["local_slot"] for slot in preview["slots"]] == [
        "2027-03-27T01:30:00+00:00",
        "2027-03-28T02:00:00+01:00",
        "2027-03-29T01:30:00+01:00",
    ]
    assert health["status"] == "ok"


def test_the_first_requests_are_taken(stack: Deployed) -> None:
    requests = re.findall(r"^(POST|PUT) (/\S+) (\{.*\})$", README, re.MULTILINE)
    assert len(requests) == 3
    for method, path, request in requests:
        assert stack.client.call(method, path, json.loads(request)).status == 201


def test_the_handler_is_python_that_registers() -> None:
    [block] = blocks("python")
    names: dict[str, object] = {}
    exec(block, names)
    assert callable(names["fetch"])
