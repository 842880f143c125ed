"""Planning: slots that become jobs for each CPU second of a dispatcher, hand-over included.

Two shapes: timetables that fill a transaction each, and schedules that have one slot each, all on one minute.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from tests.support.aside import environment

from benchmarks import bare
from benchmarks.canned import NOWHERE, SHARDS, Answer, Call, accepted, always, canned, count, paged
from benchmarks.rows import Row, compared, per_cpu_second, slope
from onthedot.adapters.schedule_items import row_key, schedule_item
from onthedot.clock import SystemClock
from onthedot.rules.jobs import Payload
from onthedot.rules.planning import MOST_JOBS
from onthedot.rules.schedules import Schedule, ScheduleState
from onthedot.rules.zones import database_version
from onthedot.steps.plan import plan, plan_shard
from onthedot.steps.ports import Shard, World
from onthedot.steps.put import hand_over

FULL = {1_000: 5, 10_000: 3, 100_000: 1}
ONE_MINUTE = {1_000: 3, 10_000: 1}
"""Rounds by the number of slots."""
SAMPLE = 1_000
PAGE = 100
AHEAD = timedelta(minutes=5)
TABLE = environment(NOWHERE, SHARDS)["ONTHEDOT_SCHEDULES_TABLE"]
WRITES: dict[str, Answer] = {"TransactWriteItems": always({}), "SendMessageBatch": accepted}


def rows() -> list[Row]:
    """Measure both shapes."""
    full = [_row("slots of full timetables", slots, rounds, _full) for slots, rounds in FULL.items()]
    alone = [_row("schedules on one minute", slots, rounds, _one_minute) for slots, rounds in ONE_MINUTE.items()]
    return [*full, slope(full), *alone, slope(alone)]


@dataclass(frozen=True, slots=True)
class _Run:
    """What a run came to: its rate, and its first calls."""

    rate: float
    slots: int
    calls: Sequence[Call]


def _row(shape: str, slots: int, rounds: int, run: Callable[[int], _Run]) -> Row:
    sample = run(SAMPLE)

    def ours() -> float:
        return run(slots).rate

    def same_calls_bare() -> float:
        return bare.rate(sample.calls, sample.slots, slots // SAMPLE, _answers(0))

    (row,) = compared(f"planning, {slots:,} {shape}", "slots/CPU s", rounds, ours, same_calls_bare=same_calls_bare)
    return row


def _full(slots: int) -> _Run:
    """Plan schedules of every minute, as far ahead as one transaction takes."""
    with canned(WRITES) as (world, calls):
        now = world.clock.now()
        schedules = [schedule(f"s{number}", {"every": 60}, now) for number in range(slots // MOST_JOBS + 1)]
        _plan(world, schedules[:1], now)
        del calls[:]
        planned = len(schedules) * MOST_JOBS
        rate = per_cpu_second(planned, lambda: _plan(world, schedules, now))
    assert count(calls, "TransactWriteItems") == len(schedules), "each was filled"
    return _Run(rate, planned, calls)


def _plan(world: World, schedules: Sequence[Schedule], now: datetime) -> None:
    until = now + MOST_JOBS * timedelta(minutes=1)
    hand_over(world, [job for each in schedules for job in plan(world, each, until, lambda: True).jobs])


def _one_minute(slots: int) -> _Run:
    """Plan schedules that share a minute, as a dispatcher finds them."""
    shard = Shard("0", "lease", "", None)
    with canned(_answers(slots)) as (world, calls):
        rate = per_cpu_second(slots, lambda: plan_shard(world, shard, lambda: True))
    assert count(calls, "TransactWriteItems") == slots, "each was planned"
    return _Run(rate, slots, calls)


def _answers(slots: int) -> dict[str, Answer]:
    now = SystemClock().now()
    shared = (now + AHEAD).replace(second=0, microsecond=0)
    rule = {"cron": f"{shared.minute} {shared.hour} * * *"}
    every = (replace(schedule(f"s{number}", rule, now), next_at=shared) for number in range(slots))
    keys, items = list[bytes](), list[bytes]()
    while page := list(islice(every, PAGE)):
        last = {"LastEvaluatedKey": row_key(page[-1].name)} if len(keys) + 1 < slots // PAGE else {}
        found = [row_key(each.name) for each in page]
        keys.append(json.dumps({"Items": found, "Count": PAGE, "ScannedCount": PAGE, **last}).encode())
        read = {TABLE: [schedule_item(each, SHARDS) for each in page]}
        items.append(json.dumps({"Responses": read, "UnprocessedKeys": {}}).encode())
    return {**WRITES, "Query": paged(iter(keys)), "BatchGetItem": paged(iter(items))}


def schedule(name: str, rule: dict[str, Any], now: datetime) -> Schedule:
    """Return a schedule with this timetable whose slots begin now."""
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
