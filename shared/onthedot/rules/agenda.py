"""Where a job stands on the agenda, when the dispatcher looks at it, and how far the agenda was handed over.

An entry is `wake#schedule#slot`: unique, so that a cursor never splits a tie, and ordered by time as text.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

from onthedot.rules.instants import from_text, seconds_up, to_text
from onthedot.rules.timing import MAX_DELAY, OVERDUE, Timing

MOST_SHARDS = 256
GROUP_PARTITIONS = 4
"""Never changed: entries already written stay where they are."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A place on the agenda: the job's key and when the dispatcher must look at it."""

    wake: datetime
    schedule: str
    slot: str

    def __str__(self) -> str:
        return f"{to_text(self.wake)}#{self.schedule}#{self.slot}"

    @classmethod
    def parse(cls, text: str) -> "Entry":
        """Return the entry that `str` wrote; a schedule's key holds one `#` itself, a slot may too."""
        wake, kind, name, slot = text.split("#", 3)
        return cls(from_text(wake), f"{kind}#{name}", slot)


def shard_of(schedule: str, shards: int) -> str:
    """Return the shard of a partition key, the same on every machine and Python."""
    return str(int.from_bytes(sha256(schedule.encode()).digest()[:8]) % shards)


def shard_to_search(at: datetime, shards: int) -> str | None:
    """Return which shard beyond those that are set is searched in this minute: within hours each has its turn."""
    beyond = MOST_SHARDS - shards
    return str(shards + int(at.timestamp()) // 60 % beyond) if beyond else None


def group_partitions(group: str) -> list[str]:
    """Return the partitions over which a group's jobs are spread, since one takes only 1,000 writes a second.

    Source: docs.aws.amazon.com/amazondynamodb, throttling-key-range-limit-exceeded-mitigation (read 2026-11-29).
    """
    return [f"{group}#{number}" for number in range(GROUP_PARTITIONS)]


def group_partition(group: str, schedule: str, slot: str) -> str:
    """Return the partition of its group that a job is in."""
    return group_partitions(group)[int(shard_of(f"{schedule}#{slot}", GROUP_PARTITIONS))]


def is_near(run_at: datetime, now: datetime) -> bool:
    """Tell whether SQS can hold the job until it is due."""
    return run_at - now <= MAX_DELAY


def wake_at(run_at: datetime, now: datetime, timing: Timing) -> datetime:
    """Return when the dispatcher must look at a job that is written now.

    A near job is handed over at once by its writer, so its entry only watches over that hand-over; a far job's entry is
    what hands it over.
    """
    return max(run_at, now) + timing.recheck if is_near(run_at, now) else run_at


def delay_seconds(at: datetime, now: datetime) -> int:
    """Return SQS's `DelaySeconds` for a message that must not arrive before `at`: an integer, 0 to 900."""
    return min(seconds_up(at - now), seconds_up(MAX_DELAY))


def arrives_at(due: datetime, timing: Timing) -> datetime:
    """Return when the message of a job that is due then may arrive at the earliest; its worker waits for the rest."""
    return due - timing.worker_wait


def rest_of(entry: Entry, now: datetime, timing: Timing) -> timedelta:
    """Return how long a worker waits itself for the time of the job whose message it has: nothing, if that has come.

    A message says its job's wake, and not its time, which is RECHECK before where the writer has sent it, and the wake
    itself where drain has. Only one of them can be so near. What comes earlier than it was sent for is not waited for.
    """
    rests = (entry.wake - timing.recheck - now, entry.wake - now)
    return next((rest for rest in rests if timedelta(0) < rest <= timing.longest_wait), timedelta(0))


def horizon(now: datetime, timing: Timing) -> str:
    """Return how far drain reads: every entry up to here is handed over."""
    return to_text(now + timing.look_ahead)


def resume_after(watermark: str, now: datetime, timing: Timing) -> str:
    """Return the entry after which drain reads on.

    A watermark from the future was left by a fast clock. Believed, it would hide what is due until that future came, so
    drain goes back to where the sweep ends.
    """
    trusted = to_text(now + timing.look_ahead + 2 * timing.max_skew)
    return watermark if watermark <= trusted else overdue_until(now)


def overdue_until(now: datetime) -> str:
    """Return the bound of what the sweep sends again."""
    return to_text(now - OVERDUE)
