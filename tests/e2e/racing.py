"""Planners in processes of their own, each with a world of its own, that start at once.

Kept apart from the tests, for each process imports it.
"""

import os
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from typing import Any

from onthedot import wiring
from onthedot.rules.planning import PLAN_AHEAD
from onthedot.steps.plan import plan
from onthedot.steps.put import hand_over

PATIENCE_SECONDS = 60
START: Barrier | None = None


@contextmanager
def planners(count: int, environment: Mapping[str, str]) -> Iterator[ProcessPoolExecutor]:
    """Give so many processes, which wait for each other at the start of every race."""
    context = get_context("spawn")
    start = context.Barrier(count)
    with ProcessPoolExecutor(count, context, _begin, (dict(environment), start)) as pool:
        yield pool


def race(name: str, seconds: float) -> None:
    """Plan a schedule again and again, for so long at least, until nothing is left."""
    world = wiring.world()
    wait_for_all()
    rests_at = time.monotonic() + seconds
    while True:
        schedule = world.schedules.get(name)
        assert schedule is not None
        progress = plan(world, schedule, world.clock.now() + PLAN_AHEAD, lambda: True)
        hand_over(world, progress.jobs)
        if progress.done and not progress.jobs and time.monotonic() > rests_at:
            return


def wait_for_all() -> None:
    """Wait until all processes have come here."""
    assert START is not None
    START.wait(PATIENCE_SECONDS)


def _begin(environment: dict[str, str], start: Any) -> None:
    global START  # noqa: PLW0603 - a barrier is inherited, never sent
    START = start
    os.environ.update(environment)
    wiring.world()
