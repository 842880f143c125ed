"""A crowd of processes: every few seconds one is killed and replaced, or frozen for longer than its lease."""

import json
import os
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.forkserver import ensure_running
from multiprocessing.process import BaseProcess
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.races import parts
from tests.races.journal import Reader
from tests.races.parts import Part, Request, asked_in, log_in

FROZEN_SECONDS = 9
"""Longer than any lease, so that whoever thaws is late."""


PATIENCE_SECONDS = 0.5
"""How long a worker that is at work is looked for."""


@dataclass(frozen=True, slots=True)
class Freeze:
    """A process that stood still. Units: seconds since 1970."""

    pid: int
    since: float
    until: float


@dataclass(slots=True)
class Fates:
    """What became of the processes by their pid, on purpose (`killed`, `freezes`) or by themselves (`ended`)."""

    killed: set[int] = field(default_factory=set)
    ended: set[int] = field(default_factory=set)
    freezes: list[Freeze] = field(default_factory=list)


@dataclass(slots=True)
class Crowd:
    """The processes that run, each with its part; all are copies of one that has imported what they need."""

    environment: Mapping[str, str]
    home: Path
    reader: Reader
    running: dict[int, tuple[BaseProcess, Part, int]] = field(default_factory=dict)
    frozen: dict[int, float] = field(default_factory=dict)
    frozen_at_work: dict[int, str] = field(default_factory=dict)
    fates: Fates = field(default_factory=Fates)
    chance: Random = field(default_factory=lambda: Random(6))

    def noted(self) -> list[dict[str, Any]]:
        """Return all that was noted so far."""
        return self.reader.read()

    @property
    def log(self) -> Path:
        """Where the functions' log lines are."""
        return log_in(self.home)

    def start(self, counts: Mapping[Part, int]) -> None:
        """Start so many processes of each part."""
        for part, count in counts.items():
            for number in range(count):
                self._start(part, number)

    def ask(self, requests: list[Request], clients: int) -> None:
        """Let so many clients share these requests."""
        for number in range(clients):
            asked_in(self.home, number).write_text(json.dumps(requests[number::clients]), encoding="utf-8")

    def harm(self, turn: int) -> None:
        """Kill somebody, in every fourth turn one that is at work; between those, freeze one at work."""
        self.tend()
        pid, job = self._somebody_at_work() if turn % 2 else (None, "")
        pid = pid or self.chance.choice([pid for pid in self.running if pid not in self.frozen])
        if turn % 4 == 1 or turn % 16 == 8:
            os.kill(pid, signal.SIGSTOP)
            self.frozen[pid], self.frozen_at_work[pid] = time.time(), job
        else:
            self._kill(pid)
            self.fates.killed.add(pid)
            self.tend()

    def tend(self) -> None:
        """Thaw whoever was frozen for long enough, and replace whoever is gone."""
        for pid in [pid for pid in self.frozen if self._hurts_most(pid)]:
            self._thaw(pid)
        for pid, (process, part, number) in list(self.running.items()):
            if not process.is_alive():
                self.fates.ended.add(pid)
                process.close()
                del self.running[pid]
                self._start(part, number)

    def end(self) -> None:
        """End all."""
        for pid in list(self.frozen):
            self._thaw(pid)
        for pid in list(self.running):
            self._kill(pid)
            self.running.pop(pid)[0].close()

    def _start(self, part: Part, number: int) -> None:
        arguments = (part, dict(self.environment), number, self.home)
        process = context().Process(target=parts.live, args=arguments, daemon=True)
        process.start()
        assert process.pid is not None
        self.running[process.pid] = (process, part, number)

    def _kill(self, pid: int) -> None:
        process = self.running[pid][0]
        process.kill()
        process.join()

    def _hurts_most(self, pid: int) -> bool:
        """Tell whether another works on what a frozen process had begun, or everything has gone on without it."""
        elsewhere = {call.job for call in self.reader.at_work() if call.pid != pid and call.pid in self.running}
        return self.frozen_at_work[pid] in elsewhere or time.time() - self.frozen[pid] > FROZEN_SECONDS

    def _thaw(self, pid: int) -> None:
        since = self.frozen.pop(pid)
        self.fates.freezes.append(Freeze(pid, since, time.time()))
        if pid in self.running and self.running[pid][0].is_alive():
            os.kill(pid, signal.SIGCONT)

    def _somebody_at_work(self) -> tuple[int | None, str]:
        """Wait a little until a handler runs, and return in which process, and for which job."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            for call in self.reader.at_work():
                if call.pid in self.running and call.pid not in self.frozen:
                    return call.pid, call.job
            time.sleep(0.02)
        return None, ""


def context() -> Any:
    """Return what makes processes: copies of one that has imported the functions."""
    found = get_context("forkserver")
    found.set_forkserver_preload([parts.__name__, "pytest"])  # the latter since each copy looks at what was started
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # before 3.13 it is told of no other path
        ensure_running()
    return found
