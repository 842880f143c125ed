"""Every call that AWS gets in a lab: noted, one at a time, and refused where AWS refuses what moto lets pass."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from threading import RLock
from typing import Any

from moto.core.botocore_stubber import BotocoreStubber
from moto.dynamodb.parsing.reserved_keywords import ReservedKeywords

RESERVED = {word.lower() for word in ReservedKeywords.get_reserved_keywords()}
NOTED: list[list["Call"]] = []
"""Where calls are noted: by the innermost lab."""
ALONE = RLock()
"""Who asks moto: it is not atomic under threads, and our conditional writes need it to be."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call that AWS got, such as `UpdateItem`, and what it was called with."""

    operation: str
    body: dict[str, Any]


def one_at_a_time(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return moto's entry behind a lock."""

    def locked(stub: BotocoreStubber, event_name: str, request: Any, **kwargs: Any) -> Any:
        with ALONE:
            if target := request.headers.get("X-Amz-Target", b"").decode():  # what has none is a user's, such as S3
                NOTED[-1].append(strictly(target.rpartition(".")[2], json.loads(request.body or "{}")))
            return call(stub, event_name, request, **kwargs)

    return locked


def strictly(operation: str, body: dict[str, Any]) -> Call:
    """Return what is called, and refuse what AWS refuses and moto does not."""
    assert body.get("UpdateExpression") != "", "ValidationException: The expression can not be empty"
    assert not (body.get("IndexName") and body.get("ConsistentRead")), "ValidationException: no consistent index reads"
    for write in [body, *(next(iter(item.values())) for item in body.get("TransactItems", []))]:
        _refuse_reserved_words(write)
    for message in [body, *body.get("Entries", [])]:
        assert message.get("DelaySeconds", 0) in range(901), "InvalidParameterValue: DelaySeconds is 0 to 900"
    return Call(operation, body)


def _refuse_reserved_words(body: dict[str, Any]) -> None:
    """Refuse a name that DynamoDB keeps for itself, and that moto lets pass in all but updates."""
    for name, text in body.items():
        if name.endswith("Expression"):
            reserved = set(re.findall(r"(?<![#:\w])[a-z]\w*", text)) & RESERVED
            assert not reserved, f"ValidationException: {name} uses reserved keywords: {reserved}"
