"""What a job costs us: CPU from `results.jsonl`, calls from the table of them, which a test compares."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.rows import Row, read

CALL = 0.010
"""Units: seconds of one AWS call. Assumed: AWS says single-digit milliseconds for DynamoDB, and nothing for SQS."""
CALLS: Mapping[str, int] = {"run a job": 3, "create, far": 1, "two shards, idle": 18}
"""By the names that the table of calls gives them."""
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
