"""The job queue's event source: it brings messages to so many workers at a time, each of whom takes a while.

A worker is a thread with the real function in it, which stands still in its handler until the lab's time has come. One
thread goes on at a time, so a run is the same each time.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Event, Thread
from typing import Any

from tests.support.handlers import SCRIPT
from tests.support.lab import Lab

PATIENCE_SECONDS = 50
SOON = timedelta(milliseconds=1)


@dataclass(slots=True)
class Invocation:
    """One message with its worker, and when its handler is done, if it was called."""

    thread: Thread
    moved: Event = field(default_factory=Event)
    done: Event = field(default_factory=Event)
    ends_at: datetime | None = None

    def go_on(self) -> None:
        """Let it go on until it stands still in its handler, or has ended."""
        assert self.moved.wait(PATIENCE_SECONDS), "a worker waits for something else than its handler"
        self.moved.clear()


@dataclass(slots=True)
class EventSource:
    """Brings messages to `workers`; a job takes so many `seconds`.

    A `greedy` one takes all that is there, as the pollers of an event source do that knows no bound. What then finds no
    worker was received for nothing, and comes back when the queue shows it again.
    """

    lab: Lab
    workers: int
    seconds: float
    greedy: bool = False
    running: list[Invocation] = field(default_factory=list)
    most: int = 0
    throttled: int = 0
    starting: Invocation | None = None

    def advance(self, **span: float) -> None:
        """Let time pass, and all happen that happens in it."""
        end = self.lab.now() + timedelta(**span)
        self._fill()
        while (now := self.lab.now()) < end:
            next_at = min(end, max(self._next(), now + SOON))
            self._pass(next_at)
            self._end_due()
            self._fill()

    def rest(self) -> None:
        """Stand still, in a handler, for as long as the job takes."""
        self.stand(timedelta(seconds=self.seconds))

    def stand(self, span: timedelta) -> None:
        """Stand still for so long, in the worker that is just starting."""
        invocation = self.starting
        assert invocation is not None
        invocation.ends_at = self.lab.now() + span
        invocation.moved.set()
        assert invocation.done.wait(PATIENCE_SECONDS)

    def _pass(self, until: datetime) -> None:
        """Let the lab do what it does besides; most of the time that is nothing."""
        if self.lab.next_tick <= until or self.lab.messages("JobDeadLetterQueue"):
            self.lab.advance(seconds=(until - self.lab.now()).total_seconds())
        else:
            self.lab.time.move_to(until)

    def _next(self) -> datetime:
        """Return when something happens next: a job is done, a tick, or a message for a worker that is free."""
        ends = [each.ends_at for each in self.running if each.ends_at]
        if len(self.running) == self.workers and not self.greedy:
            return min(ends)
        return min(*ends, self.lab.seen_next("JobQueue"), self.lab.next_tick, self.lab.now() + timedelta(minutes=1))

    def _fill(self) -> None:
        while (self.greedy or len(self.running) < self.workers) and self.lab.seen_next("JobQueue") <= self.lab.now():
            messages = self._receive()
            for message in messages:
                if len(self.running) < self.workers:
                    self._invoke(message)
                else:
                    self.throttled += 1
            self.most = max(self.most, len(self.running))

    def _receive(self) -> list[dict[str, Any]]:
        answer = self.lab.sqs.receive_message(
            QueueUrl=self.lab.urls["JobQueue"], MaxNumberOfMessages=10 if self.greedy else 1
        )
        messages: list[dict[str, Any]] = answer.get("Messages", [])
        return messages

    def _invoke(self, message: dict[str, Any]) -> None:
        def run() -> None:
            try:
                self.lab.invoke("JobQueue", [message])
            finally:
                invocation.moved.set()

        invocation = self.starting = Invocation(Thread(target=run, daemon=True))
        invocation.thread.start()
        invocation.go_on()
        if invocation.ends_at is not None:
            self.running.append(invocation)

    def _end_due(self) -> None:
        for invocation in [each for each in self.running if each.ends_at and each.ends_at <= self.lab.now()]:
            self.running.remove(invocation)
            invocation.done.set()
            invocation.go_on()
            invocation.thread.join(PATIENCE_SECONDS)


@contextmanager
def event_source(lab: Lab, workers: int, seconds: float, *, greedy: bool = False) -> Iterator[EventSource]:
    """Let an event source bring the messages, and no longer the lab itself; its jobs are of `test.meanwhile`."""
    source = EventSource(lab, workers, seconds, greedy)
    lab.off.add("JobQueue")
    SCRIPT.meanwhile = source.rest
    yield source
    lab.off.discard("JobQueue")
    for invocation in source.running:
        invocation.done.set()
