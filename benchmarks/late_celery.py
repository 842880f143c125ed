"""Celery's side of `lateness`: workers with one process each for tasks, on an SQS queue of the same local AWS."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from local import account, setup
from local.setup import LOCAL, ROOT
from tests.races.journal import PATH, Reader

from benchmarks.late_jobs import Late, Noted

PYTHON = str(LOCAL / "celery/bin/python")
WORKER = (
    *(PYTHON, "-m", "celery", "-A", "benchmarks.late_tasks", "worker"),
    *("--concurrency", "1", "--loglevel", "WARNING", "--without-gossip", "--without-mingle", "--without-heartbeat"),
)


@dataclass(frozen=True, slots=True)
class Theirs:
    """Celery workers; who kills one starts another, as a supervisor does."""

    home: Path
    environment: Mapping[str, str]
    reader: Reader
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def create(self, jobs: Sequence[Late]) -> None:
        """Send the tasks from a process that then ends."""
        wanted = json.dumps([(job.id, job.due_at, job.waits) for job in jobs])
        command = [PYTHON, "-m", "benchmarks.late_tasks"]
        subprocess.run(  # noqa: S603 - both are ours
            command, input=wanted.encode(), cwd=self.home, env=self.environment, check=True
        )

    def noted(self) -> Noted:
        """Return what the workers have noted."""
        return self.reader.read()

    def kill(self, begun: dict[str, Any]) -> None:
        """Kill a worker with its process for tasks, as when its machine or container dies, and start another."""
        [killed] = [worker for worker in self.running if worker.pid == begun["parent"]]
        os.killpg(killed.pid, signal.SIGKILL)
        killed.wait()
        self.running.remove(killed)
        self.start()

    def start(self) -> None:
        """Start one more worker."""
        with (self.home / "celery.log").open("ab") as log:
            self.running.append(
                subprocess.Popen(  # noqa: S603
                    [*WORKER, "--hostname", f"{os.urandom(3).hex()}@late"],
                    cwd=self.home,
                    env=self.environment,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            )


@contextmanager
def nodes(home: Path, endpoint: str, workers: int) -> Iterator[Theirs]:
    """Start so many workers on an emulator; all are gone afterwards."""
    setup.install(setup.CELERY)
    journal = home / "celery.jsonl"
    environment = os.environ | {
        "LATENESS_BROKER": f"sqs://{account.ID}:{account.SECRET}@{urlsplit(endpoint).netloc}",
        "PYTHONPATH": str(ROOT),
        PATH: str(journal),
    }
    theirs = Theirs(home, environment, Reader(journal))
    try:
        for _ in range(workers):
            theirs.start()
        yield theirs
    finally:
        for worker in theirs.running:
            os.killpg(worker.pid, signal.SIGKILL)
            worker.wait()
