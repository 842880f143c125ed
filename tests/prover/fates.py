"""Fates: what becomes of the calls to AWS, and of the processes that make them."""

from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Any

from tests.crashes.faults import Call, Kind, Pass, befall, befalls


class Freeze(StrEnum):
    """A process stands still for minutes, and wakes up late."""

    BEFORE = "freezes before"
    AFTER = "freezes after"


Fate = Kind | Freeze
DEATHS = (Kind.DIES_BEFORE, Kind.DIES_AFTER)
FAULTS = tuple(kind for kind in Kind if kind not in {*DEATHS, Kind.CUT_OFF})
FREEZE_SECONDS = 20, 240


@dataclass(frozen=True, slots=True)
class Weather:
    """How often things go wrong, as chances of each call in a thousand; the seed decides which ones.

    With `calm_workers` nothing happens to them, so that what is late is so for another reason.
    Units: seconds of `lag`, by which indexes may be behind, and of `skew`, by which clocks may be ahead or behind.
    """

    seed: int
    faults: int = 0
    deaths: int = 0
    freezes: int = 0
    lag: int = 0
    skew: int = 2
    calm_workers: bool = False

    def fate(self, chance: Random, operation: str) -> Fate | None:
        """Return what becomes of a call; most of the time nothing does."""
        drawn = chance.randrange(1000)
        if drawn < self.faults:
            return chance.choice([kind for kind in FAULTS if befalls(kind, operation)])
        if drawn < self.faults + self.deaths:
            return chance.choice(DEATHS)
        return chance.choice(list(Freeze)) if drawn < self.faults + self.deaths + self.freezes else None


def suffer(fate: Fate | None, call: Call, take: Pass, chance: Random) -> Any:
    """Make the call as its fate wills; `take` lets time pass for its process alone."""
    match fate:
        case None:
            return call()
        case Kind():
            return befall(fate, call, take)
        case Freeze.BEFORE:
            take(chance.uniform(*FREEZE_SECONDS))
            return call()
        case Freeze.AFTER:
            answer = call()
            take(chance.uniform(*FREEZE_SECONDS))
            return answer
