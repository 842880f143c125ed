"""Histories: what clients ask for and what befalls the deployment, as data that prints, shrinks and replays."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from hypothesis import strategies as st
from tests.prover.fates import Weather


class Verb(StrEnum):
    """What happens next; `which` and `value` say to whom, and how much."""

    CREATE = "create"  # a job, in so many seconds, that fails so often
    BATCH = "batch"  # three jobs in one request
    CANCEL = "cancel"
    STOP = "stop"
    RESCHEDULE = "reschedule"
    RETRY = "retry"
    PUT = "put"  # a schedule, new or another version
    PAUSE = "pause"
    RESUME = "resume"
    DELETE = "delete"
    TRIGGER = "trigger"
    OFF = "off"  # a part of the system, for some minutes
    PURGE = "purge"  # the job queue loses every message
    DUPLICATE = "duplicate"  # a message comes once more, now or late
    GROW = "grow"  # the shards become more
    REZONE = "rezone"  # another time zone database


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that happens, so many seconds after the one before."""

    after: int
    verb: Verb
    which: int
    value: int


@dataclass(frozen=True, slots=True)
class History:
    """A life: the weather, and what happens in it."""

    weather: Weather
    steps: tuple[Step, ...]


def off_for(value: int) -> timedelta:
    """Return how long a part is off."""
    return timedelta(minutes=1 + 2 * value)


OFTEN = [Verb.CREATE, Verb.CREATE, Verb.CREATE, Verb.PUT, Verb.PUT]
WEATHERS = st.builds(
    Weather,
    seed=st.integers(0, 2**32),
    faults=st.sampled_from([0, 5, 20, 60]),
    deaths=st.sampled_from([0, 5, 20, 40]),
    freezes=st.sampled_from([0, 0, 5, 20]),
    lag=st.sampled_from([0, 5, 50]),
    skew=st.sampled_from([0, 2, 30]),
    calm_workers=st.booleans(),
)


def histories(most: int, gaps: list[int]) -> st.SearchStrategy[History]:
    """Return lives of at most so many steps, with these gaps between them. Units: seconds."""
    verbs = st.sampled_from([*OFTEN, *Verb])
    steps = st.builds(Step, st.sampled_from(gaps), verbs, st.integers(0, 5), st.integers(0, 7))
    return st.builds(History, WEATHERS, st.lists(steps, min_size=2, max_size=most).map(tuple))


SHORT = histories(6, [0, 1, 7, 30, 61])
LONG = histories(14, [0, 1, 7, 30, 61, 150, 290])
