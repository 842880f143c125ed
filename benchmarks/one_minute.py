"""Schedules that share a minute, on the local AWS: how fast one dispatcher plans them, and two, and what they spend.

It starts a local AWS of its own. Its calls take the most of the time, so this says nothing of how fast AWS would be.
"""

import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import boto3
from local import account, emulator
from tests.e2e.racing import planners, wait_for_all
from tests.support.aside import beside
from tests.support.worlds import client_of

from benchmarks.canned import SHARDS, quietly
from benchmarks.planning import schedule as made
from benchmarks.rows import Row
from onthedot import wiring
from onthedot.adapters.schedule_items import schedule_item
from onthedot.clock import SystemClock
from onthedot.messages import ShardMessage
from onthedot.steps.dispatch import dispatch

SCHEDULES = 1_000
AHEAD = timedelta(minutes=5)
RUN_SECONDS = 40
"""What a dispatcher has before it asks for another."""
BATCH, WRITERS = 25, 4


@dataclass(frozen=True, slots=True)
class Measured:
    """Slots a second, and what each cost."""

    rate: float
    calls: float
    units: float


@dataclass(slots=True)
class Bill:
    """What a dispatcher spent: calls by their operation, and write units."""

    calls: Counter[str] = field(default_factory=Counter)
    units: float = 0

    def ask(self, params: dict[str, Any], model: Any, **_: Any) -> None:
        """Ask DynamoDB to say what a write costs."""
        if model.name in ("TransactWriteItems", "UpdateItem"):
            params["ReturnConsumedCapacity"] = "TOTAL"

    def count(self, parsed: dict[str, Any], model: Any, **_: Any) -> None:
        """Count a call, and add what it cost."""
        self.calls[model.name] += 1
        told = parsed.get("ConsumedCapacity", [])
        self.units += sum(each["CapacityUnits"] for each in (told if isinstance(told, list) else [told]))


def rows() -> list[Row]:
    """Measure both."""
    with account.isolated(), TemporaryDirectory() as home:
        running = emulator.start(Path(home), 0, auth=False)
        try:
            one, two = (_measured(running.url, count) for count in (1, 2))
        finally:
            emulator.stop(Path(home), running)
    name = f"one-minute, {SCHEDULES:,} schedules"
    return [
        Row(f"{name}, two dispatchers", two.rate, "slots/s", "one dispatcher", two.rate / one.rate),
        Row(f"{name}, calls", two.calls, "calls/slot", "one dispatcher", two.calls / one.calls),
        Row(f"{name}, write units", two.units, "units/slot", "one dispatcher", two.units / one.units),
    ]


def _measured(endpoint: str, count: int) -> Measured:
    with beside(endpoint, SHARDS) as variables, planners(count, variables) as pool:
        _fill(variables)
        shares = [[str(shard) for shard in range(number, SHARDS, count)] for number in range(count)]
        for ready in [pool.submit(wait_for_all) for _ in range(count)]:
            ready.result()
        started = time.monotonic()
        bills = list(pool.map(_dispatch, shares))
        seconds = time.monotonic() - started
    calls = sum((bill.calls for bill in bills), Counter[str]())
    assert calls["TransactWriteItems"] == SCHEDULES, "each was planned once"
    units = sum(bill.units for bill in bills)
    return Measured(SCHEDULES / seconds, sum(calls.values()) / SCHEDULES, units / SCHEDULES)


def _fill(variables: dict[str, str]) -> None:
    """Create the rows, many at once: what is measured begins with them."""
    table = variables["ONTHEDOT_SCHEDULES_TABLE"]
    dynamodb: Any = boto3.client("dynamodb", endpoint_url=variables["AWS_ENDPOINT_URL"])
    now = SystemClock().now()
    shared = (now + AHEAD).replace(second=0, microsecond=0)
    rule = {"cron": f"{shared.minute} {shared.hour} * * *"}
    rows = [replace(made(f"s{number}", rule, now), next_at=shared) for number in range(SCHEDULES)]
    items = [{"PutRequest": {"Item": schedule_item(row, SHARDS)}} for row in rows]
    batches = [items[start : start + BATCH] for start in range(0, SCHEDULES, BATCH)]
    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(lambda batch: dynamodb.batch_write_item(RequestItems={table: batch}), batches))


def _dispatch(shards: Sequence[str]) -> Bill:
    """Look at shards, one after the other, until nothing is left of them, as a dispatcher does."""
    world, bill = wiring.world(), Bill()
    for part in ("schedules", "queue"):
        events = client_of(world, part).meta.events
        events.register("provide-client-params.dynamodb", bill.ask)
        events.register("after-call", bill.count)
    with quietly():
        for shard in shards:
            message: ShardMessage | None = ShardMessage(shard, world.clock.now())
            while message is not None:
                ends_at = time.monotonic() + RUN_SECONDS
                looked = dispatch(world, message, lambda ends_at=ends_at: time.monotonic() < ends_at)  # type: ignore[misc]
                message = looked.again if looked else None
    return bill
