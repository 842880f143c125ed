"""The tables of docs/scale.md, as text."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from math import inf

from benchmarks.scale.deployment import Deployment, speeds
from benchmarks.scale.limits import IN_FLIGHT, OF_SLOT, PARTITION, SOURCE_MOST, Limit
from benchmarks.scale.loads import Load, herd, rising, schedules
from benchmarks.scale.measured import Measured
from benchmarks.scale.moving import Step, steps
from benchmarks.scale.partitions import by_hash

SETTINGS = {
    "shards": "`Shards`",
    "dispatchers": "`DispatchConcurrency`",
    "batch": "`WorkerBatchSize`",
    "workers": "`WorkerConcurrency`",
    "pollers": "`WorkerPollers`",
    "most_pollers": "`WorkerPollersMost`",
    "warm": "`WarmWriteUnits`",
    "warm_schedules": "`WarmScheduleWriteUnits`",
    "requests": "`ApiRateLimit`",
    "concurrency": "account: concurrent executions",
    "write_quota": "account: write units of a table",
    "rehearsed": "rehearsed",
    "spread": "due within seconds:",
}
SHOWN = (Limit.TABLE, Limit.AGENDA, Limit.DISPATCH, Limit.WORKERS, Limit.ACCOUNT)
LOADS: Mapping[str, Load] = {
    "9000": rising(9_000),
    "100000": rising(100_000),
    "herd": herd(1_000_000),
    "schedules": schedules(10_000_000, 24),
    "morning": schedules(10_000_000, 1),
}
RATES = (30, 100, 300, 1_000, 3_000, 9_000, 30_000, 100_000)


def scenario(load: Load, measured: Measured) -> str:
    """Return the steps from the template's defaults to the goal."""
    heads = ("moved to", "half", "95 %", "99 %", "all", "waited most for", *SHOWN)
    return _table(heads, [_step(step) for step in steps(load, measured)])


def ceilings(measured: Measured) -> str:
    """Return what each limit lets through with the template's defaults, the least first."""
    rates = {**_of_jobs(Deployment(), measured), **_of_slots(Deployment(), measured)}
    return _table(
        ("limit", "a second"), [(name, f"{rates[name]:,.0f}") for name in sorted(rates, key=rates.__getitem__)]
    )


def advice(measured: Measured, rates: Iterable[int] = RATES) -> str:
    """Return what to set for some rates."""
    names = ("shards", "dispatchers", "batch", "workers", "warm", "requests", "concurrency")
    heads = ("jobs a second", *(SETTINGS[name] for name in names), "rehearsed")
    return _table(heads, _rows(measured, rates, names))


def _rows(measured: Measured, rates: Iterable[int], names: Sequence[str]) -> Iterator[Sequence[str]]:
    for rate in rates:
        *_, last = steps(rising(rate), measured)
        set_to, default = asdict(last.deployment), asdict(Deployment())
        if set_to["pollers"]:
            set_to["workers"] = f"pollers {set_to['pollers']} to {set_to['most_pollers']}"
        cells = ["" if set_to[name] == default[name] else _amount(set_to[name]) for name in names]
        yield f"{rate:,}", *cells, "yes" if last.deployment.rehearsed else ""


def _of_jobs(here: Deployment, measured: Measured) -> dict[str, float]:
    single, many = (speeds(here, measured, handler=0.1, request=count) for count in (1, 500))
    each = here.batch / many.invocation
    crowded = max(by_hash(here.shards, here.writes))
    return {
        f"{Limit.WORKERS}: jobs": here.most_workers * each,
        f"{Limit.AGENDA}: jobs": here.shards * PARTITION / 2 / crowded,
        f"{Limit.TABLE}: jobs": here.writes / 3,
        f"{Limit.DISPATCH}: jobs": min(here.dispatchers, here.shards) / many.hand_over,
        f"{Limit.ACCOUNT}: jobs": here.concurrency * each,
        f"{Limit.SOURCE}, when it has ended: jobs": SOURCE_MOST * each,
        f"{Limit.API}: jobs, one by one": min(here.requests, here.concurrency / single.create),
        f"{Limit.API}: jobs, 500 at once": min(here.requests * 500, here.concurrency / many.create),
        f"{Limit.IN_FLIGHT}: jobs": IN_FLIGHT / many.invocation,
    }


def _of_slots(here: Deployment, measured: Measured) -> dict[str, float]:
    plan = speeds(here, measured, handler=0.1, request=1).plan
    return {
        f"{Limit.DISPATCH}: slots of schedules with one each": min(here.dispatchers, here.shards) / plan,
        f"{Limit.SCHEDULES}: slots planned alone": here.schedule_writes / OF_SLOT,
    }


def _step(step: Step) -> Sequence[str]:
    late = [step.result.percentile(share) for share in (0.5, 0.95, 0.99, 1)]
    moved = ", ".join(_setting(name, value) for name, value in step.moved.items()) or "the defaults"
    waited = "" if step.reaches else str(step.result.binds)
    return moved, *map(_late, late), waited, *(f"{step.result.use.get(limit, 0):.0%}" for limit in SHOWN)


def _setting(name: str, value: int) -> str:
    return SETTINGS[name] if name == "rehearsed" else f"{SETTINGS[name]} {value:,}"


def _late(seconds: float) -> str:
    return "never" if seconds == inf else f"{seconds:,.0f} s"


def _amount(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
