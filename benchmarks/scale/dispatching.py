"""Dispatchers: each tick asks for a look at every shard; a look drains, plans, and ends when its time is up."""

from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.scale.deployment import Deployment, Speeds
from benchmarks.scale.limits import OF_SLOT
from onthedot.rules.planning import PLAN_AHEAD
from onthedot.rules.timing import TICK, Timing

LOOK_AHEAD = int(Timing().look_ahead.total_seconds())
AHEAD = int(PLAN_AHEAD.total_seconds())
MINUTE = int(TICK.total_seconds())
TINY = 1e-9
Amounts = defaultdict[int, float]


@dataclass(slots=True)
class Line:
    """What one shard has to hand over, in order of time, and how far that got."""

    jobs: list[float]
    reached: int = 0
    within: float = 0

    def take(self, until: int, most: float) -> list[tuple[int, float]]:
        """Return up to `most` of what is due until then, by the second."""
        taken = []
        while self.reached <= min(until, len(self.jobs) - 1) and most > TINY:
            jobs = min(most, self.jobs[self.reached] - self.within)
            if jobs > 0:
                taken.append((self.reached, jobs))
            most, self.within = most - jobs, self.within + jobs
            if self.within >= self.jobs[self.reached] - TINY:
                self.reached, self.within = self.reached + 1, 0
        return taken


@dataclass(slots=True)
class Look:
    """A dispatcher at a shard, and for how long."""

    shard: int
    used: float = 0


class Dispatching:
    """All shards, the queue of those to look at, and the dispatchers."""

    def __init__(
        self, due: Mapping[int, float], slots: Mapping[int, float], deployment: Deployment, speeds: Speeds
    ) -> None:
        self.speeds, self.shards = speeds, deployment.shards
        self.plans_each, self.plans_left = deployment.schedule_writes / OF_SLOT, 0.0
        self.drains = [Line(_by_second(due, self.shards)) for _ in range(self.shards)]
        self.plans = [Line(_by_second(slots, self.shards)) for _ in range(self.shards)]
        self.longest = Timing().look_time(self.shards, deployment.dispatchers).total_seconds()
        self.asked: deque[int] = deque()
        self.looks: list[Look | None] = [None] * deployment.dispatchers
        self.busy: deque[float] = deque(maxlen=2 * MINUTE)

    def second(self, now: int) -> tuple[Mapping[int, float], Mapping[int, float], float]:
        """Let a second pass; return what was handed over and planned, by when it is due, and dispatchers at work."""
        if now % MINUTE == _fires(now // MINUTE):
            there = {*self.asked, *(look.shard for look in self.looks if look)}
            self.asked.extend(shard for shard in range(self.shards) if shard not in there)
        self.plans_left = self.plans_each
        handed, planned = defaultdict[int, float](float), defaultdict[int, float](float)
        at_work = sum(1 - self._work(number, now, handed, planned) for number in range(len(self.looks)))
        self.busy.append(at_work)
        return handed, planned, at_work

    def use(self) -> float:
        """Return which part of the dispatchers' time was used, over two minutes: so far apart ticks may be."""
        return sum(self.busy) / 2 / MINUTE / len(self.looks)

    def _work(self, number: int, now: int, handed: Amounts, planned: Amounts) -> float:
        """Let a dispatcher work for a second, on one shard after the other; return what it did not need of it."""
        left = 1.0
        while left > 0 and (self.looks[number] or self.asked):
            look, before = self.looks[number], left
            if look is None:
                look = Look(self.asked.popleft())
                left -= self.speeds.look
            left = self._look(look.shard, now, left, handed, planned)
            look.used += before - left
            over = look.used >= self.longest
            self.looks[number] = None if over or left > 0 else look
            if over:
                self.asked.append(look.shard)
        return max(0.0, left)

    def _look(self, shard: int, now: int, left: float, handed: Amounts, planned: Amounts) -> float:
        """Drain, then plan with the time left; return what is left of it then, none when the look goes on."""
        for second, jobs in self.drains[shard].take(now + LOOK_AHEAD, left / self.speeds.hand_over):
            handed[second] += jobs
            left -= jobs * self.speeds.hand_over
        for second, jobs in self.plans[shard].take(now + AHEAD, min(left / self.speeds.plan, self.plans_left)):
            planned[second] += jobs
            left -= jobs * self.speeds.plan
            self.plans_left -= jobs
        return left if left > TINY and self.plans_left > TINY else 0.0


def _by_second(jobs: Mapping[int, float], shards: int) -> list[float]:
    return [jobs.get(second, 0) / shards for second in range(max(jobs, default=-1) + 1)]


def _fires(minute: int) -> int:
    """Return the second of its minute in which the timer fires: anywhere, but the same in each run."""
    return minute * 37 % MINUTE
