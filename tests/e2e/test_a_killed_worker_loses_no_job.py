"""Workers that really die: killed from outside, by their own handler, or by us since a handler never ends.

`pytest -s tests/e2e/test_a_killed_worker_loses_no_job.py` prints the seconds from the kill to the takeover.
"""

import json
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.deployed import Deployed
from tests.e2e.own_worker import own_worker, packed
from tests.e2e.test_a_job_lives_on_the_deployed_stack import create, show

pytestmark = pytest.mark.e2e

TAKEN_OVER_SECONDS = 35
ENDED_SECONDS = 150
ACKNOWLEDGED_SECONDS = 60
NAME = "e2e-deadly"


@dataclass(frozen=True, slots=True)
class Deadly:
    """A worker as the stack has it, with handlers that kill it."""

    stack: Deployed
    source: str
    home: Path

    def batches(self, size: int, *, enabled: bool) -> None:
        """Bring the job queue's messages in batches of this size, or none."""
        functions = self.stack.functions
        functions.update_event_source_mapping(UUID=self.source, BatchSize=size, Enabled=enabled)

    def create(self, name: str, handler: str, timeout: float, **said: Any) -> str:
        """Create a job that notes its calls."""
        payload = {"path": str(self.home / name), **said.pop("payload", {})}
        job = create(self.stack, id=f"deadly-{name}", handler=handler, timeout=timeout, payload=payload, **said)
        return str(job["id"])

    def calls(self, name: str) -> list[dict[str, Any]]:
        """Return what the job's calls have noted."""
        path = self.home / name
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def called(self, name: str) -> dict[str, Any]:
        """Wait for the first call of a job, and return it."""
        deadline = time.monotonic() + ENDED_SECONDS
        while not (calls := self.calls(name)):
            assert time.monotonic() < deadline, f"{name} was not called"
            time.sleep(0.1)
        return calls[0]

    def ended(self, name: str) -> Any:
        """Wait for the job's outcome and return the job."""
        deadline = time.monotonic() + ENDED_SECONDS
        while (job := show(self.stack, f"deadly-{name}"))["state"] in ("scheduled", "running"):
            assert time.monotonic() < deadline, f"no outcome after {ENDED_SECONDS} s: {job}"
            time.sleep(0.3)
        return job


@pytest.fixture(scope="module")
def deadly(stack: Deployed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deadly]:
    """Let a worker of the tests' own take the place of the stack's."""
    code = packed({"handlers/deadly.py": Path(__file__).with_name("deadly.py")}, "worker")
    with own_worker(stack, NAME, code, 5, {}) as source:
        yield Deadly(stack, source, tmp_path_factory.mktemp("deadly"))


def waiting(stack: Deployed) -> int:
    """Return how many messages are due or on their way to a worker."""
    names: Any = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    asked = stack.sqs.get_queue_attributes(QueueUrl=stack.outputs["JobQueueUrl"], AttributeNames=names)
    return sum(int(count) for count in asked["Attributes"].values())


def seconds_until_taken_over(job: dict[str, Any], killed_at: float) -> float:
    second = job["attempts"][1]["started_at"]
    return datetime.fromisoformat(second).timestamp() - killed_at


def taken_over(job: dict[str, Any], killed_at: float) -> None:
    """Assert that a job's second attempt came soon, and succeeded."""
    seconds = seconds_until_taken_over(job, killed_at)
    print(f"\n{job['id']}: {seconds:.1f} s from the kill to the takeover")
    assert (job["state"], job["result"], job["attempt"]) == ("succeeded", 2, 2)
    assert [attempt.get("error") for attempt in job["attempts"]] == ["worker died", None]
    assert seconds < TAKEN_OVER_SECONDS


def test_a_worker_that_is_killed_from_outside(deadly: Deadly) -> None:
    """Whatever the queue's own visibility is (180 s): the message is hidden for the job's lease, and comes back."""
    deadly.create("outside", "deadly.waits", 5, payload={"seconds": 4})
    os.kill(deadly.called("outside")["pid"], signal.SIGKILL)
    killed_at = time.time()
    taken_over(deadly.ended("outside"), killed_at)


def test_a_worker_that_its_own_handler_kills(deadly: Deadly) -> None:
    deadly.create("inside", "deadly.kills", 5, payload={"lives_at": 2})
    killed_at = deadly.called("inside")["at"]
    taken_over(deadly.ended("inside"), killed_at)


def test_a_job_that_kills_its_worker_each_time_ends_dead_after_its_attempts(deadly: Deadly) -> None:
    """A4: it was taken over for ever, or until SQS gave up on its message."""
    deadly.create("poison", "deadly.kills", 1, retry={"max_attempts": 2})
    job = deadly.ended("poison")
    assert (job["state"], job["outcome"]["reason"]) == ("dead", "worker died")
    assert [attempt["error"] for attempt in job["attempts"]] == ["worker died"] * 2
    assert [call["attempt"] for call in deadly.calls("poison")] == [1, 2]
    assert len({call["pid"] for call in deadly.calls("poison")}) == 2


def test_a_handler_that_hangs_outside_of_python_ends_its_process_and_no_neighbour(deadly: Deadly) -> None:
    """Trap 15, B10: the partial answer is lost with the process, so the neighbours' ends must be written before."""
    deadly.batches(3, enabled=False)
    deadly.create("hangs", "deadly.waits", 2, payload={"seconds": 600}, retry={"first": 1})
    for name in ("good-1", "good-2"):
        deadly.create(name, "deadly.waits", 2, payload={"seconds": 1})
    deadly.batches(3, enabled=True)
    stuck, first, second = (deadly.ended(name) for name in ("hangs", "good-1", "good-2"))

    calls = [deadly.called(name) for name in ("hangs", "good-1", "good-2")]
    assert len({call["pid"] for call in calls}) == 1, "one process had all three"
    assert max(call["at"] for call in calls) - min(call["at"] for call in calls) < 1, "side by side"
    assert [(job["state"], job["attempt"]) for job in (first, second)] == [("succeeded", 1)] * 2
    assert (stuck["state"], stuck["result"]) == ("succeeded", 2)
    assert stuck["attempts"][0]["error"] == "timed out after 2 s"
    assert deadly.calls("hangs")[1]["pid"] != calls[0]["pid"], "the process was ended"

    deadline = time.monotonic() + ACKNOWLEDGED_SECONDS
    while waiting(deadly.stack):
        assert time.monotonic() < deadline, "their messages come back, and find outcomes"
        time.sleep(1)
    assert [len(deadly.calls(name)) for name in ("hangs", "good-1", "good-2")] == [2, 1, 1]
