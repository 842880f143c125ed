"""What a deployment sets, from the environment that the template writes.

Raises: KeyError for a name that is missing, ValueError for a value that breaks the protocol; both at the first call.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from onthedot.rules.agenda import MOST_SHARDS
from onthedot.rules.timing import Timing


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Tables, queues, the number of shards and of dispatchers at a time, and the spans of the protocol."""

    jobs_table: str
    schedules_table: str
    shards_table: str
    queue_urls: Mapping[str, str]
    shards: int
    dispatchers: int
    timing: Timing
    allowed_targets: tuple[str, ...]

    def __post_init__(self) -> None:
        if not 1 <= self.shards <= MOST_SHARDS:
            raise ValueError(f"shards is {self.shards}; there are 1 to {MOST_SHARDS}")
        if self.dispatchers < 1:
            raise ValueError(f"dispatchers is {self.dispatchers}; without one nothing is handed over")


QUEUES = ("job", "job_dead_letter", "shard", "shard_dead_letter", "timer_dead_letter", "stray")


def from_environment(environment: Mapping[str, str]) -> Settings:
    """Return the settings that the environment holds."""
    return Settings(
        jobs_table=environment["ONTHEDOT_JOBS_TABLE"],
        schedules_table=environment["ONTHEDOT_SCHEDULES_TABLE"],
        shards_table=environment["ONTHEDOT_SHARDS_TABLE"],
        queue_urls={name: environment[f"ONTHEDOT_{name.upper()}_QUEUE_URL"] for name in QUEUES},
        shards=int(environment["ONTHEDOT_SHARDS"]),
        dispatchers=int(environment["ONTHEDOT_DISPATCHERS"]),
        timing=Timing(
            look_ahead=timedelta(seconds=int(environment["ONTHEDOT_LOOKAHEAD_SECONDS"])),
            retention=timedelta(days=int(environment["ONTHEDOT_RETENTION_DAYS"])),
            worker_timeout=timedelta(seconds=int(environment["ONTHEDOT_WORKER_TIMEOUT_SECONDS"])),
            worker_wait=timedelta(milliseconds=int(environment["ONTHEDOT_WORKER_WAIT_MILLISECONDS"])),
        ),
        allowed_targets=tuple(filter(None, environment["ONTHEDOT_ALLOWED_TARGET_ARNS"].split(","))),
    )
