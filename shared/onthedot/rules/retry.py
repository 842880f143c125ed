"""How long a job waits for its next attempt: exponential backoff with full jitter, or as long as its handler says.

Full jitter spreads what failed together over the whole wait, so that it does not come back together.
Source: aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter (read 2026-11-29).
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from math import log

from onthedot.rules.instants import MILLISECOND

LONGEST_WAIT = timedelta(days=3660)
"""What a handler may ask for; as far ahead as a job may be created."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """A growing wait. Units: `first` and `max` in seconds."""

    first: float = 10
    factor: float = 2
    max: float = 3600

    def longest(self, attempt: int) -> float:
        """Return the longest wait after this attempt, counted from 1. Units: seconds.

        The exponent is bounded before it is used: a power overflows long before any cap on it would help.
        """
        if self.first >= self.max or (attempt - 1) * log(self.factor) >= log(self.max / self.first):
            return self.max
        return min(self.max, self.first * self.factor ** (attempt - 1))

    def wait(self, attempt: int, chance: float) -> timedelta:
        """Return the wait after this attempt, where `chance` is in `[0, 1)`."""
        return self.longest(attempt) * chance * 1000 // 1 * MILLISECOND


def next_at(now: datetime, wait: timedelta) -> datetime:
    """Return when the next attempt may start, at most so far ahead."""
    return now + max(timedelta(0), min(wait, LONGEST_WAIT))
