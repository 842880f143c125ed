"""Fates: what becomes of a call to AWS, and of the process that makes it."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Any

from botocore.exceptions import EndpointConnectionError, ReadTimeoutError
from tests.faults.failing import throttled
from tests.support.worlds import Died

TRIES_SECONDS = 9
"""What the SDK takes to try three times."""


class Fate(StrEnum):
    """What becomes of one call."""

    DONE = "done"
    UNREACHABLE = "unreachable"  # nothing happens, and the caller knows
    THROTTLED = "throttled"  # the same, by AWS's own answer
    LOST = "lost"  # it takes effect, and the caller does not know
    REPEATED = "repeated"  # the answer is lost, and the SDK's second try meets the first one's effect
    DIES_BEFORE = "dies before"
    DIES_AFTER = "dies after"
    FREEZES_BEFORE = "freezes before"  # the process stands still for minutes, and wakes up late
    FREEZES_AFTER = "freezes after"


FAULTS = (Fate.UNREACHABLE, Fate.THROTTLED, Fate.LOST, Fate.REPEATED)
DEATHS = (Fate.DIES_BEFORE, Fate.DIES_AFTER)
FREEZES = (Fate.FREEZES_BEFORE, Fate.FREEZES_AFTER)


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

    def fate(self, chance: Random) -> Fate:
        """Return what becomes of a call."""
        drawn = chance.randrange(1000)
        for limit, fates in ((self.faults, FAULTS), (self.deaths, DEATHS), (self.freezes, FREEZES)):
            if drawn < limit:
                return chance.choice(fates)
            drawn -= limit
        return Fate.DONE


def suffer(fate: Fate, do: Callable[[], Any], take: Callable[[float], None], freeze: float) -> Any:
    """Do the call as its fate wills; `take` lets time pass for this process alone. Units: seconds."""
    match fate:
        case Fate.DONE:
            return do()
        case Fate.UNREACHABLE:
            take(TRIES_SECONDS)
            raise EndpointConnectionError(endpoint_url="https://aws")
        case Fate.THROTTLED:
            raise throttled()
        case Fate.LOST:
            _whatever(do)
            take(TRIES_SECONDS)
            raise ReadTimeoutError(endpoint_url="https://aws")
        case Fate.REPEATED:
            _whatever(do)
            take(TRIES_SECONDS / 3)
            return do()
        case Fate.DIES_BEFORE:
            raise Died
        case Fate.DIES_AFTER:
            _whatever(do)
            raise Died
        case Fate.FREEZES_BEFORE:
            take(freeze)
            return do()
        case Fate.FREEZES_AFTER:
            answer = do()
            take(freeze)
            return answer


def _whatever(do: Callable[[], Any]) -> None:
    """Do it; what AWS says of it is heard by nobody."""
    try:
        do()
    except Exception:
        return
