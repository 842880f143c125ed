"""The faults and errors that callers of the steps meet; their messages are written for the person who must act."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """How a request is wrong."""

    MALFORMED = "malformed"  # not the type, form or pattern that the contract names
    REFUSED = "refused"  # well-formed, and against a rule
    TOO_LARGE = "too_large"  # more bytes than are kept


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with a request; `field` is its path in the body, such as `jobs.3.delay`."""

    field: str
    message: str
    kind: Kind = Kind.REFUSED


class OnthedotError(Exception):
    """The base of every error that is ours."""


class Invalid(OnthedotError):
    """The request is wrong; `faults` names everything that is."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("; ".join(f"{fault.field}: {fault.message}" for fault in faults))
        self.faults = tuple(faults)


class Unavailable(OnthedotError):
    """AWS throttled or did not answer in time; the same call may succeed later."""


class Throttled(Unavailable):
    """AWS refused the call because there were too many."""
