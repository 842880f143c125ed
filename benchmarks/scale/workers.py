"""Workers: how many invocations Lambda lets run for the queue, and what waits there."""

from collections import defaultdict, deque
from dataclasses import dataclass, field

from benchmarks.scale.deployment import Deployment
from benchmarks.scale.limits import (
    BURST,
    BURST_SECONDS,
    IN_FLIGHT,
    OF_POLLER,
    POLLERS_MINUTE,
    SOURCE_MINUTE,
    SOURCE_MOST,
    SOURCE_START,
    Limit,
)


@dataclass(slots=True)
class Queue:
    """What is visible, oldest first, by when it was due; and how late each was when it started."""

    waiting: deque[tuple[int, float]] = field(default_factory=deque)
    late: defaultdict[int, float] = field(default_factory=lambda: defaultdict(float))
    length: float = 0

    def add(self, due: int, jobs: float) -> None:
        """Show messages."""
        self.waiting.append((due, jobs))
        self.length += jobs

    def start(self, now: int, jobs: float) -> None:
        """Start the jobs of the oldest messages; those of this second are a second late, by rounding."""
        self.length = max(0.0, self.length - jobs)
        while jobs > 1e-9 and self.waiting:
            due, there = self.waiting.popleft()
            started = min(jobs, there)
            self.late[now - due + 1] += started
            jobs -= started
            if there - started > 1e-9:
                self.waiting.appendleft((due, there - started))


class Source:
    """What Lambda lets run for the queue: it adds invocations while messages wait, and takes them away when none do."""

    def __init__(self, deployment: Deployment) -> None:
        self.deployment = deployment
        self.provisioned = bool(deployment.pollers)
        self.least = OF_POLLER * deployment.pollers if self.provisioned else SOURCE_START
        self.most = deployment.most_workers if self.provisioned else SOURCE_MOST
        self.now = float(self.least)
        self.environments, self.new, self.window = 0.0, 0.0, -1

    def limits(self, second: int, others: float) -> dict[Limit, float]:
        """Return how many invocations each limit lets run in this second."""
        if second // BURST_SECONDS != self.window:
            self.window, self.new = second // BURST_SECONDS, BURST
        return {
            Limit.WORKERS: self.deployment.most_workers,
            Limit.SOURCE: self.now,
            Limit.ENVIRONMENTS: self.environments + self.new,
            Limit.ACCOUNT: self.deployment.concurrency - others,
            Limit.IN_FLIGHT: IN_FLIGHT / self.deployment.batch,
        }

    def passed(self, at_work: float, waiting: float) -> None:
        """Note how many invocations were at work, and whether messages were left."""
        fresh = max(0.0, at_work - self.environments)
        self.environments, self.new = self.environments + fresh, self.new - fresh
        step = (POLLERS_MINUTE if self.provisioned else SOURCE_MINUTE) / 60
        if waiting > 0:
            self.now = min(float(self.most), self.now + step)
        elif at_work < self.now / 2:
            self.now = max(float(self.least), self.now - step)
