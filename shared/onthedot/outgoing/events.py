"""The `eventbridge` handler: one event to a bus."""

import json
from typing import Any, Final

from onthedot.handler import Job
from onthedot.outgoing.errors import NotDelivered
from onthedot.outgoing.fields import Check, an_object, checked, text
from onthedot.outgoing.targets import Targets, is_arn

KEY: Final = "idempotency_key"


def put_event(job: Job, targets: Targets) -> dict[str, Any]:
    """Put the event on the bus, and return its id.

    Raises: Discard for a bad payload or a bus that jobs may not reach; NotDelivered when the bus refused the event,
    which EventBridge says inside of an answer that is a success (aws-traps 49).
    """
    checks = CHECKS | {"arn": targets.allow(CHECKS["arn"])}
    asked = checked(job.payload, checks, "arn", "source", "detail_type")
    client, _ = targets.reach(asked["arn"])
    entry = {
        "EventBusName": asked["arn"],
        "Source": asked["source"],
        "DetailType": asked["detail_type"],
        "Detail": json.dumps(asked.get("detail", {}) | {KEY: job.idempotency_key}, ensure_ascii=False),
    }
    answer = client.put_events(Entries=[entry])
    [put] = answer["Entries"]
    if answer.get("FailedEntryCount") or "EventId" not in put:
        raise NotDelivered(f"the bus refused the event: {put.get('ErrorCode')}: {put.get('ErrorMessage')}")
    return {"event_id": put["EventId"]}


def with_key(value: Any) -> str | None:
    """Tell that a value is no object to which the idempotency key can be added."""
    if fault := an_object(value):
        return fault
    return f"must not hold {KEY}, which Onthedot adds" if KEY in value else None


CHECKS: Final[dict[str, Check]] = {
    "arn": is_arn("events", r"event-bus/[A-Za-z0-9._/-]{1,256}", "event-bus/default"),
    "source": text(r"(?!aws\.)[^\x00-\x1f]{1,256}", "1 to 256 characters, and not begin with aws."),
    "detail_type": text(r"[^\x00-\x1f]{1,128}", "1 to 128 characters"),
    "detail": with_key,
}
