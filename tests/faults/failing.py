"""Makes AWS fail, below all clients alike."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from botocore.client import BaseClient
from botocore.exceptions import ClientError

Answer = Exception | dict[str, Any] | Callable[[dict[str, Any]], dict[str, Any] | None] | None
INDEX = "arn:aws:dynamodb:eu-central-1:123456789012:table/JobsTable/index/agenda"


@dataclass(slots=True)
class Faults:
    """What AWS answers instead, call by call (`None`: what it does answer), and every call that was made."""

    answers: dict[str, list[Answer]] = field(default_factory=dict)
    made: list[str] = field(default_factory=list)

    def on(self, operation: str, *answers: Answer) -> None:
        """Answer the next calls of an operation so."""
        self.answers[operation] = list(answers)

    def count(self, operation: str) -> int:
        """Return how many calls of an operation were made."""
        return self.made.count(operation)

    def next(self, operation: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
        """Return the answer to a call, or raise it; `None` when AWS may answer itself."""
        self.made.append(operation)
        left = self.answers.get(operation)
        match left.pop(0) if left else None:
            case Exception() as error:
                raise error
            case dict() as answer:
                return answer
            case None:
                return None
            case answer:
                return answer(arguments)


def install(patch: pytest.MonkeyPatch) -> Faults:
    """Return the faults that every client has from now on."""
    faults, original = Faults(), BaseClient._make_api_call  # type: ignore[attr-defined]

    def call(client: BaseClient, operation: str, arguments: dict[str, Any]) -> Any:
        answer = faults.next(operation, arguments)
        return original(client, operation, arguments) if answer is None else answer

    patch.setattr(BaseClient, "_make_api_call", call)
    return faults


def refused(code: str, status: int = 400, **facts: Any) -> ClientError:
    """Return an error as AWS answers it."""
    answer: Any = {
        "Error": {"Code": code, "Message": "no"},
        "ResponseMetadata": {"HTTPStatusCode": status, "RequestId": "x", "HTTPHeaders": {}, "RetryAttempts": 0},
        **facts,
    }
    return ClientError(answer, "Operation")


def throttled(code: str = "ThrottlingException") -> ClientError:
    """Return the refusal of a write whose index takes no more (aws-traps 10)."""
    reason = {"reason": "IndexWriteKeyRangeThroughputExceeded", "resource": INDEX}
    return refused(code, ThrottlingReasons=[reason])


def cancelled(*reasons: str | None) -> ClientError:
    """Return the refusal of a transaction, with why, write by write (aws-traps 2)."""
    told = [{"Code": reason or "None"} for reason in reasons]
    return refused("TransactionCanceledException", CancellationReasons=told)
