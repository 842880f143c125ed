"""The spans on which the protocol rests, and the two inequalities that keep it whole.

    created      run_at                              wake = run_at + RECHECK
       |-----------|------------------------------------|
                          LOOKAHEAD before it, drain reads this far ->|

An entry of a near job lies RECHECK ahead of the clock that wrote it. Drain reads only LOOKAHEAD ahead, so the entry is
in the index before any watermark passes it, even when the write and the index are slow and clocks differ.
"""

from dataclasses import dataclass
from datetime import timedelta

TICK = timedelta(seconds=60)
HOPS = timedelta(seconds=20)  # from the timer to the query: two queues and two cold starts
WRITE = timedelta(seconds=20)  # a put gives up after this
INDEX_LAG = timedelta(seconds=60)
SWEEP_EVERY = timedelta(hours=1)
OVERDUE = timedelta(minutes=15)  # the sweep sends again what should have been looked at this long ago
MOST_WORKER_WAIT = timedelta(seconds=2)
CLOCKS_APART = timedelta(milliseconds=250)  # by so much too early, a message is still waited for where workers wait
MAX_DELAY = timedelta(minutes=15)
"""Source: DelaySeconds is 0 to 900 (botocore sqs model, SendMessage; read 2026-11-29)."""


LONGEST_LOOK = timedelta(seconds=40)  # of the 50 s of its function, and of the 55 s of its lease
SHORTEST_LOOK = timedelta(seconds=2)  # below it, taking the lease and asking again would be most of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """The spans that a deployment may set.

    Raises: ValueError when an entry could land behind the watermark, where only the hourly sweep would see it.
    """

    look_ahead: timedelta = timedelta(seconds=200)
    recheck: timedelta = timedelta(seconds=300)
    margin: timedelta = timedelta(seconds=15)
    max_skew: timedelta = timedelta(seconds=2)
    retention: timedelta = timedelta(days=30)
    worker_timeout: timedelta = timedelta(seconds=120)
    worker_wait: timedelta = timedelta(0)

    def __post_init__(self) -> None:
        least = 3 * TICK + HOPS
        if self.look_ahead < least:
            raise ValueError(f"look_ahead is {self.look_ahead}; three ticks and their hops need {least}")
        least = self.least_recheck
        if self.recheck < least:
            raise ValueError(f"recheck is {self.recheck}; with this look_ahead and max_skew it needs {least}")
        if self.retention < timedelta(days=1):
            raise ValueError(f"retention is {self.retention}; what became of a job is kept for a day at least")
        if self.max_timeout < timedelta(seconds=1):
            raise ValueError(f"worker_timeout is {self.worker_timeout}; it must hold two margins of {self.margin}")
        if not timedelta(0) <= self.worker_wait <= MOST_WORKER_WAIT:
            raise ValueError(f"worker_wait is {self.worker_wait}; a worker waits for {MOST_WORKER_WAIT} at most")

    @property
    def least_recheck(self) -> timedelta:
        """How far ahead an entry must lie when its write begins, for no watermark to pass it before it is seen."""
        return self.look_ahead + 2 * self.max_skew + WRITE + INDEX_LAG

    def look_time(self, shards: int, dispatchers: int) -> timedelta:
        """Return how long a look may begin another page: so long that each shard has its turn in time.

        When all shards have long work, such as days to catch up with, as many of them as there are dispatchers are
        looked at, and the others wait with what is live in them. Of more than 40 shards for each dispatcher not all
        have their turn in time then, however short the looks are.
        """
        return max(SHORTEST_LOOK, min(LONGEST_LOOK, (self.look_ahead - 2 * TICK) * dispatchers / shards))

    @property
    def max_timeout(self) -> timedelta:
        """The longest attempt that a fresh invocation can hold, with a margin to start in and one to finish in."""
        return self.worker_timeout - 2 * self.margin

    @property
    def longest_wait(self) -> timedelta:
        """How long a worker may wait for the time of a job whose message it has; not at all where none is to wait."""
        return self.worker_wait + CLOCKS_APART if self.worker_wait else timedelta(0)

    @property
    def time_to_start(self) -> timedelta:
        """How long a start may take until its handler is called: what a wait before it leaves of the margin.

        So an attempt has its whole timeout, however long its worker has waited.
        """
        return self.margin - self.longest_wait
