"""What moves a limit: one setting after the other, each by what the load asks for, until the goal is met."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from math import ceil
from typing import assert_never

from benchmarks.scale.deployment import Deployment, Speeds, speeds
from benchmarks.scale.dispatching import AHEAD, LOOK_AHEAD, MINUTE
from benchmarks.scale.limits import (
    GATEWAY,
    MOST_CONCURRENCY,
    MOST_POLLERS,
    MOST_READY,
    OF_POLLER,
    OF_SLOT,
    PARTITION,
    Limit,
)
from benchmarks.scale.loads import Load, herd
from benchmarks.scale.measured import Measured
from benchmarks.scale.simulation import Result, simulate
from onthedot.rules.agenda import MOST_SHARDS
from onthedot.rules.timing import SHORTEST_LOOK

GOAL = 5
"""Units: seconds within which 95 % start. Source: Dropbox's ATF; Airbnb's Dynein has 10."""
ROOM = 1.3
"""How much more than the load asks for a limit is moved to."""
CROWDED = 16
"""Shards for each partition's worth of writes: so many lie evenly enough, however the hash falls."""
MOST_BATCH = 10
LONGEST_SPREAD = 64
"""Units: seconds over which a herd is spread at most."""


@dataclass(frozen=True, slots=True)
class Step:
    """A deployment under a load, and what was moved to get there."""

    moved: dict[str, int]
    load: Load
    deployment: Deployment
    result: Result

    @property
    def reaches(self) -> bool:
        """Whether 95 % start in time, and clients do not wait."""
        return self.result.percentile(0.95) <= GOAL and self.result.uncreated <= sum(self.load.created.values())


def steps(load: Load, measured: Measured) -> Iterator[Step]:
    """Move what binds, from the template's defaults on, until the goal is met or nothing can be moved."""
    step: Step | None = Step({}, load, Deployment(), simulate(load, Deployment(), measured))
    while step is not None:
        yield step
        step = None if step.reaches else _next(step, measured)


def _next(step: Step, measured: Measured) -> Step | None:
    """Move the limit for which most was waited; one that is high enough for the load only had to catch up."""
    here, load = step.deployment, step.load
    speed = speeds(here, measured, load.handler, load.request)
    for limit in sorted(step.result.held, key=lambda limit: -step.result.held[limit]):
        if (after := _moved(limit, load, here, speed)) != here:
            return Step(_changes(here, after), load, after, simulate(load, after, measured))
    if load.herd and load.spread < LONGEST_SPREAD:
        wider = herd(load.herd, 2 * load.spread)
        return Step({"spread": wider.spread}, wider, here, simulate(wider, here, measured))
    return None


def _moved(limit: Limit, load: Load, here: Deployment, speed: Speeds) -> Deployment:
    created, due, slots = peak(load.created), peak(load.due), peak(load.slots)
    match limit:
        case Limit.API:
            return replace(here, requests=min(GATEWAY, _room(created / load.request)))
        case Limit.TABLE:
            return _warmer(here, created + 2 * (due + slots) + OF_SLOT * slots)
        case Limit.AGENDA:
            return _more_shards(here, created + due + 2 * slots)
        case Limit.SCHEDULES:
            return replace(here, warm_schedules=_thousands(OF_SLOT * slots))
        case Limit.DISPATCH:
            drains = peak(load.due, LOOK_AHEAD - MINUTE) * speed.hand_over
            return _more_dispatchers(here, drains + peak(load.slots, AHEAD - MINUTE) * speed.plan, speed.look)
        case Limit.WORKERS | Limit.SOURCE | Limit.IN_FLIGHT:
            return _more_workers(limit, here, (due + slots) * speed.invocation / here.batch)
        case Limit.ACCOUNT:
            workers = (due + slots) * speed.invocation / here.batch
            return replace(here, concurrency=_thousands(workers + here.dispatchers + created * speed.create))
        case Limit.ENVIRONMENTS:
            return here
        case _:
            assert_never(limit)


def peak(jobs: Mapping[int, float], seconds: int = GOAL) -> float:
    """Return the most jobs of a second, where so many seconds may be used to do what is asked in one."""
    amounts = list(jobs.values())
    return max((sum(amounts[first : first + seconds]) for first in range(len(amounts))), default=0) / seconds


def _more_dispatchers(here: Deployment, needed: float, look: float) -> Deployment:
    """Have more of them, and shards for them: a shard is looked at by one at a time."""
    shards = min(MOST_SHARDS, 2 ** (_room(2 * needed) - 1).bit_length())
    if shards > here.shards:
        return _sharded(here, shards)
    return replace(here, dispatchers=max(here.dispatchers, _room(needed + here.shards * look / 60) + 1))


def _more_workers(limit: Limit, here: Deployment, invocations: float) -> Deployment:
    """Raise the concurrency, fill batches where one a message is too dear, then provision pollers."""
    needed = _room(invocations)
    if limit is Limit.WORKERS and not here.pollers and needed <= MOST_CONCURRENCY:
        return replace(here, workers=max(here.workers, needed))
    if here.batch < MOST_BATCH:
        return replace(here, batch=MOST_BATCH)
    if limit is Limit.WORKERS and not here.pollers:
        return replace(here, workers=MOST_CONCURRENCY)
    most = min(MOST_POLLERS, max(2, ceil(needed / OF_POLLER)))
    return replace(here, pollers=min(MOST_READY, most), most_pollers=most)


def _warmer(here: Deployment, units: float) -> Deployment:
    warm = max(here.warm, _thousands(units))
    return replace(here, warm=warm, write_quota=max(here.write_quota, warm))


def _more_shards(here: Deployment, units: float) -> Deployment:
    """Have enough shards for them to lie evenly, then let DynamoDB see the load before."""
    shards = min(MOST_SHARDS, 2 ** ceil(units * CROWDED / PARTITION - 1).bit_length())
    return _sharded(here, shards) if shards > here.shards else replace(here, rehearsed=1)


def _sharded(here: Deployment, shards: int) -> Deployment:
    """Have dispatchers for the shards: enough for each to have its turn in time, if all have long work."""
    turns = (LOOK_AHEAD - 2 * MINUTE) // SHORTEST_LOOK.total_seconds()
    return replace(here, shards=shards, dispatchers=max(here.dispatchers, ceil(shards / turns)))


def _room(amount: float) -> int:
    return ceil(amount * ROOM)


def _thousands(amount: float) -> int:
    return ceil(amount * ROOM / PARTITION) * PARTITION


def _changes(before: Deployment, after: Deployment) -> dict[str, int]:
    old = asdict(before)
    return {name: value for name, value in asdict(after).items() if value != old[name]}
