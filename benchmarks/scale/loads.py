"""What is asked of a deployment: jobs created, jobs due that were created long before, and slots of schedules."""

from collections.abc import Mapping
from dataclasses import dataclass, field

BEGINS, SLOTS_BEGIN = 300, 720
"""Units: seconds. Nothing is due before: drain and plan have had the time that they have always."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Jobs by the second: created for later, due on the agenda, and slots to plan.

    `request` are created by one request, `handler` has the seconds that a handler takes; the `herd` is due at one
    second, or within its `spread`.
    """

    name: str
    created: Mapping[int, float] = field(default_factory=dict)
    due: Mapping[int, float] = field(default_factory=dict)
    slots: Mapping[int, float] = field(default_factory=dict)
    handler: float = 0.1
    request: int = 500
    herd: int = 0
    spread: int = 1

    @property
    def last(self) -> int:
        """The last second in which something is created or due."""
        return max([0, *self.created, *self.due, *self.slots])


def rising(rate: float, rise: int = 300, stay: int = 300, request: int = 500) -> Load:
    """Return as many jobs created as due, the rate rising from nothing in so many seconds, then staying."""
    each = {BEGINS + second: rate * min(1, (second + 1) / rise) for second in range(rise + stay)}
    return Load(name=f"{rate:,.0f} jobs a second", created=each, due=each, request=request)


def herd(jobs: int, spread: int = 1) -> Load:
    """Return jobs that are all due at one second, or spread evenly over some."""
    due = {BEGINS + second: jobs / spread for second in range(spread)}
    return Load(name=f"{jobs:,} jobs due at one second", due=due, herd=jobs, spread=spread)


def schedules(count: int, hours: int, seconds: int = 600) -> Load:
    """Return a part of the slots of schedules, one each a day, spread evenly over some hours."""
    each = dict.fromkeys(range(SLOTS_BEGIN, SLOTS_BEGIN + seconds), count / hours / 3_600)
    return Load(name=f"{count:,} schedules, daily within {hours} h", slots=each)
