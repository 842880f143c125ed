"""What may befall one call to AWS, below all clients alike.

Each kind takes the time that the SDK's tries take, so that deadlines and leases run on meanwhile.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from botocore.client import BaseClient
from botocore.exceptions import ClientError, EndpointConnectionError, ReadTimeoutError
from tests.faults.failing import cancelled, refused, throttled
from tests.support.worlds import Died

from onthedot.adapters.aws import CONNECT_SECONDS, READ_SECONDS, TRIES
from onthedot.adapters.transactions import IN_PROGRESS

BATCHES = ("SendMessageBatch", "BatchGetItem")
WRITES = ("PutItem", "UpdateItem", "DeleteItem")
TRANSACTION = "TransactWriteItems"
NOWHERE = "https://aws.invalid"
THROTTLED_SECONDS = 1


class Kind(StrEnum):
    """What befalls a call, or the process that makes it."""

    UNREACHED = "unreached"  # no try got through: it had no effect
    UNANSWERED = "unanswered"  # it had its effect, and no try got an answer
    REPEATED = "repeated"  # its first answer is lost, and the SDK's next try meets what the first has done
    THROTTLED = "throttled"  # refused as one too many
    IN_THE_WAY = "in the way"  # a transaction holds what it writes, or a first try of its own that is still at work
    IN_PART = "in part"  # answered, but for some of its entries
    CUT_OFF = "cut off"  # unreached, and so is all that its process calls from then on
    DIES_BEFORE = "dies before"  # its process ends
    DIES_AFTER = "dies after"  # its process ends when it had its effect


@dataclass(frozen=True, slots=True)
class Call:
    """One call to AWS, and how it is made."""

    operation: str
    arguments: dict[str, Any]
    made: Callable[[BaseClient, str, dict[str, Any]], Any]
    client: BaseClient

    def __call__(self) -> Any:
        """Have it take effect, and return the answer."""
        return self.made(self.client, self.operation, self.arguments)


Pass = Callable[[float], None]
"""Lets so many seconds pass."""


def befalls(kind: Kind, operation: str) -> bool:
    """Tell whether this can befall an operation at all."""
    match kind:
        case Kind.IN_THE_WAY:
            return operation in {*WRITES, TRANSACTION}
        case Kind.IN_PART:
            return operation in BATCHES
        case _:
            return True


def befall(kind: Kind, call: Call, take: Pass) -> Any:
    """Make a call that this befalls; return its answer, or raise what its caller meets."""
    match kind:
        case Kind.UNREACHED | Kind.CUT_OFF:
            raise unreached(take)
        case Kind.UNANSWERED:
            _unheard(call)
            take(TRIES * (CONNECT_SECONDS + READ_SECONDS))
            raise ReadTimeoutError(endpoint_url=NOWHERE)
        case Kind.REPEATED:
            return _repeated(call, take)
        case Kind.THROTTLED | Kind.IN_THE_WAY:
            take(THROTTLED_SECONDS)
            raise _refusal(kind, call)
        case Kind.IN_PART:
            return _in_part(call)
        case Kind.DIES_BEFORE:
            raise Died
        case Kind.DIES_AFTER:
            _unheard(call)
            raise Died


def _unheard(call: Call) -> None:
    """Make a call whose answer nobody hears, a refusal neither."""
    with suppress(ClientError):
        call()


def unreached(take: Pass) -> Exception:
    """Return what a caller meets when no try gets through."""
    take(TRIES * CONNECT_SECONDS)
    return EndpointConnectionError(endpoint_url=NOWHERE)


def _repeated(call: Call, take: Pass) -> Any:
    """Make it twice. AWS knows a repeated transaction by its token, and answers as the first time; moto does not."""
    if call.operation == TRANSACTION:
        answer = call()
        take(CONNECT_SECONDS + READ_SECONDS)
        return answer
    _unheard(call)
    take(CONNECT_SECONDS + READ_SECONDS)
    return call()


def _refusal(kind: Kind, call: Call) -> Exception:
    if call.operation != TRANSACTION:
        return throttled() if kind is Kind.THROTTLED else refused("TransactionConflictException")
    writes = len(call.arguments["TransactItems"])
    if kind is Kind.THROTTLED:
        return cancelled(*["ThrottlingError"] * writes)
    return refused(IN_PROGRESS) if writes == 1 else cancelled(*[None] * (writes - 1), "TransactionConflict")


def _in_part(call: Call) -> Any:
    """Do one half of a batch, the smaller one, and leave out the rest."""
    if call.operation == "BatchGetItem":
        return {"Responses": {}, "UnprocessedKeys": call.arguments["RequestItems"]}
    entries = call.arguments["Entries"]
    taken, left = entries[: len(entries) // 2], entries[len(entries) // 2 :]
    if taken:
        Call(call.operation, call.arguments | {"Entries": taken}, call.made, call.client)()
    return {"Failed": [{"Id": one["Id"], "Code": "InternalError", "SenderFault": False} for one in left]}
