"""The partitions of the agenda's index: each takes 1,000 writes a second for all shards that lie in it.

DynamoDB places a shard by a hash that is not known; here it is another one. A partition that is too busy for long is
split, until a shard has one of its own; more than that no shard can have, since its entries come in order of time.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import md5

from benchmarks.scale.limits import PARTITION

SPLIT_AFTER = 300
"""Units: seconds for which a partition is too busy before it is split. Assumed: AWS names no time."""


@dataclass(slots=True)
class Crowd:
    """All partitions that hold the same number of shards: they fare alike."""

    partitions: int
    busy: int = 0
    waiting: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))


class Partitions:
    """How many shards lie together, and what waits to be written there."""

    def __init__(self, shards: int, crowds: Mapping[int, int]) -> None:
        self.shards = shards
        self.crowds = {size: Crowd(partitions) for size, partitions in crowds.items()}

    def add(self, kind: str, writes: float) -> None:
        """Let writes wait, the same for each shard."""
        for size, crowd in self.crowds.items():
            crowd.waiting[kind] += writes * size * crowd.partitions / self.shards

    def waiting(self, kind: str) -> float:
        """Return how many writes wait."""
        return sum(crowd.waiting[kind] for crowd in self.crowds.values())

    def write(self, share: float) -> Mapping[str, float]:
        """Write what the partitions take in a second, of this share that the table takes; return how many by kind."""
        written = defaultdict[str, float](float)
        for crowd in self.crowds.values():
            wanted = sum(crowd.waiting.values()) * share
            fits = min(1.0, PARTITION * crowd.partitions / wanted) if wanted else 1.0
            crowd.busy = crowd.busy + 1 if fits < 1 else 0
            for kind, writes in crowd.waiting.items():
                written[kind] += writes * share * fits
                crowd.waiting[kind] = writes * (1 - share * fits)
        self._split()
        return written

    def use(self) -> float:
        """Return which part of its limit the busiest partition takes."""
        wanted = max(sum(each.waiting.values()) / each.partitions for each in self.crowds.values())
        return min(1.0, wanted / PARTITION)

    def _split(self) -> None:
        for size in [size for size, crowd in self.crowds.items() if crowd.busy >= SPLIT_AFTER and size > 1]:
            crowd = self.crowds.pop(size)
            for half in (size // 2, size - size // 2):
                there = self.crowds.setdefault(half, Crowd(0))
                there.partitions += crowd.partitions
                for kind, writes in crowd.waiting.items():
                    there.waiting[kind] += writes * half / size


def alone(shards: int) -> Mapping[int, int]:
    """Return how many partitions hold how many shards, when each has its own."""
    return {1: shards}


def by_hash(shards: int, writes: int) -> Mapping[int, int]:
    """Return how many partitions hold how many shards in an index that is warm for so many write units."""
    count = max(1, writes // PARTITION)
    return Counter(Counter(_partition(str(shard), count) for shard in range(shards)).values())


def _partition(shard: str, count: int) -> int:
    return int(md5(shard.encode(), usedforsecurity=False).hexdigest(), 16) * count >> 128
