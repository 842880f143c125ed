"""Batons: several workers at once, one call to AWS at a time, in every order that a few changes of hands allow.

Each worker is a thread that waits before each of its calls until it is handed the baton. So what is played is one
order of calls, the same at each run; there is no chance in it.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Semaphore, Thread
from typing import Any

import pytest
from botocore.client import BaseClient
from tests.support.worlds import Died

HOLDERS: list["Worker"] = []
"""Who has the baton, if anybody; a handler runs in a thread of its own, and its worker has the baton all the same."""


@dataclass(slots=True)
class Worker:
    """Someone who does something, up to the next call each time it is their turn; they die where the test says."""

    does: Callable[[], Any]
    dies_at: int | None = None
    go: Semaphore = field(default_factory=lambda: Semaphore(0))
    back: Semaphore = field(default_factory=lambda: Semaphore(0))
    thread: Thread | None = None
    calls: int = 0
    done: bool = False
    error: BaseException | None = None

    def step(self) -> None:
        """Go on until the next call, or the end."""
        if self.thread is None:
            self.thread = Thread(target=self._run, daemon=True)
            self.thread.start()
        HOLDERS.append(self)
        self.go.release()
        assert self.back.acquire(timeout=60), "a worker waits for another without a call"
        HOLDERS.clear()

    def wait(self) -> None:
        """Wait for the baton; called before each call."""
        self.back.release()
        self.go.acquire()
        if self.calls == self.dies_at:
            raise Died
        self.calls += 1

    def _run(self) -> None:
        self.go.acquire()
        try:
            self.does()
        except Died:
            pass
        except BaseException as error:
            self.error = error
        self.done = True
        self.back.release()


def pass_on() -> None:
    """Let another go on, if workers are at play: before a call, and in a handler."""
    if HOLDERS:
        HOLDERS[0].wait()


@contextmanager
def batons() -> Iterator[None]:
    """Have all workers wait before their calls."""
    original = BaseClient._make_api_call  # type: ignore[attr-defined]

    def call(client: BaseClient, operation: str, arguments: dict[str, Any]) -> Any:
        pass_on()
        return original(client, operation, arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BaseClient, "_make_api_call", call)
        yield


def play(workers: Sequence[Worker], changes: Sequence[int]) -> bool:
    """Let the workers go on in turn; the baton changes hands after these numbers of steps, and when one is done.

    Returns whether all changes were reached.
    """
    left, holder, step = list(changes), 0, 0
    with batons():
        while any(not worker.done for worker in workers):
            if workers[holder].done or (left and step >= left[0]):
                if left and step >= left[0]:
                    left.pop(0)
                holder = (holder + 1) % len(workers)
                continue
            workers[holder].step()
            step += 1
    for worker in workers:
        if worker.error is not None:
            raise worker.error
    return not left


def in_every_order(plays: Callable[[list[int]], bool]) -> int:
    """Play with every way to change hands once or twice, until the changes are no more reached; return how many."""
    played = 1
    first = 1
    while plays([first]):
        second = first + 1
        while plays([first, second]):
            second += 1
        played += second - first
        first += 1
    return played
