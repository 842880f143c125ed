"""AWS's clients and errors, in one place: one Config for every client, and one translation of what they raise.

The tries must fit into the margin of a lease: one stuck socket must not outlive it (aws-traps 13).
"""

from collections.abc import Callable
from typing import Any, Final, TypeVar

from botocore.config import Config
from botocore.exceptions import ClientError, HTTPClientError
from botocore.exceptions import ConnectionError as BotoConnectionError

from onthedot.rules.errors import Throttled, Unavailable
from onthedot.steps.ports import Clock

T = TypeVar("T")

CONNECT_SECONDS: Final = 1
READ_SECONDS: Final = 3
TRIES: Final = 3
CONNECTIONS: Final = 32
RETRIES: Final[Any] = {"mode": "standard", "total_max_attempts": TRIES}
CONFIG: Final = Config(
    connect_timeout=CONNECT_SECONDS,
    read_timeout=READ_SECONDS,
    retries=RETRIES,
    tcp_keepalive=True,
    max_pool_connections=CONNECTIONS,
    parameter_validation=False,
)
"""Of every client that our code alone calls: the types are known, and to look at them again is a third of a call's CPU.

Tests call with validation.
"""
CHECKED: Final = CONFIG.merge(Config(parameter_validation=True))
"""Of clients that are called with what users say."""

CONFLICTS_BORNE: Final = 8
"""A transaction holds an item for some milliseconds; a plain write meets it with a refusal that no SDK retries."""

THROTTLES = frozenset(
    {
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "ThrottlingException",
        "TooManyRequestsException",
    }
)
OUTAGES = frozenset(
    {
        "InternalFailure",
        "InternalServerError",
        "RequestTimeout",
        "ServiceUnavailable",
        "ServiceUnavailableException",
        *map(str, range(500, 600)),  # what botocore calls an answer without a body, such as a proxy's
    }
)


def call(clock: Clock, operation: Callable[[], T]) -> T:
    """Return what the operation returns; bear transaction conflicts, and turn AWS's errors into ours.

    Raises: Throttled, Unavailable; what is neither passes as it is.
    """
    for _ in range(CONFLICTS_BORNE):
        try:
            return operation()
        except ClientError as error:
            if code_of(error) != "TransactionConflictException":
                ours = translated(error)
                raise ours from (error if ours is not error else error.__cause__)
        except (BotoConnectionError, HTTPClientError) as error:
            raise Unavailable(f"AWS did not answer: {error}") from error
        clock.pause()
    raise Unavailable("a transaction holds the item; try again")


def code_of(error: Exception) -> str:
    """Return AWS's name of an error, empty when it has none."""
    if isinstance(error, ClientError):
        return str(error.response.get("Error", {}).get("Code", ""))
    return ""


def translated(error: Exception) -> Exception:
    """Return our error for one of AWS's, or the error itself when it is not about load or outage."""
    code = code_of(error)
    if code in THROTTLES:
        return Throttled(f"AWS refused the call for too many: {code}")
    if code in OUTAGES:
        return Unavailable(f"AWS did not answer: {code}")
    return error
