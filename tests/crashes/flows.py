"""What a flow is. The flows themselves are beside this, by what they are about."""

from dataclasses import dataclass
from datetime import timedelta

from tests.crashes.doing import Doing, Wants

LATEST = timedelta(minutes=10)
"""What one fault may cost: the recheck and a tick, or a dead worker's lease and its message's visibility."""


@dataclass(frozen=True, slots=True)
class Flow:
    """What is done under faults, what is done before, and what it must have come to when life has gone on.

    `row` is its line in the table of the steps' calls; `refusals` are what a client may be told who asks again for what
    is done, `strays` the messages that nobody can act on. Units: `hours` of life after it; `latest` is how late a fault
    may make a job.
    """

    name: str
    act: Doing
    wants: Wants
    before: Doing = lambda _: None
    row: str | None = None
    hours: float = 2
    latest: timedelta = LATEST
    refusals: frozenset[int] = frozenset()
    strays: frozenset[str] = frozenset()
