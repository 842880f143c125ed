"""The `sqs` handler: one message to a queue."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from onthedot.handler import Job
from onthedot.outgoing.fields import Check, checked, text
from onthedot.outgoing.targets import Arn, Targets, is_arn

KEY: Final = "idempotency_key"
MOST_ATTRIBUTES: Final = 9
"""SQS takes ten, and the idempotency key is one."""
FIFO: Final = ".fifo"

_TEXT = re.compile("[\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]+")
"""Source: SQS API reference, SendMessage, MessageBody, read 2026-11-30."""


def send_message(job: Job, targets: Targets) -> dict[str, Any]:
    """Send the body to the queue, and return the message's id.

    Raises: Discard for a payload that no queue would take, or a queue that jobs may not reach.
    """
    checks = CHECKS | {"arn": targets.allow(CHECKS["arn"])}
    asked = checked(job.payload, checks, "arn", "body", *_also_needed(job.payload))
    client, queue = targets.reach(asked["arn"])
    attributes = {KEY: job.idempotency_key, **asked.get("attributes", {})}
    sent = client.send_message(
        QueueUrl=_url(client, queue),
        MessageBody=_text(asked["body"]),
        MessageAttributes={name: {"DataType": "String", "StringValue": said} for name, said in attributes.items()},
        **_grouped(asked, job),
    )
    return {"message_id": sent["MessageId"]}


def _url(client: Any, queue: Arn) -> str:
    return f"{client.meta.endpoint_url}/{queue.account}/{queue.resource}"


def _text(body: Any) -> str:
    return body if isinstance(body, str) else json.dumps(body, separators=(",", ":"), ensure_ascii=False)


def _grouped(asked: Mapping[str, Any], job: Job) -> dict[str, str]:
    """Return the message's group; in a FIFO queue the idempotency key makes a repeated message no second one."""
    group = {"MessageGroupId": asked["group_id"]} if "group_id" in asked else {}
    return group | ({"MessageDeduplicationId": job.idempotency_key} if asked["arn"].endswith(FIFO) else {})


def _also_needed(payload: Any) -> tuple[str, ...]:
    """Return what a message to a FIFO queue must have."""
    arn = payload.get("arn") if isinstance(payload, dict) else None
    return ("group_id",) if isinstance(arn, str) and arn.endswith(FIFO) else ()


def _body(value: Any) -> str | None:
    taken = _TEXT.fullmatch(_text(value))
    return None if taken else "must not be empty, nor hold a control character that SQS does not take"


def _attributes(value: Any) -> str | None:
    if not isinstance(value, dict) or len(value) > MOST_ATTRIBUTES:
        return f"must be an object of at most {MOST_ATTRIBUTES} texts"
    faults = [name[:40] for name, said in value.items() if not _is_attribute(name, said)]
    return f"{', '.join(map(repr, faults))}: no name that SQS takes, ours, or no text" if faults else None


def _is_attribute(name: str, value: Any) -> bool:
    named = re.fullmatch(r"(?!(?i:aws|amazon)\.)[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*", name) and len(name) <= 256
    return bool(named) and name != KEY and isinstance(value, str) and bool(_TEXT.fullmatch(value))


CHECKS: Final[dict[str, Check]] = {
    "arn": is_arn("sqs", r"[A-Za-z0-9_-]{1,80}(\.fifo)?", "reports"),
    "body": _body,
    "attributes": _attributes,
    "group_id": text(r"[\x21-\x7e]{1,128}", "1 to 128 printable characters without a space"),
}
