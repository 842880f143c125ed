"""What governs the attempts of a job: its own word (or its schedule's), else its handler's, else the default."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta

from onthedot.rules.jobs import Job, Retry
from onthedot.rules.retry import Backoff

DEFAULT_TIMEOUT = timedelta(seconds=60)
DEFAULT_ATTEMPTS = 5
MOST_ATTEMPTS = 50
"""What a job or handler may ask for: SQS gives up on a message only after more receives than that."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What governs the attempts of one job."""

    timeout: timedelta = DEFAULT_TIMEOUT
    max_attempts: int = DEFAULT_ATTEMPTS
    backoff: Backoff = field(default_factory=Backoff)

    def said(self, timeout: timedelta | None, retry: Retry) -> "Policy":
        """Return the policy with what somebody says who goes before it."""
        said = {name: value for name, value in asdict(retry).items() if value is not None}
        max_attempts = said.pop("max_attempts", self.max_attempts)
        return Policy(timeout or self.timeout, max_attempts, replace(self.backoff, **said))


@dataclass(frozen=True, slots=True)
class Policies:
    """What governs the attempts of every job, from what the handlers say by name."""

    by_handler: Mapping[str, Policy] = field(default_factory=dict)

    def of(self, job: Job) -> Policy:
        """Return what governs this job."""
        return self.by_handler.get(job.handler, Policy()).said(job.timeout, job.retry or Retry())

    @property
    def longest_timeout(self) -> timedelta:
        """The longest attempt of a job that says nothing; which handler it has is known only once it has started.

        A handler may say nothing either, so it is never shorter than the default.
        """
        return max([DEFAULT_TIMEOUT, *(policy.timeout for policy in self.by_handler.values())])
