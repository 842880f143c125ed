"""What a job costs us: CPU from `results.jsonl`; calls stand in `counts.py`, and a test counts them anew."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.rows import Row, read

CALL = 0.010
"""Units: seconds of one AWS call. Assumed: AWS says single-digit milliseconds for DynamoDB, and nothing for SQS."""
RATES = {
    "hand_over": "hand-over, 10,000 jobs",
    "plan": "planning, 1,000 schedules on one minute",
    "run": "worker, CPU",
    "create": "create, single",
    "create_batch": "create, batches of 500",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Units: CPU seconds of one job. Those of Lambda's vCPU are taken to be those of the machine that measured."""

    hand_over: float
    plan: float
    run: float
    create: float
    create_batch: float


def measured(rows: Sequence[Row] | None = None) -> Measured:
    """Return what the last `make bench` measured."""
    values = {row.name: row.value for row in (read() if rows is None else rows)}
    return Measured(**{field: 1 / values[name] for field, name in RATES.items()})
