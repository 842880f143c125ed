"""How late jobs begin on the local AWS where workers wait for the last second, beside those of the default.

The same stack: first rounded up, then with `WorkerWaitMilliseconds` at 1000; nobody is killed, and there are workers
enough, since those that wait are busy.
"""

import time
from pathlib import Path
from tempfile import TemporaryDirectory

from local import account

from benchmarks.late_jobs import Fate, Quantiles, fate, own_part
from benchmarks.late_onthedot import Ours, deployment
from benchmarks.lateness import create, ended, planned, rehearse, soon
from benchmarks.rows import Row

WORKERS = 6
JOBS, EACH_SECONDS = 250, 0.2
WAIT_MILLISECONDS = 1_000
LEFT_SECONDS = 20


def rows() -> list[Row]:
    """Measure both."""
    with account.isolated(), TemporaryDirectory() as home, deployment(Path(home), WORKERS) as ours:
        (rounded, rounded_part), (punctual, punctual_part) = (_lived(ours, wait) for wait in (0, WAIT_MILLISECONDS))
    assert rounded.ended == punctual.ended == JOBS, "all have run"
    name = f"punctuality, {JOBS} at moments of their own"
    pairs = (
        ("p50", punctual.late.p50, rounded.late.p50),
        ("p95", punctual.late.p95, rounded.late.p95),
        ("p99", punctual.late.p99, rounded.late.p99),
        ("max", punctual.late.max, rounded.late.max),
        ("our own part, p50", punctual_part.p50, rounded_part.p50),
        ("our own part, p99", punctual_part.p99, rounded_part.p99),
        ("our own part, max", punctual_part.max, rounded_part.max),
    )
    return [Row(f"{name}, {which}", value, "s", "rounded up", value / other) for which, value, other in pairs]


def _lived(ours: Ours, milliseconds: int) -> tuple[Fate, Quantiles]:
    ours.let_workers_wait(milliseconds)
    rehearse(ours)
    jobs = planned(f"waiting-{milliseconds}", JOBS, soon(JOBS), EACH_SECONDS, waits=0)
    wanted = ended(ours) + JOBS
    create(ours, jobs)
    while ended(ours) < wanted and time.time() < jobs[-1].due_at + LEFT_SECONDS:
        time.sleep(0.5)
    noted = ours.noted()
    return fate(jobs, noted, time.time()), own_part(jobs, noted, milliseconds / 1000)
