"""Dispatchers and workers in processes of their own, killed and frozen while they work, on a store that is atomic.

In short with few of them inside `make test`; `make prove-races` lets eight and eight live for some minutes.
"""

import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import boto3
import pytest
from local import account, emulator
from tests.races import found, journal
from tests.races.crowd import Crowd, context
from tests.races.load import Load, batches, schedules
from tests.races.parts import Part, Request
from tests.races.places import places
from tests.races.verdict import Race, violations
from tests.support.proving import IN_FULL, count

from onthedot.rules.events import Event
from onthedot.rules.instants import cut


@dataclass(frozen=True, slots=True)
class Size:
    """How large a race is. Units: seconds; `patience` is how long nothing may happen, once nobody is harmed."""

    rounds: int
    parts: dict[Part, int]
    clients: int
    jobs: int
    schedules: int
    every: float
    seconds: float
    harm_each: float
    patience: float


FEW = {Part.TICK: 1, Part.DISPATCH: 3, Part.WORKER: 4, Part.DEAD_LETTERS: 1}
MANY = {Part.TICK: 1, Part.DISPATCH: 8, Part.WORKER: 8, Part.DEAD_LETTERS: 1}
SHORT = Size(1, FEW, 1, 200, 8, every=5, seconds=15, harm_each=1.5, patience=60)
FULL = Size(5, MANY, 2, 1_000, 20, every=20, seconds=60, harm_each=2.5, patience=120)
"""In rounds, each with tables of its own: the emulator goes through a whole table to answer for an index."""
SHARDS = 2
READY = timedelta(seconds=3)
IMPORTED_SECONDS = 60


@pytest.fixture
def endpoint(tmp_path: Path) -> Iterator[str]:
    """Return where an emulator of the race's own answers, on which no function is deployed."""
    with account.isolated():
        running = emulator.start(tmp_path, 0, auth=False)
    yield running.url
    emulator.stop(tmp_path, running)


def test_nothing_is_lost_early_doubled_or_overwritten(
    endpoint: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    size, counts, broken = FULL if IN_FULL else SHORT, Counter[str](), list[str]()
    for number in range(size.rounds):
        home = tmp_path / f"round{number}"
        home.mkdir()
        with places(endpoint, SHARDS) as environment:
            here = account.environment(os.environ) | environment | {journal.PATH: str(home / "journal.jsonl")}
            race, noted = run(size, here, home)
        broken += violations(race)
        counts.update(counted(race, noted, home))
    count(request.node, **counts, violations=len(broken))
    kinds = Counter(each.partition(":")[0] for each in broken)
    assert not broken, f"{dict(kinds)}\n" + "\n".join(broken[:50])
    assert counts["kills"] >= size.rounds * size.seconds // size.harm_each // 2
    assert counts["takeovers"] >= 1, "nobody died at work"


def run(size: Size, environment: dict[str, str], home: Path) -> tuple[Race, list[dict[str, Any]]]:
    """Let a crowd live and die until all is done; return what is known of it, and what it noted."""
    crowd = Crowd(environment, home, journal.Reader(Path(environment[journal.PATH])))
    try:
        crowd.start(size.parts | {Part.CLIENT: size.clients})
        begun(crowd, size.clients)
        load = Load(size.jobs, size.schedules, size.every, cut(datetime.now(UTC) + READY), size.seconds)
        crowd.ask(requests(load), size.clients)
        harm_until(crowd, load.end, size.harm_each)
        rest(crowd, environment, size)
    finally:
        crowd.end()
    return judged(crowd, load, look(environment, sorted(schedules(load)), home)), crowd.noted()


def requests(load: Load) -> list[Request]:
    """Return what the clients ask for."""
    asked: list[Request] = [("PUT", f"/schedules/{name}", body) for name, body in schedules(load).items()]
    return asked + [("POST", "/jobs/batch", {"jobs": batch}) for batch in batches(load)]


def begun(crowd: Crowd, clients: int) -> None:
    """Wait until the clients are ready, and the timer's first message has reached a dispatcher."""
    deadline = time.monotonic() + IMPORTED_SECONDS
    while Counter(line["kind"] for line in crowd.noted())["ready"] < clients or len(crowd.noted()) <= clients:
        assert time.monotonic() < deadline, crowd.log.read_text(encoding="utf-8")[-3000:]
        time.sleep(0.1)


def judged(crowd: Crowd, load: Load, seen: Any) -> Race:
    """Return what is known of a race."""
    noted = crowd.noted()
    accepted = {job for line in noted if line["kind"] == "accepted" for job in line["jobs"]}
    jobs = {job["id"]: job for job in seen["jobs"]}
    return Race(journal.calls(noted), crowd.fates, accepted, schedules(load), jobs, seen["schedules"])


def harm_until(crowd: Crowd, end: datetime, each: float) -> None:
    """Harm somebody every few seconds."""
    turn, next_at = 0, time.monotonic() + each
    while datetime.now(UTC) < end:
        time.sleep(0.05)
        crowd.tend()
        if time.monotonic() >= next_at:
            crowd.harm(turn)
            turn, next_at = turn + 1, time.monotonic() + each


def rest(crowd: Crowd, environment: dict[str, str], size: Size) -> None:
    """Harm nobody any more, until all that was asked for is accepted and on no agenda, or nothing happens any more."""
    with account.isolated():
        dynamodb = boto3.client("dynamodb", endpoint_url=environment["AWS_ENDPOINT_URL"])
    deadline, before = time.monotonic() + size.patience, -1
    while time.monotonic() < deadline:
        crowd.tend()
        time.sleep(1)
        left = waiting(dynamodb, environment["ONTHEDOT_JOBS_TABLE"])
        if sum(line["kind"] == "all_accepted" for line in crowd.noted()) >= size.clients and not left:
            return
        if left != before:
            deadline, before = time.monotonic() + size.patience, left


def waiting(dynamodb: Any, table: str) -> int:
    """Return how many jobs have no outcome yet."""
    pages = dynamodb.get_paginator("scan").paginate(
        TableName=table, Select="COUNT", FilterExpression="attribute_exists(agenda)", ConsistentRead=True
    )
    return sum(page["Count"] for page in pages)


def look(environment: dict[str, str], names: list[str], home: Path) -> Any:
    """Return what is found in tables and ledgers, by a process that has the race's spans."""
    path = home / "found.json"
    process = context().Process(target=found.write, args=(environment, names, path))
    process.start()
    process.join()
    assert process.exitcode == 0, path.with_suffix(".log").read_text(encoding="utf-8")[-3000:]
    process.close()
    return json.loads(path.read_text(encoding="utf-8"))


def counted(race: Race, noted: list[dict[str, Any]], home: Path) -> dict[str, int]:
    """Return how often what happened."""
    log = (home / "functions.log").read_text(encoding="utf-8", errors="replace")
    told = {event: log.count(f'"{event}"') for event in (Event.JOB_TAKEN_OVER, Event.FINISH_LOST, Event.JOB_RESCUED)}
    bodies = Counter(line["body"] for line in noted if line["kind"] == "delivered" and '"wake"' in line["body"])
    return {
        "jobs": len(race.jobs),
        "slots": sum(row.get("count", 1) for each in race.became.values() for row in each["ledger"]),
        "attempts": len(race.calls),
        "kills": len(race.fates.killed),
        "frozen": len(race.fates.freezes),
        "takeovers": told[Event.JOB_TAKEN_OVER],
        "late_finishers": told[Event.FINISH_LOST],
        "rescued": told[Event.JOB_RESCUED],
        "duplicates_delivered": sum(times - 1 for times in bodies.values()),
    }
