"""The job: its identity and its states. What leads from one to the next stands in `transitions.py`."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256

from onthedot.rules.agenda import Entry
from onthedot.rules.instants import from_text, shown, to_text
from onthedot.rules.past import Past

NAME = "[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
"""The pattern of every name and id that callers choose."""
JOB_ID = rf"{NAME}(@[A-Za-z0-9.:_-]{{1,80}})?"
"""The pattern of every id of a job, also of those that schedules make."""

ONE_SLOT = "-"
"""The slot of every one-off job, never its `run_at`: the same id twice must meet the same key."""


class State(StrEnum):
    """Where a job is in its life."""

    SCHEDULED = "scheduled"  # waits for its time
    RUNNING = "running"  # an attempt owns it until its lease ends
    SUCCEEDED = "succeeded"  # its handler returned
    DEAD = "dead"  # no attempt will be made any more
    CANCELLED = "cancelled"  # somebody took it back before it ran
    SKIPPED = "skipped"  # a rule decided that it should not run


PENDING = frozenset({State.SCHEDULED, State.RUNNING})
REVIVABLE = frozenset({State.DEAD, State.CANCELLED})


@dataclass(frozen=True, slots=True)
class Retry:
    """How failed attempts are tried again, as far as the job itself says it. Units: seconds.

    What it leaves open is said by its schedule, its handler or the defaults, and resolved at the attempt.
    """

    max_attempts: int | None = None
    first: float | None = None
    factor: float | None = None
    max: float | None = None


@dataclass(frozen=True, slots=True)
class Payload:
    """What the handler is given, as JSON text: in the job's item, or in an item of its own that `stored_as` names.

    Units: `size` in bytes of UTF-8.
    """

    size: int
    text: str | None = None
    stored_as: str | None = None
    kept_until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One piece of work to run once at a time, identified by `(schedule, slot)`.

    A one-off has the hash of the `request` that made it; the job of a slot has the `generation` and `version` of its
    schedule, and what clocks there show: `local_slot`, with `fold` 1 where that reading came before, and `meant` where
    it was made up for a local time that the clocks jumped over. One that somebody gave another time is `pinned` there:
    no edit of its schedule takes it back. One that somebody sent again after its outcome was `revived_at` that time: it
    was asked for by hand from then on. `past` are the attempts before the present one; `start_before` lies
    `start_within` after the time that it was given, which waiting for its turn does not move; `stop` says that somebody
    wants the present one to stop.
    """

    schedule: str
    slot: str
    state: State
    handler: str
    run_at: datetime
    wake: datetime | None
    payload: Payload
    created_at: datetime
    request: str | None = None
    generation: str | None = None
    version: int | None = None
    local_slot: str | None = None
    fold: int | None = None
    meant: str | None = None
    overlap: str | None = None
    pinned: bool | None = None
    group: str | None = None
    timeout: timedelta | None = None
    retry: Retry | None = None
    start_within: timedelta | None = None
    start_before: datetime | None = None
    revived_at: datetime | None = None
    attempt: int = 0
    past: tuple[Past, ...] = ()
    stop: bool | None = None
    owner: str | None = None
    lease_until: datetime | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    result: str | None = None
    error: str | None = None
    reason: str | None = None
    expires_at: datetime | None = None

    @property
    def placed(self) -> tuple[str, Payload]:
        """Its payload, and the partition that it lies in if it lies apart."""
        return self.schedule, self.payload

    @property
    def key(self) -> tuple[str, str]:
        """The primary key."""
        return self.schedule, self.slot

    @property
    def id(self) -> str:
        """The name that callers know it by."""
        return id_of(self.schedule, self.slot)

    @property
    def entry(self) -> str | None:
        """Its place on the agenda, as text; none once it has an outcome."""
        return None if self.wake is None else str(Entry(self.wake, self.schedule, self.slot))

    @property
    def of_schedule(self) -> bool:
        """Whether a schedule made it: for a slot, or by hand."""
        return self.slot != ONE_SLOT

    @property
    def untouched(self) -> bool:
        """Whether it waits as its schedule planned it, and nobody gave it another time: that may be undone."""
        return self.state is State.SCHEDULED and self.attempt == 0 and not self.pinned and self.revived_at is None

    @property
    def pending(self) -> bool:
        """Whether it has no outcome yet."""
        return self.state in PENDING

    @property
    def since(self) -> datetime:
        """When it came into the state that it is in."""
        last_try = self.past[-1].finished_at if self.past else None
        return self.finished_at or self.started_at or last_try or self.revived_at or self.created_at

    @property
    def idempotency_key(self) -> str:
        """The same for every attempt of this job, and for no other job, even one that takes its id after it expired."""
        return sha256(f"{self.schedule}#{self.slot}#{to_text(self.created_at)}".encode()).hexdigest()[:32]

    def is_attempt_of(self, owner: str | None) -> bool:
        """Tell whether it runs, by the attempt of this owner."""
        return self.state is State.RUNNING and self.owner == owner

    def has_expired(self, now: datetime) -> bool:
        """Tell whether it is only still there because the table deletes what expired within days, not at once."""
        return self.expires_at is not None and self.expires_at <= now


def key_of(job_id: str) -> tuple[str, str] | None:
    """Return the primary key of a job's id; `None` when no job can have that id."""
    name, at, slot = job_id.partition("@")
    if not at:
        return f"job#{name}", ONE_SLOT
    if slot.startswith("manual-"):
        return f"schedule#{name}", f"manual#{slot.removeprefix('manual-')}"
    try:
        instant = from_text(slot if "." in slot else slot.replace("Z", ".000Z"))
    except ValueError:
        return None
    return (f"schedule#{name}", to_text(instant)) if shown(instant) == slot else None


def id_of(schedule: str, slot: str) -> str:
    """Return the id of the job with this key."""
    kind, name = schedule.split("#", 1)
    if kind == "job":
        return name
    if slot.startswith("manual#"):
        return f"{name}@manual-{slot.removeprefix('manual#')}"
    return f"{name}@{shown(from_text(slot))}"
