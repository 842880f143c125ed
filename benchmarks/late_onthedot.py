"""Our side of `lateness`: the template on a local AWS of its own, with a worker that notes what it runs."""

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from local import stack
from local.setup import ROOT
from tests.e2e.deployed import Deployed
from tests.e2e.own_worker import own_worker, packed
from tests.races.journal import PATH, Reader

from benchmarks.late_jobs import Late, Noted

BATCH = 100
"""Jobs in one request: more of them would take the local AWS longer than a gateway waits."""
NAME = "late-worker"
FILES = ("benchmarks/late_work.py", "benchmarks/late_worker.py", "tests/races/journal.py")


@dataclass(frozen=True, slots=True)
class Ours:
    """A deployment; Lambda starts another worker by itself where one has died."""

    deployed: Deployed
    reader: Reader

    def create(self, jobs: Sequence[Late]) -> None:
        """Create the jobs by the API."""
        for start in range(0, len(jobs), BATCH):
            wanted = [_request(job) for job in jobs[start : start + BATCH]]
            results = self.deployed.ask("POST", "jobs", "batch", body={"jobs": wanted})["results"]
            assert all(result["status"] == 201 for result in results), results

    def let_workers_wait(self, milliseconds: int) -> None:
        """Set what the template's parameter `WorkerWaitMilliseconds` sets; all processes start anew."""
        functions = self.deployed.functions
        for name in (self.deployed.outputs["ApiFunctionName"], NAME):
            variables = functions.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
            changed = variables | {"ONTHEDOT_WORKER_WAIT_MILLISECONDS": str(milliseconds)}
            functions.update_function_configuration(FunctionName=name, Environment={"Variables": changed})

    def noted(self) -> Noted:
        """Return what the workers have noted."""
        return self.reader.read()

    def kill(self, begun: dict[str, Any]) -> None:
        """Kill the process in which the function runs."""
        os.kill(begun["pid"], signal.SIGKILL)


@contextmanager
def deployment(home: Path, workers: int) -> Iterator[Ours]:
    """Deploy the template, and give it; all of it is gone afterwards."""
    journal = home / "onthedot.jsonl"
    try:
        deployed = Deployed.on(stack.up(home, port=0))
        code = packed({name: ROOT / name for name in FILES}, "benchmarks.late_worker")
        with own_worker(deployed, NAME, code, workers, {PATH: str(journal)}):
            yield Ours(deployed, Reader(journal))
    finally:
        stack.down(home)


def _request(job: Late) -> dict[str, Any]:
    run_at = datetime.fromtimestamp(job.due_at, UTC).isoformat(timespec="milliseconds")
    return {"id": job.id, "handler": "late.run", "run_at": run_at, "payload": job.waits}
