"""Which of AWS's resources jobs may reach: those that the template's AllowedTargetArns names.

The worker's role says the same; asked here first, a job that may not is told so, and dead at once. As in IAM, `*` and
`?` stand for any characters of one part of an ARN.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from onthedot.handler import Discard
from onthedot.outgoing.fields import Check

PARTS = 6
"""arn, partition, service, region, account, resource; only the last may hold further colons."""


@dataclass(frozen=True, slots=True)
class Arn:
    """A resource of AWS."""

    service: str
    region: str
    account: str
    resource: str


@dataclass(frozen=True, slots=True)
class Targets:
    """Whom jobs may reach. Shape: `client` returns one of a service in a region."""

    allowed: tuple[str, ...]
    client: Callable[[str, str], Any]

    def reach(self, text: str) -> tuple[Any, Arn]:
        """Return a client for the resource, in its own region, and the resource's parts.

        Raises: Discard when it may not be reached.
        """
        if fault := self._refusal(text):
            raise Discard(f"arn: {fault}")
        arn = parts(text)
        return self.client(arn.service, arn.region), arn

    def allow(self, is_arn: Check) -> Check:
        """Return the check that a value is such an ARN, and one that may be reached: so it hides no other fault."""
        return lambda value: is_arn(value) or self._refusal(value)

    def _refusal(self, text: str) -> str | None:
        is_allowed = any(matches(text, pattern) for pattern in self.allowed)
        return None if is_allowed else "is not among those that the template's AllowedTargetArns allows"


def is_arn(service: str, resource: str, example: str) -> Check:
    """Return the check that a value is the ARN of such a resource, a pattern, of this service."""
    whole = re.compile(rf"arn:aws[a-z-]*:{service}:[a-z0-9-]+:[0-9]{{12}}:{resource}")
    such = f"arn:aws:{service}:eu-west-1:111122223333:{example}"

    def check(value: Any) -> str | None:
        return None if isinstance(value, str) and whole.fullmatch(value) else f"must be an ARN such as {such}"

    return check


def matches(text: str, pattern: str) -> bool:
    """Tell whether an ARN is one that a pattern means, part by part: no `*` reaches over a colon to another account."""
    said, meant = text.split(":", PARTS - 1), pattern.split(":", PARTS - 1)
    return len(said) == len(meant) == PARTS and all(
        fnmatchcase(one, other.replace("[", "[[]")) for one, other in zip(said, meant, strict=True)
    )


def parts(text: str) -> Arn:
    """Return the parts of an ARN that was checked."""
    _, _, service, region, account, resource = text.split(":", PARTS - 1)
    return Arn(service, region, account, resource)
