"""The `lambda` handler: one asynchronous call of a function.

Asynchronous, since a call that is waited for is made again by the SDK when its answer is late, and then the function
runs twice (aws-traps 54). So the job has succeeded when Lambda has taken the event.
"""

import json
from typing import Any, Final

from onthedot.handler import Job
from onthedot.outgoing.errors import NotDelivered
from onthedot.outgoing.events import with_key
from onthedot.outgoing.fields import Check, checked
from onthedot.outgoing.targets import Targets, is_arn

TAKEN: Final = 202


def call_function(job: Job, targets: Targets) -> dict[str, Any]:
    """Hand the function its event, and return Lambda's status.

    Raises: Discard for a bad payload or a function that jobs may not reach; NotDelivered when Lambda did not take it.
    """
    asked = checked(job.payload, CHECKS | {"arn": targets.allow(CHECKS["arn"])}, "arn")
    client, _ = targets.reach(asked["arn"])
    event = json.dumps(asked.get("payload", {}) | {"idempotency_key": job.idempotency_key}, ensure_ascii=False)
    answer = client.invoke(FunctionName=asked["arn"], InvocationType="Event", Payload=event.encode())
    if answer["StatusCode"] != TAKEN:
        raise NotDelivered(f"Lambda answered {answer['StatusCode']}")
    return {"status": answer["StatusCode"]}


CHECKS: Final[dict[str, Check]] = {
    "arn": is_arn("lambda", r"function:[A-Za-z0-9_-]{1,64}(:[A-Za-z0-9$_-]{1,128})?", "function:report"),
    "payload": with_key,
}
