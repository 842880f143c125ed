"""How late jobs begin on the local AWS, beside Celery with an SQS broker and `eta`; a worker of each is killed.

The same emulator, two workers each, the same empty handler, the same moments: first jobs at moments of their own, side
by side; then many due at one second, in turns, since each would want all of the machine. Half way through, a worker is
killed with -9 while it has a job in hand, and replaced at once. What has not run by the end counts as late until then.

PROVE=all gives each job a second of its own, which takes almost seven minutes more.
"""

import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory

from local import account

from benchmarks.late_celery import nodes
from benchmarks.late_jobs import Fate, Late, Noted, Quantiles, Side, fate, own_part
from benchmarks.late_onthedot import Ours, deployment
from benchmarks.rows import Row

WORKERS = 2
EACH_SECONDS, EACH = (1.0, "seconds") if os.environ.get("PROVE") == "all" else (0.2, "moments")
APART, AT_ONCE, REHEARSED = 500, 1_000, 20
LEAD_SECONDS = 0.045
"""How long creating each job may take; the first is due when that is over."""
TURN_SECONDS = 25
"""What Celery has of the machine for those at one second, before our turn, which takes longer."""
LEFT_SECONDS = 35
"""All is over when nothing has ended for so long; a job whose worker died comes back sooner, after its lease."""
SLOWEST_SECONDS = 150
"""How long a busy machine may take to come half way through the jobs that are due at one second."""
WAITS_SECONDS = 1.0
"""How long the job waits whose worker is killed."""
NAME = f"lateness, {APART} at {EACH} of their own"

Plans = Sequence[Sequence[Late]]


def rows() -> list[Row]:
    """Measure both."""
    with (
        account.isolated(),
        TemporaryDirectory() as home,
        deployment(Path(home), WORKERS) as ours,
        nodes(Path(home), ours.deployed.endpoint, WORKERS) as theirs,
    ):
        return _measured(ours, theirs)


def _measured(ours: Ours, theirs: Side) -> list[Row]:
    sides: tuple[Side, Side] = (ours, theirs)
    for side in sides:
        rehearse(side)
    apart = [planned("apart", APART, soon(APART), EACH_SECONDS)] * 2
    _live(sides, apart)
    first = soon(AT_ONCE)
    at_once = [planned("at-once", AT_ONCE, first + later, 0) for later in (TURN_SECONDS, 0)]
    _live(sides, at_once)
    _settle(sides)
    return _rows(sides, apart, at_once) + _part(apart[0], ours.noted())


def rehearse(side: Side) -> None:
    """Start all workers, and see that they work."""
    wanted, gives_up_at = ended(side) + REHEARSED, time.time() + LEFT_SECONDS
    side.create([Late(f"rehearsed-{wanted}-{number}", time.time()) for number in range(REHEARSED)])
    while ended(side) < wanted:
        assert time.time() < gives_up_at, "the workers do not work"
        time.sleep(0.2)


def soon(count: int) -> float:
    """Return when so many jobs are created."""
    return ceil(time.time() + count * LEAD_SECONDS)


def planned(name: str, count: int, first: float, each: float, waits: float = WAITS_SECONDS) -> list[Late]:
    """Return jobs that are due one after the other; the one in the middle waits for who kills its worker."""
    return [
        Late(f"{name}-{number}", first + number * each, waits if number == count // 2 else 0) for number in range(count)
    ]


def _live(sides: Sequence[Side], plans: Sequence[Sequence[Late]]) -> None:
    """Let each have its jobs, and lose a worker."""
    with ThreadPoolExecutor(len(sides)) as pool:
        list(pool.map(create, sides, plans))
        list(pool.map(_kill, sides, plans))
    time.sleep(max(0, max(jobs[-1].due_at for jobs in plans) + 2 - time.time()))


def create(side: Side, jobs: Sequence[Late]) -> None:
    """Create the jobs, in time."""
    side.create(jobs)
    assert time.time() < jobs[0].due_at, "creating the jobs took until they were due"


def _kill(side: Side, jobs: Sequence[Late]) -> None:
    """Kill the worker that has begun the job which waits for it."""
    [victim] = [job.id for job in jobs if job.waits]
    gives_up_at = jobs[-1].due_at + SLOWEST_SECONDS
    while not (begun := [line for line in side.noted() if line["kind"] == "begin" and line["job"] == victim]):
        assert time.time() < gives_up_at, f"{victim} has not begun"
        time.sleep(0.02)
    side.kill(begun[0])


def _settle(sides: Sequence[Side]) -> None:
    """Wait until nothing more ends: a slow machine must not look like a loss."""
    before, since = -1, time.time()
    while time.time() < since + LEFT_SECONDS and before < len(sides) * (REHEARSED + APART + AT_ONCE):
        now = sum(ended(side) for side in sides)
        before, since = now, since if now == before else time.time()
        time.sleep(0.5)


def ended(side: Side) -> int:
    """Return how many jobs have run."""
    return len({line["job"] for line in side.noted() if line["kind"] == "end"})


def _rows(sides: Sequence[Side], apart: Plans, at_once: Plans) -> list[Row]:
    """Judge both at one time, so that what has not run is as late for the one as for the other."""
    now, found = time.time(), list[Row]()
    for name, plans in ((NAME, apart), (f"lateness, {AT_ONCE:,} at one second", at_once)):
        found += _beside(name, *(fate(jobs, side.noted(), now) for side, jobs in zip(sides, plans, strict=True)))
    return found


def _beside(name: str, ours: Fate, theirs: Fate) -> list[Row]:
    late = [(each.name, *(getattr(side.late, each.name) for side in (ours, theirs))) for each in fields(Quantiles)]
    rows = [Row(f"{name}, {which}", value, "s", "celery", value / other) for which, value, other in late]
    told = (("ended", ours.ended, theirs.ended), ("began once", ours.once, theirs.once))
    return rows + [Row(f"{name}, {which}", value, "jobs", "celery", value / other) for which, value, other in told]


def _part(jobs: Sequence[Late], noted: Noted) -> list[Row]:
    own, whole = own_part(jobs, noted), fate(jobs, noted, time.time()).late
    return [
        Row(f"{NAME}, our own part, p50", own.p50, "s", "all of ours", own.p50 / whole.p50),
        Row(f"{NAME}, our own part, p99", own.p99, "s", "all of ours", own.p99 / whole.p99),
    ]
