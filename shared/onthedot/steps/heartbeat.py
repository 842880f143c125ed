"""Heartbeat: a running attempt says that it goes on, and is told whether it may.

Its lease and the hold on its message are extended together, by one conditional write that also shows a wish to stop.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from onthedot.rules.errors import Unavailable
from onthedot.rules.instants import seconds_up
from onthedot.rules.jobs import Job
from onthedot.steps.ports import World
from onthedot.steps.start import Attempt, rest_of_lease

Hold = Callable[[int], None]
"""Hides the message for so many seconds; it is not acknowledged."""


class Beat(StrEnum):
    """What an attempt is told at a heartbeat."""

    GO_ON = "go on"  # the lease is extended
    UNHEARD = "AWS gave no answer"  # the lease is as it was
    STOP = "somebody asked for it"  # no further attempt will be made
    LOST = "the job is no longer this attempt's"  # nothing that this one does counts any more


@dataclass(slots=True)
class Pulse:
    """The heartbeats of one attempt, which has a longer lease after each."""

    world: World
    attempt: Attempt
    hold: Hold

    def __call__(self, deadline: datetime) -> Beat:
        """Extend the lease for an attempt that goes on until this deadline."""
        job = self.attempt.job
        longer = replace(job, lease_until=deadline + self.world.timing.margin)
        try:
            written = self.world.jobs.change(job, longer)
        except Unavailable:
            return Beat.UNHEARD
        if not written.won:
            return self._refused(deadline, written.job)
        self.attempt = replace(self.attempt, job=longer)
        self.hold(seconds_up(rest_of_lease(self.world, longer)))
        return Beat.GO_ON

    def _refused(self, deadline: datetime, there: Job | None) -> Beat:
        """Return why; one that met another heartbeat, such as one whose answer was lost, goes on from there."""
        if there is None or there.lease_until is None or not there.is_attempt_of(self.attempt.job.owner):
            return Beat.LOST
        if there.stop:
            return Beat.STOP
        self.attempt = replace(self.attempt, job=there)
        return self(max(deadline, there.lease_until - self.world.timing.margin))
