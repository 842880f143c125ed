"""Planned slots a second: what one core can do, and how long schedules that share a minute take on the local AWS.

`python -m benchmarks.planning [SCHEDULES]` starts a local AWS of its own and prints a line of JSON for each; 10,000
schedules take some minutes, 300 some seconds.
"""

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import boto3
from botocore.awsrequest import AWSResponse
from local import account, emulator
from tests.e2e.racing import planners, wait_for_all
from tests.support.aside import beside, environment, wired
from tests.support.worlds import client_of

from onthedot import wiring
from onthedot.adapters.schedule_items import schedule_item
from onthedot.clock import SystemClock
from onthedot.messages import ShardMessage
from onthedot.rules.jobs import Payload
from onthedot.rules.planning import MOST_JOBS
from onthedot.rules.schedules import Schedule, ScheduleState
from onthedot.rules.zones import database_version
from onthedot.steps.dispatch import dispatch
from onthedot.steps.plan import plan
from onthedot.steps.ports import World
from onthedot.steps.put import hand_over

SHARDS, SCHEDULES = 8, 10_000
ROUNDS, SLOTS = 5, 485
AHEAD = timedelta(minutes=5)
RUN_SECONDS = 40
"""What a dispatcher has before it asks for another."""
BATCH, WRITERS = 25, 4


@dataclass(slots=True)
class Bill:
    """What dispatchers spent: calls by their operation, write units, CPU seconds of their own."""

    calls: Counter[str] = field(default_factory=Counter)
    units: float = 0
    cpu_seconds: float = 0

    def ask(self, params: dict[str, Any], model: Any, **_: Any) -> None:
        """Ask DynamoDB to say what a write costs."""
        if model.name in ("TransactWriteItems", "UpdateItem"):
            params["ReturnConsumedCapacity"] = "TOTAL"

    def count(self, parsed: dict[str, Any], model: Any, **_: Any) -> None:
        """Count a call, and add what it cost."""
        self.calls[model.name] += 1
        told = parsed.get("ConsumedCapacity", [])
        self.units += sum(each["CapacityUnits"] for each in (told if isinstance(told, list) else [told]))


def main() -> None:
    """Measure both, and print the figures."""
    schedules = int(sys.argv[1]) if len(sys.argv) > 1 else SCHEDULES
    _print({"name": "planning", "unit": "slots/s of one core", **_on_one_core()})
    with account.isolated(), TemporaryDirectory() as home:
        running = emulator.start(Path(home), 0, auth=False)
        try:
            _print({"name": "planning_one_minute", "schedules": schedules, **_of_one_minute(running.url, schedules)})
        finally:
            emulator.stop(Path(home), running)


def _on_one_core() -> dict[str, int]:
    """Return how many slots a second are planned where AWS answers at once: what is left is our CPU."""
    ways = {"one_slot": 1, f"{MOST_JOBS}_slots": MOST_JOBS}
    with wired(environment("http://127.0.0.1:1", SHARDS)) as world, _quietly():
        for part in ("schedules", "queue"):
            client_of(world, part).meta.events.register("before-send", _answer)
        rates: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(ROUNDS):
            for name, each in ways.items():
                rates[name].append(_rate(world, each))
    return {name: round(median(found)) for name, found in rates.items()}


