"""Actors: processes that run one invocation each, one call to AWS at a time, each with a clock of its own."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from random import Random
from typing import Any

from tests.support.batons import Worker, pass_on


class Kind(StrEnum):
    """What an actor is."""

    CLIENT = "client"
    TICK = "tick"
    DISPATCH = "dispatch"
    WORKER = "worker"
    DEAD_LETTERS = "dead letters"


@dataclass(slots=True)
class Actor:
    """One invocation. `asked` are the last times at which it asked the jobs and the schedules whether to go on."""

    kind: Kind
    worker: Worker
    ready_at: datetime
    ahead: timedelta
    chance: Random
    asked: dict[str, datetime] = field(default_factory=dict)
    afterwards: Callable[[], Any] = lambda: None

    def take(self, seconds: float) -> None:
        """Let time pass for this one alone; others go on meanwhile. Called from within."""
        self.ready_at += timedelta(seconds=seconds)
        pass_on()

    def die(self) -> None:
        """Never come to another call."""
        self.worker.dies_at = self.worker.calls

    def step(self) -> bool:
        """Go on until the next call, and return whether it has come to an end."""
        self.worker.step()
        while self.dead and not self.worker.done:
            self.worker.step()
        return self.worker.done

    @property
    def dead(self) -> bool:
        """Whether it makes no further call."""
        return self.worker.dies_at is not None
