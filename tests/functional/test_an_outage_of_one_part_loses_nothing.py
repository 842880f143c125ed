"""One part is off for 15 minutes while the others go on: what was accepted before it, and in it, still ends well."""

from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from botocore.client import BaseClient
from tests.faults.failing import refused
from tests.support.handlers import RAN
from tests.support.lab import Lab
from tests.support.ledgers import told
from tests.support.proving import IN_FULL

import dispatch

OFF = timedelta(minutes=15)
RECOVERED = timedelta(minutes=4)
"""A tick, and how long a message stays hidden that nobody could work on: the queue's visibility of three minutes."""
ROUNDED = timedelta(seconds=1)
SENT = {"SendMessage", "SendMessageBatch", "ChangeMessageVisibility"}

Until = Callable[[], bool]


def without_dispatch(patch: pytest.MonkeyPatch, ended: Until) -> None:
    look = dispatch.handler

    def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
        failed = [{"itemIdentifier": record["messageId"]} for record in event["Records"]]
        return look(event, context) if ended() else {"batchItemFailures": failed}

    patch.setattr(dispatch, "handler", handler)


def refusing(patch: pytest.MonkeyPatch, ended: Until, service: str, code: str, status: int) -> None:
    """Refuse all calls of a service, as a function makes them, until it is back."""
    call = BaseClient._make_api_call  # type: ignore[attr-defined]

    def answered(client: BaseClient, operation: str, arguments: dict[str, Any]) -> Any:
        is_ours = operation in SENT if service == "sqs" else True
        if client.meta.service_model.service_name == service and is_ours and not ended():
            raise refused(code, status)
        return call(client, operation, arguments)

    patch.setattr(BaseClient, "_make_api_call", answered)


def break_down(lab: Lab, patch: pytest.MonkeyPatch, part: str, back_at: datetime) -> None:
    """Let a part be off until it is back; the timer's function fails without SQS and DynamoDB, and has no own retry."""

    def ended() -> bool:
        return lab.now() >= back_at

    match part:
        case "workers":
            lab.off.add("JobQueue")
        case "dispatch":
            without_dispatch(patch, ended)
        case "sqs":
            lab.off |= {"JobQueue", "JobDeadLetterQueue"}
            refusing(patch, ended, "sqs", "ServiceUnavailable", 503)
        case "dynamodb":
            refusing(patch, ended, "dynamodb", "ThrottlingException", 400)
    if part in ("tick", "sqs", "dynamodb"):
        lab.off.add("tick")


def ask(lab: Lab, *minutes: int) -> dict[str, datetime]:
    """Ask for jobs in so many minutes; return when those are due that were accepted."""
    due = {f"{lab.now():%H-%M}-in-{each}": lab.now() + timedelta(minutes=each) for each in minutes}
    bodies = [{"handler": "test.record", "id": name, "run_at": at.isoformat()} for name, at in due.items()]
    return {body["id"]: due[body["id"]] for body in bodies if lab.call("POST", "/jobs", body).status == 201}


@pytest.mark.parametrize("part", ["workers", "dispatch", "tick", "sqs", "dynamodb"] if IN_FULL else ["sqs", "dynamodb"])
def test_all_that_was_accepted_runs_once(lab: Lab, monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    body = {"handler": "test.record", "every": 300, "anchor": (lab.now() + timedelta(minutes=1)).isoformat()}
    assert lab.call("PUT", "/schedules/s", body).status == 201
    due = ask(lab, 1, 3, 9, 16, 19, 22, 24)
    lab.advance(minutes=2)
    back_at = lab.now() + OFF
    break_down(lab, monkeypatch, part, back_at)
    lab.advance(minutes=5)
    due |= ask(lab, 1, 8, 16, 18)
    assert len(due) == (7 if part == "dynamodb" else 11), "what could be stored was accepted"
    lab.advance(minutes=10)
    lab.off.clear()
    lab.advance(minutes=20)

    assert Counter(call.id for call in RAN).most_common(1)[0][1] == 1
    ran = {call.id: call.at for call in RAN if "@" not in call.id}
    assert ran.keys() == due.keys()
    assert all(at <= ran[name] <= max(at, back_at + RECOVERED) + ROUNDED for name, at in due.items())
    assert [line.partition(" ")[2] for line in told(lab, "s", limit="100")] == ["succeeded"] * 8
