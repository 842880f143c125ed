"""How long an attempt may take and how many there are: the job's word, else its handler's, else the default."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from onthedot.rules.jobs import Job

DEFAULT_TIMEOUT = timedelta(seconds=60)
MOST_ATTEMPTS = 50
"""What a job or handler may ask for: SQS gives up on a message only after more receives than that."""
ATTEMPTS_MADE = 1
"""A failed attempt ends its job; retries are not made yet."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What governs the attempts of one job."""

    timeout: timedelta = DEFAULT_TIMEOUT
    max_attempts: int = ATTEMPTS_MADE


@dataclass(frozen=True, slots=True)
class Policies:
    """What governs the attempts of every job, from what the handlers say by name."""

    by_handler: Mapping[str, Policy] = field(default_factory=dict)

    def of(self, job: Job) -> Policy:
        """Return what governs this job."""
        policy = self.by_handler.get(job.handler, Policy())
        return policy if job.timeout is None else Policy(job.timeout, policy.max_attempts)

    @property
    def longest_timeout(self) -> timedelta:
        """The longest attempt of a job that says nothing; which handler it has is known only once it has started.

        A handler may say nothing either, so it is never shorter than the default.
        """
        return max([DEFAULT_TIMEOUT, *(policy.timeout for policy in self.by_handler.values())])
