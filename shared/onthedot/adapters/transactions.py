"""Transactions: many writes or none. Why one was cancelled is told for each of its writes (aws-traps 2).

Only a write whose own condition failed has lost. A conflict or a throttle tells nothing of it, and no SDK repeats a
cancelled transaction, so that is done here.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from onthedot.adapters.aws import CONFLICTS_BORNE, call, code_of
from onthedot.rules.errors import Throttled, Unavailable
from onthedot.steps.ports import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

MOST = 100
"""Source: TransactWriteItems takes 100 actions (botocore dynamodb model; read 2026-11-29)."""
CANCELLED = "TransactionCanceledException"
LOST = "ConditionalCheckFailed"
IN_PROGRESS = "TransactionInProgressException"
"""A repeated call meets itself: AWS is still at the first one, whose answer came too late."""
PASSING = {
    "ProvisionedThroughputExceeded": Throttled,
    "ThrottlingError": Throttled,
    "TransactionConflict": Unavailable,
    IN_PROGRESS: Unavailable,
}
"""What may be otherwise in a moment, and what it is called when it is not."""


def transact(client: "DynamoDBClient", clock: Clock, writes: Sequence[Any], token: str) -> frozenset[int]:
    """Do all writes or none; return the numbers of those whose condition failed, none when all is done.

    `token` names this very set of writes: AWS does not do them again when the call is repeated.
    Raises: Throttled, Unavailable.
    """
    for _ in range(CONFLICTS_BORNE):
        try:
            call(clock, lambda: client.transact_write_items(TransactItems=list(writes), ClientRequestToken=token))
        except ClientError as error:
            reasons = _reasons(error)
            lost = frozenset(number for number, reason in enumerate(reasons) if reason == LOST)
            if lost:
                return lost
            failed = _passing(error, reasons)
        else:
            return frozenset()
        clock.pause()
    raise failed


def _reasons(error: ClientError) -> list[str]:
    if code_of(error) == IN_PROGRESS:
        return [IN_PROGRESS]
    if code_of(error) != CANCELLED:
        raise error
    response: Any = error.response
    return [str(reason.get("Code") or "None") for reason in response.get("CancellationReasons", [])]


def _passing(error: ClientError, reasons: Sequence[str]) -> Unavailable:
    """Return our error for reasons that pass; one that does not, or that nobody knows, is raised."""
    given = {reason for reason in reasons if reason != "None"}
    if not given or not given <= PASSING.keys():
        raise error
    return PASSING[min(given)](f"a transaction was not done: {', '.join(sorted(given))}")
