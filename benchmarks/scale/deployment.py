"""What a deployment sets, what its account allows, and how fast its parts are then."""

from dataclasses import dataclass
from math import ceil

from benchmarks.counts import CALLS, LOOKS
from benchmarks.scale.limits import (
    ACCOUNT,
    MOST_CONCURRENCY,
    NEW_TABLE,
    OF_POLLER,
    TABLE_QUOTA,
    VCPU,
)
from benchmarks.scale.measured import CALL, Measured
from onthedot.steps.drain import PAGE
from onthedot.wiring import THREADS

BATCH = 10
"""Messages that SQS takes at once."""
PLANNED = 100
"""Schedules that are read at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """The template's parameters, by its defaults, and two quotas of the account; `pollers` stand for `workers`.

    `rehearsed` is 1 where such a load has been there before: then each shard has a partition of its own, for partitions
    are split and never merged.
    """

    shards: int = 4
    dispatchers: int = 2
    batch: int = 1
    workers: int = 5
    pollers: int = 0
    most_pollers: int = 200
    warm: int = NEW_TABLE
    warm_schedules: int = NEW_TABLE
    requests: int = 100
    memory: int = 1_024
    concurrency: int = ACCOUNT
    write_quota: int = TABLE_QUOTA
    rehearsed: int = 0

    @property
    def writes(self) -> int:
        """Write units that the table, and each index, takes in a second."""
        return min(self.warm, self.write_quota)

    @property
    def schedule_writes(self) -> int:
        """Write units that the table of schedules, and its index, takes in a second."""
        return min(self.warm_schedules, self.write_quota)

    @property
    def most_workers(self) -> int:
        """Invocations of the worker that may run at a time."""
        return OF_POLLER * self.most_pollers if self.pollers else min(self.workers, MOST_CONCURRENCY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Speeds:
    """Units: seconds of a function, by what it does: CPU at its memory, and calls that wait for each other."""

    look: float
    hand_over: float
    plan: float
    invocation: float
    create: float


def speeds(deployment: Deployment, measured: Measured, handler: float, request: int) -> Speeds:
    """Return how long a look takes, a job of a drain, a slot of a plan, a full batch, and a job of a create."""
    vcpu = min(1, deployment.memory / VCPU)
    sent_in_turn, created_in_turn = ceil(PAGE / BATCH / THREADS), ceil(request / THREADS)
    create = measured.create if request == 1 else measured.create_batch
    return Speeds(
        look=sum(LOOKS.values()) / 2 * CALL,
        hand_over=measured.hand_over / vcpu + (2 + sent_in_turn) * CALL / PAGE,
        plan=measured.plan / vcpu + (3 + ceil(PLANNED / THREADS)) * CALL / PLANNED,
        invocation=handler + sum(CALLS["run a job"].values()) * CALL + deployment.batch * measured.run / vcpu,
        create=create / vcpu + created_in_turn * CALL / request,
    )
