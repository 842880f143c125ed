"""Schedules that go by elapsed time: slots at `anchor + n * every`, so they never drift, and a day is 24 hours."""

from collections.abc import Iterator
from dataclasses import dataclass

from onthedot.rules.inputs import Refused

LEAST = 60_000
"""Units: milliseconds."""
MOST = 10 * 366 * 86_400_000
"""Units: milliseconds. No time may be more than ten years ahead, so a longer rhythm has one slot at most."""


@dataclass(frozen=True, slots=True)
class Every:
    """A rhythm from an instant on. Units: milliseconds, of UTC."""

    every: int
    anchor: int

    def instants(self, after: int) -> Iterator[int]:
        """Return the slots after an instant, without end. Order: by time."""
        slot = self.anchor + max(0, (after - self.anchor) // self.every + 1) * self.every
        while True:
            yield slot
            slot += self.every


def read_every(every: int, anchor: int) -> Every:
    """Return a rhythm. Units: milliseconds.

    Raises: Refused.
    """
    if every < LEAST:
        raise Refused(f"is under {LEAST // 1000} seconds")
    if every > MOST:
        raise Refused("is more than ten years")
    return Every(every, anchor)
