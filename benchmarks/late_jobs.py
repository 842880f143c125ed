"""What became of the jobs of `lateness`, from the journal of those who ran them. Units: seconds since 1970."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from statistics import quantiles
from typing import Any, Protocol

Noted = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Late:
    """A job; the one whose worker is to be killed `waits`."""

    id: str
    due_at: float
    waits: float = 0


class Side(Protocol):
    """A system that runs jobs, with so many workers."""

    def create(self, jobs: Sequence[Late]) -> None:
        """Create the jobs; return when all are accepted."""

    def noted(self) -> Noted:
        """Return what its workers have noted so far."""

    def kill(self, begun: dict[str, Any]) -> None:
        """Kill the worker that noted this begin of a job, and see to it that another takes its place."""


@dataclass(frozen=True, slots=True)
class Quantiles:
    """How late, in seconds."""

    p50: float
    p95: float
    p99: float
    max: float


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of some jobs: how late they began, how many ended, and how many began but once."""

    late: Quantiles
    ended: int
    once: int


def fate(jobs: Sequence[Late], noted: Noted, until: float) -> Fate:
    """Judge the jobs; one that has not ended counts as late until then, one that ran twice by the call that ended."""
    begun_at = {line["call"]: line["at"] for line in noted if line["kind"] == "begin"}
    ended_at = dict[str, float]()
    for line in noted:
        if line["kind"] == "end":
            ended_at.setdefault(line["job"], begun_at[line["call"]])
    calls = Counter(line["job"] for line in noted if line["kind"] == "begin")
    return Fate(
        quantiles_of([ended_at.get(job.id, until) - job.due_at for job in jobs]),
        sum(job.id in ended_at for job in jobs),
        sum(calls[job.id] == 1 for job in jobs),
    )


def own_part(jobs: Sequence[Late], noted: Noted, wait: float = 0) -> Quantiles:
    """Return how late our own part makes the jobs: the delay rounded up, and the time from the message to its handler.

    Not the poller's, which brings the message from the queue, nor that of whatever runs the function. `wait` is what
    a worker waits at most, in seconds.
    """
    taken, begun_at = dict[str, dict[str, Any]](), dict[str, float]()
    for line in noted:
        if line["kind"] == "taken":
            taken.setdefault(line["job"], line)
        if line["kind"] == "begin":
            begun_at.setdefault(line["job"], line["at"])
    return quantiles_of([_own(job, taken[job.id], begun_at[job.id], wait) for job in jobs if job.id in begun_at])


def _own(job: Late, taken: dict[str, Any], begun_at: float, wait: float) -> float:
    """Take from a job's lateness what came between its message's time and its worker; one sent late is ours too."""
    visible_at = taken["sent"] + max(0, ceil(job.due_at - wait - taken["sent"]))
    theirs = max(0, taken["at"] - max(visible_at, job.due_at))
    return float(begun_at - job.due_at - theirs)


def quantiles_of(seconds: Sequence[float]) -> Quantiles:
    """Return the quantiles, each of them between two that were seen."""
    cuts = quantiles(seconds, n=100, method="inclusive")
    return Quantiles(cuts[49], cuts[94], cuts[98], max(seconds))
