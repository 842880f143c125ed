"""Heartbeat: a running attempt says until when it goes on, and is told whether it may.

Its lease and the hold on its message are extended together, by one conditional write that also shows a wish to stop.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from onthedot.rules.errors import Unavailable
from onthedot.rules.instants import seconds_up
from onthedot.rules.jobs import Job
from onthedot.steps.ports import World
from onthedot.steps.start import Attempt, rest_of_lease

WORTH_A_WRITE = timedelta(seconds=10)
"""What a dead worker's job must wait less, for another write unit at its start."""

Hold = Callable[[int], None]
"""Hides the message for so many seconds; it is not acknowledged."""


class Beat(StrEnum):
    """What an attempt is told at a heartbeat."""

    GO_ON = "go on"  # the lease lasts until then
    UNHEARD = "AWS gave no answer"  # the lease is as it was
    STOP = "somebody asked for it"  # no further attempt will be made
    LOST = "the job is no longer this attempt's"  # nothing that this one does counts any more


@dataclass(slots=True)
class Pulse:
    """The heartbeats of one attempt, which has another lease after each."""

    world: World
    attempt: Attempt
    hold: Hold

    def __call__(self, deadline: datetime) -> Beat:
        """Have the lease last for an attempt that goes on until this deadline."""
        job = self.attempt.job
        held = replace(job, lease_until=deadline + self.world.timing.margin)
        try:
            written = self.world.jobs.change(job, held)
        except Unavailable:
            return Beat.UNHEARD
        if not written.won:
            return self._refused(deadline, written.job)
        self.attempt = replace(self.attempt, job=held)
        self.hold(seconds_up(rest_of_lease(self.world, held)))
        return Beat.GO_ON

    def begin(self) -> None:
        """Hide the message for the lease. One that is much longer than its handler needs is cut to that first.

        A start knows its job's word on the timeout, not its handler's, so it takes the longest that any handler needs.
        """
        attempt, margin = self.attempt, self.world.timing.margin
        ends_at = attempt.begun_at + attempt.policy.timeout
        assert attempt.job.lease_until is not None, f"{attempt.job.id} runs without a lease"
        is_long = attempt.job.lease_until - margin - ends_at > WORTH_A_WRITE
        if not is_long or self(ends_at) is not Beat.GO_ON:
            self.hold(seconds_up(rest_of_lease(self.world, self.attempt.job)))

    def _refused(self, deadline: datetime, there: Job | None) -> Beat:
        """Return why; one that met another heartbeat, such as one whose answer was lost, goes on from there."""
        if there is None or there.lease_until is None or not there.is_attempt_of(self.attempt.job.owner):
            return Beat.LOST
        if there.stop:
            return Beat.STOP
        self.attempt = replace(self.attempt, job=there)
        return self(max(deadline, there.lease_until - self.world.timing.margin))
