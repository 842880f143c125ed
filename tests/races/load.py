"""What is asked for in a race: one-off jobs of every kind, and schedules of every policy."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice
from random import Random
from typing import Any

BATCH = 25
SHUFFLED = 1_000
"""Among so many the jobs are asked for in no order."""
RETRY = {"first": 1, "factor": 2, "max": 3}
PLAIN: tuple[dict[str, Any], ...] = ({}, {}, {}, {"seconds": 0.05}, {"seconds": 0.6})
FAILING: tuple[dict[str, Any], ...] = (
    {"fails": 1, "how": "failed"},
    {"fails": 2, "how": "failed", "seconds": 0.1},
    {"fails": 1, "how": "asked"},
    {"fails": 9, "how": "failed"},
    {"fails": 9, "how": "discarded"},
    {"hangs": True},
)
POLICIES: tuple[dict[str, Any], ...] = (
    {"overlap": "allow", "missed": "catch_up"},
    {"overlap": "skip", "payload": {"fails": 1, "how": "failed"}, "retry": {"first": 6}},
    {"overlap": "wait", "payload": {"fails": 1, "how": "asked"}},
    {"missed": "latest", "overlap": "allow", "retry": {"first": 1}, "payload": {"fails": 2, "how": "failed"}},
    {"overlap": "wait", "missed": "skip", "timeout": 3, "payload": {"seconds": 1}},
    {"overlap": "skip", "missed": "latest", "timeout": 1, "payload": {"seconds": 0.3}},
    {"overlap": "allow", "missed": "skip", "spread": 2},
    {"overlap": "wait", "payload": {"fails": 9, "how": "failed"}, "retry": {"max_attempts": 2, "first": 2}},
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Load:
    """How much is asked for, from when on, and for how long. Units: seconds."""

    jobs: int
    schedules: int
    every: float
    start: datetime
    seconds: float

    @property
    def end(self) -> datetime:
        """Return the time after which nothing new is due."""
        return self.start + timedelta(seconds=self.seconds)


def batches(load: Load, seed: int = 1) -> list[list[dict[str, Any]]]:
    """Return the one-off jobs as requests, in batches: due evenly over the time, so near and far."""
    chance = Random(seed)
    numbers = sorted(range(load.jobs), key=lambda number: number + chance.randrange(SHUFFLED))
    jobs = [_job(load, number, chance) for number in numbers]
    return [jobs[start : start + BATCH] for start in range(0, len(jobs), BATCH)]


def _job(load: Load, number: int, chance: Random) -> dict[str, Any]:
    due = load.start + timedelta(milliseconds=round(1000 * load.seconds * number / load.jobs))
    payload = dict(chance.choice(FAILING) if number % 10 < 3 else chance.choice(PLAIN))
    if payload.get("hangs") and number % 4:
        payload = {"seconds": 0.1}
    said: dict[str, Any] = {"timeout": chance.choice((1.5, 2, 3))} if number % 2 else {}
    if payload.get("fails") == 9:
        said["retry"] = RETRY | {"max_attempts": 2}
    due_at = due.astimezone(UTC).isoformat()
    payload["due"] = due.timestamp()
    return {"retry": RETRY, **said, "id": f"j{number}", "handler": "race.play", "run_at": due_at, "payload": payload}


def schedules(load: Load) -> dict[str, dict[str, Any]]:
    """Return the schedules as requests, by name, their slots out of step with each other."""
    policies = islice(cycle(POLICIES), load.schedules)
    return {f"s{number}": _schedule(load, number, policy) for number, policy in enumerate(policies)}


def _schedule(load: Load, number: int, policy: dict[str, Any]) -> dict[str, Any]:
    step = load.every if number % 5 else load.every / 2
    anchor = load.start + timedelta(milliseconds=round(1000 * step * number / load.schedules))
    return {
        "handler": "race.play",
        "payload": {},
        "every": step,
        "anchor": anchor.isoformat(),
        "ends_at": (load.end + timedelta(milliseconds=1)).isoformat(),
        "retry": RETRY,
        **policy,
    }


def slots(schedule: dict[str, Any], created_at: datetime) -> list[datetime]:
    """Return the slots that a schedule should have had since it was created."""
    slot, end = (datetime.fromisoformat(schedule[name]) for name in ("anchor", "ends_at"))
    found = []
    while slot < end:
        if slot > created_at:
            found.append(slot)
        slot += timedelta(seconds=schedule["every"])
    return found
