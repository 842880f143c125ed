"""The template's functions, loaded by what their `Handler` says, and the events that AWS gives them."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from importlib import import_module
from typing import Any

from onthedot.testing.errors import LabError
from onthedot.testing.template import ACCOUNT, REGION, Props, Template

MINUTES = re.compile(r"rate\((\d+) minutes?\)")
LAMBDA_TIMEOUT = 3
"""Seconds that a function has whose template says nothing. Source: docs.aws.amazon.com/serverless-application-model."""


class ProcessEnded(Exception):
    """A function ended its process, as the worker does with a handler that cannot be stopped."""


@dataclass(slots=True)
class Context:
    """What Lambda tells a function of its invocation. Units: `remaining` in milliseconds."""

    function_name: str
    remaining: int = 120_000
    memory_limit_in_mb: int = 256
    aws_request_id: str = "00000000-0000-0000-0000-000000000000"

    @property
    def invoked_function_arn(self) -> str:
        """The function's name in full."""
        return f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{self.function_name}"

    def get_remaining_time_in_millis(self) -> int:
        """Return what is left of the function's time."""
        return self.remaining


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the template: its `Handler`, its seconds, and what brings it events.

    Shape: `queues` has the most messages of one event by the queue's logical id; `every` is the rhythm of its timer.
    """

    handler: str
    timeout: int
    variables: Mapping[str, str]
    queues: Mapping[str, int]
    every: timedelta | None
    http: bool

    @property
    def name(self) -> str:
        """Its module, which is what people call it: `worker`."""
        return self.handler.rpartition(".")[0]

    @property
    def module(self) -> Any:
        """The module, imported when it is first asked for."""
        return import_module(self.name)

    def __call__(self, event: Any, remaining: int | None = None) -> Any:
        """Call it as Lambda does. Units: `remaining` in milliseconds."""
        entry: Callable[[Any, Any], Any] = getattr(self.module, self.handler.rpartition(".")[2])
        return entry(event, Context(self.name, self.timeout * 1000 if remaining is None else remaining))


def functions_of(template: Template) -> tuple[Function, ...]:
    """Return the functions of a template."""
    common = template.globals.get("Function", {})
    found = template.of_type("AWS::Serverless::Function").values()
    return tuple(_function(common | facts, common) for facts in found)


def _function(facts: Props, common: Props) -> Function:
    events = list(facts.get("Events", {}).values())
    fed = [it["Properties"] for it in events if it["Type"] == "SQS"]
    timers = [it["Properties"]["ScheduleExpression"] for it in events if it["Type"] in ("Schedule", "ScheduleV2")]
    return Function(
        handler=facts["Handler"],
        timeout=int(facts.get("Timeout", LAMBDA_TIMEOUT)),
        variables=_variables(common) | _variables(facts),
        queues={it["Queue"].rpartition(":")[2]: int(it.get("BatchSize", 10)) for it in fed},
        every=_rhythm(timers[0]) if timers else None,
        http=any(it["Type"] == "Api" for it in events),
    )


def _variables(facts: Props) -> dict[str, str]:
    return {name: _text(it) for name, it in facts.get("Environment", {}).get("Variables", {}).items()}


def _text(value: Any) -> str:
    """Return a variable's text; what only AWS could know is named after its resource."""
    match value:
        case {"Fn::GetAtt": [str(name), str(what)]}:
            return f"{name}.{what}"
        case bool():
            return str(value).lower()
        case str() | int() | float():
            return str(value)
        case _:
            return json.dumps(value)


def _rhythm(expression: str) -> timedelta:
    if (found := MINUTES.fullmatch(expression)) is None:
        raise LabError(f"a lab's timer knows rate(N minutes), and not {expression}")
    return timedelta(minutes=int(found[1]))


def event_of(messages: list[dict[str, Any]], queue: str = "JobQueue") -> dict[str, Any]:
    """Return the event that Lambda makes of SQS messages."""
    return {
        "Records": [
            {
                "messageId": message["MessageId"],
                "receiptHandle": message["ReceiptHandle"],
                "body": message["Body"],
                "attributes": message.get("Attributes", {}),
                "messageAttributes": {},
                "md5OfBody": message.get("MD5OfBody", ""),
                "eventSource": "aws:sqs",
                "eventSourceARN": f"arn:aws:sqs:{REGION}:{ACCOUNT}:{queue}",
                "awsRegion": REGION,
            }
            for message in messages
        ]
    }


def timer_event(time: str) -> dict[str, Any]:
    """Return the event that EventBridge Scheduler sends at a time."""
    return {
        "version": "0",
        "id": "00000000-0000-0000-0000-000000000000",
        "detail-type": "Scheduled Event",
        "source": "aws.scheduler",
        "account": ACCOUNT,
        "time": time,
        "region": REGION,
        "resources": [f"arn:aws:scheduler:{REGION}:{ACCOUNT}:schedule/default/timer"],
        "detail": "{}",
    }
