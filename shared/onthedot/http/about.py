"""The calls about the deployment itself: is it well, and how is it called."""

import sys
from datetime import timedelta
from functools import cache

from onthedot import __version__
from onthedot.http.json_text import write
from onthedot.http.problems import Answer
from onthedot.http.requests import Request
from onthedot.rules.instants import MILLISECOND
from onthedot.rules.zones import database_version
from onthedot.steps.health import ShardAges, health
from onthedot.steps.ports import World


def show_health(world: World, request: Request) -> Answer:  # noqa: ARG001
    """Tell whether jobs are handed over in time."""
    state = health(world)
    document = {
        "status": "ok" if state.ok else "unhealthy",
        "tick_age_seconds": _seconds(state.tick),
        "shards": [_shard(shard) for shard in state.shards],
        "queues": {
            name: {"waiting": depth.waiting, "in_flight": depth.in_flight, "delayed": depth.delayed}
            for name, depth in state.queues.items()
        },
        "versions": versions(),
    }
    return Answer(200 if state.ok else 503, write(document))


@cache
def versions() -> dict[str, str]:
    """Return what runs here; the time zone database is part of what a local time means."""
    return {"onthedot": __version__, "tzdata": database_version(), "python": sys.version.split()[0]}


def _shard(shard: ShardAges) -> dict[str, object]:
    return {
        "shard": shard.name,
        "watermark_age_seconds": _seconds(shard.watermark),
        "oldest_overdue_seconds": _seconds(shard.oldest_overdue),
        "oldest_unplanned_seconds": _seconds(shard.oldest_unplanned),
    }


def _seconds(span: timedelta | None) -> float | None:
    return None if span is None else span // MILLISECOND / 1000
