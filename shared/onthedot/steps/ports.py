"""What the steps ask of the world. A lost race is an answer; `Unavailable` is raised when AWS gives none."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol, TypeVar

from onthedot.rules.agenda import Entry
from onthedot.rules.events import Event
from onthedot.rules.jobs import Job, Payload
from onthedot.rules.timing import Timing
from onthedot.steps.ports_of_schedules import Schedules

A = TypeVar("A")
B = TypeVar("B")


class Clock(Protocol):
    """The only source of time and chance."""

    def now(self) -> datetime:
        """Return the time: aware, UTC, whole milliseconds."""

    def token(self) -> str:
        """Return a random text that nobody else draws."""

    def chance(self) -> float:
        """Return a random number in `[0, 1)`."""

    def pause(self) -> None:
        """Wait for a moment, by chance shorter or longer."""

    def wait(self, span: timedelta) -> None:
        """Wait for so long, and no less."""


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a conditional write: whether it won, and the job as it is now; no job when it is gone."""

    won: bool
    job: Job | None


class Jobs(Protocol):
    """The jobs, one item each. Every write is conditional, and a repeated call that meets its own write has won."""

    def add(self, job: Job, now: datetime) -> Written:
        """Write a new job, where there is none or only one that has expired."""

    def get(self, schedule: str, slot: str) -> Job | None:
        """Return the job as it is now (strongly consistent)."""

    def start(self, entry: Entry, owner: str, now: datetime, timeout: timedelta) -> Written:
        """Start a scheduled job whose wake is the entry's and whose time has come, for one attempt of `owner`.

        The lease is the job's own timeout, or where it has none `timeout`, and the margin.
        """

    def change(self, before: Job, after: Job) -> Written:
        """Write what differs, if the job still has the state, owner, lease and wake of `before`."""

    def remove(self, job: Job) -> bool:
        """Delete the job, if it still has this state, owner and wake; return whether it is gone."""


Placed = tuple[str, Payload]
"""A payload, and the partition that it lies in: that of its job, or of its schedule's jobs."""


class Payloads(Protocol):
    """The payloads too large for their job's item, each written once, before the job that names it."""

    def fits(self, job: Job) -> bool:
        """Tell whether the job's item, at its largest, costs one write unit with its payload inside."""

    def store(self, schedule: str, name: str, text: str, kept_until: datetime) -> None:
        """Write a payload next to its jobs, to expire when none can need it any more."""

    def expire(self, schedule: str, name: str, at: datetime) -> None:
        """Let a payload that no new job will need expire."""

    def text(self, job: Job) -> str:
        """Return the job's payload as JSON text, wherever it is.

        Raises: LookupError when the item that held it is gone.
        """

    def texts(self, placed: Sequence[Placed]) -> list[str | None]:
        """Return the texts of many payloads, in their order; `None` where the item that held one is gone."""


class Index(StrEnum):
    """An index of the jobs; its entries are `time#schedule#slot`, in order within a partition."""

    AGENDA = "agenda"  # without an outcome; by shard and wake
    GROUPS = "groups"  # of a group; by partition of the group and time of creation
    DEAD = "dead"  # dead; by shard and time of death


class Indexes(Protocol):
    """Finds jobs. Eventually consistent: an index names candidates, the job decides."""

    def page(
        self, index: Index, partition: str, after: str, until: str, limit: int, handler: str | None = None
    ) -> list[str]:
        """Return the entries with `after < entry <= until`, in order; fewer than `limit` mean it has no more.

        Of the dead, which alone are known by it, those of one `handler` can be asked for.
        """

    def of_schedule(self, schedule: str, after: str, limit: int) -> list[Job]:
        """Return the jobs of a schedule whose slot is greater than `after`, in order, at most `limit`."""

    def newest(self, schedule: str, start: str, before: str, limit: int) -> list[Job]:
        """Return the jobs of a schedule with `start <= slot < before`, the last ones first, at most `limit`."""

    def read(self, keys: Sequence[tuple[str, str]]) -> list[Job]:
        """Return the jobs with these keys, in their order, without those that are gone."""


@dataclass(frozen=True, slots=True)
class Shard:
    """A shard under its lease."""

    name: str
    lease: str
    watermark: str
    swept_at: datetime | None


@dataclass(frozen=True, slots=True)
class ShardRow:
    """What is known of a shard, whoever has its lease; a field is `None` until it was written once.

    `ticked_at` is the tick that last had it looked at.
    """

    name: str
    watermark: str | None
    ticked_at: datetime | None
    swept_at: datetime | None


class Shards(Protocol):
    """How far each shard's agenda was handed over, and who may go on."""

    def all(self) -> list[ShardRow]:
        """Return every shard that ever had a dispatcher, as it is now (strongly consistent)."""

    def acquire(
        self, name: str, lease: str, former: str | None, ticked_at: datetime, now: datetime, until: datetime
    ) -> Shard | None:
        """Take the shard's lease if it is free, over, or the `former` one of the same work; `None` when it is not."""

    def move(self, shard: Shard, watermark: str) -> bool:
        """Move the watermark, if the lease is still ours."""

    def claim_sweep(self, shard: Shard, now: datetime) -> bool:
        """Note that the shard is swept now, if the lease is still ours."""

    def release(self, shard: Shard) -> None:
        """Give the lease back, if it is still ours."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A message that SQS did not accept: whose, why, and whether trying it again is vain."""

    entry: Entry
    reason: str
    vain: bool


class Queue(Protocol):
    """The job queue."""

    def send(self, entries: Sequence[Entry], due_at: Callable[[Entry], datetime]) -> list[Refusal]:
        """Send a message for each entry, to arrive not before it is due; return those that were not accepted.

        A call that fails whole refuses all its entries; nothing is raised.
        """


@dataclass(frozen=True, slots=True)
class Depth:
    """About how many messages a queue holds: to be received, received and not yet acknowledged, not yet due."""

    waiting: int
    in_flight: int
    delayed: int


class Depths(Protocol):
    """How full the queues are."""

    def __call__(self) -> dict[str, Depth]:
        """Return the depth of every queue by its name (approximate)."""


class Strays(Protocol):
    """Where messages go that no one can act on, for a person to look at."""

    def keep(self, text: str, reason: str) -> None:
        """Keep a message with its text."""


class Journal(Protocol):
    """Tells people what happened: structured lines and metrics."""

    def job(self, event: Event, job: Job) -> None:
        """Tell of a job."""

    def schedule(self, event: Event, name: str, count: int = 1, reason: str | None = None) -> None:
        """Tell of a schedule, or of so many of its slots."""

    def shard(self, event: Event, shard: str, handed_over: int, refused: int) -> None:
        """Tell of a shard."""


class SideBySide(Protocol):
    """Runs one function over many items, some of them at once."""

    def __call__(self, function: Callable[[A], B], items: Iterable[A], /) -> list[B]:
        """Return the results in the items' order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """All that the steps ask for, wired once."""

    clock: Clock
    jobs: Jobs
    schedules: Schedules
    payloads: Payloads
    indexes: Indexes
    shards: Shards
    queue: Queue
    strays: Strays
    depths: Depths
    journal: Journal
    side_by_side: SideBySide
    timing: Timing
    shard_count: int