def _rate(world: World, each: int) -> float:
    now = world.clock.now()
    schedules = [_schedule(f"s{number}", {"every": 60}, now) for number in range(SLOTS // each)]
    until = now + each * timedelta(minutes=1)
    started = time.process_time()
    jobs = [job for schedule in schedules for job in plan(world, schedule, until, lambda: True).jobs]
    hand_over(world, jobs)
    assert len(jobs) == SLOTS // each * each
    return len(jobs) / (time.process_time() - started)


def _answer(request: Any, **_: Any) -> AWSResponse:
    return AWSResponse(request.url, 200, {}, _Nothing())  # type: ignore[arg-type]


class _Nothing:
    """The body of an answer that says nothing."""

    def stream(self, **_: Any) -> Iterator[bytes]:
        """Return the whole body."""
        yield b"{}"


def _of_one_minute(endpoint: str, schedules: int) -> dict[str, Any]:
    """Return how long one dispatcher takes for schedules that share a minute, and two, and what they spent."""
    found: dict[str, Any] = {"unit": "s"}
    for count in (1, 2):
        with beside(endpoint, SHARDS) as variables, planners(count, variables) as pool:
            _fill(variables, schedules)
            shares = [[str(shard) for shard in range(number, SHARDS, count)] for number in range(count)]
            for ready in [pool.submit(wait_for_all) for _ in range(count)]:
                ready.result()
            started = time.monotonic()
            bills = list(pool.map(_dispatch, shares))
            found[f"dispatchers_{count}"] = round(time.monotonic() - started, 1)
            found |= _bill(bills, schedules, count)
    return found | {"ratio": round(found["dispatchers_1"] / found["dispatchers_2"], 2)}


def _fill(variables: dict[str, str], schedules: int) -> None:
    """Create the rows, many at once: what is measured begins with them."""
    table = variables["ONTHEDOT_SCHEDULES_TABLE"]
    dynamodb: Any = boto3.client("dynamodb", endpoint_url=variables["AWS_ENDPOINT_URL"])
    now = SystemClock().now()
    shared = (now + AHEAD).replace(second=0, microsecond=0)
    rule = {"cron": f"{shared.minute} {shared.hour} * * *"}
    rows = [replace(_schedule(f"s{number}", rule, now), next_at=shared) for number in range(schedules)]
    items = [{"PutRequest": {"Item": schedule_item(row, SHARDS)}} for row in rows]
    batches = [items[start : start + BATCH] for start in range(0, schedules, BATCH)]
    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(lambda batch: dynamodb.batch_write_item(RequestItems={table: batch}), batches))


def _dispatch(shards: Sequence[str]) -> Bill:
    """Look at shards, one after the other, until nothing is left of them, as a dispatcher does."""
    world, bill = wiring.world(), Bill()
    for part in ("schedules", "queue"):
        events = client_of(world, part).meta.events
        events.register("provide-client-params.dynamodb", bill.ask)
        events.register("after-call", bill.count)
    started = time.process_time()
    with _quietly():
        for shard in shards:
            message: ShardMessage | None = ShardMessage(shard, world.clock.now())
            while message is not None:
                ends_at = time.monotonic() + RUN_SECONDS
                looked = dispatch(world, message, lambda ends_at=ends_at: time.monotonic() < ends_at)  # type: ignore[misc]
                message = looked.again if looked else None
    return replace(bill, cpu_seconds=time.process_time() - started)


def _bill(bills: Sequence[Bill], schedules: int, count: int) -> dict[str, Any]:
    calls = sum((bill.calls for bill in bills), Counter[str]())
    assert calls["TransactWriteItems"] == schedules, "each was planned once"
    return {
        f"calls_per_slot_{count}": round(sum(calls.values()) / schedules, 3),
        f"write_units_per_slot_{count}": round(sum(bill.units for bill in bills) / schedules, 2),
        f"slots_per_cpu_second_{count}": round(schedules / sum(bill.cpu_seconds for bill in bills)),
    }


def _schedule(name: str, rule: dict[str, Any], now: datetime) -> Schedule:
    return Schedule(
        name=name,
        generation="generation",
        version=1,
        state=ScheduleState.ACTIVE,
        fields={"handler": "example.echo", **rule},
        payload=Payload(4, "null"),
        payload_hash="",
        since=now,
        planned_until=now,
        created_at=now,
        changed_at=now,
        changed_by="benchmark",
        stamp="stamp",
        tzdata=database_version(),
    )


@contextmanager
def _quietly() -> Iterator[None]:
    """Send what is logged nowhere; writing it is part of the work."""
    kept = os.dup(1)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        try:
            yield
        finally:
            sys.stdout.flush()
            os.dup2(kept, 1)
            os.close(kept)


def _print(figures: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
