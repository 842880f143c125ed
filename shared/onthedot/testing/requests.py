"""Requests to the API, as API Gateway brings them, and its answers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any


@dataclass(frozen=True, slots=True)
class Answer:
    """What the API answered."""

    status: int
    body: Any
    headers: Mapping[str, str]


def http_event(method: str, path: str, body: Any, query: Mapping[str, str]) -> dict[str, Any]:
    """Return the event that API Gateway makes of a request; a body that is text is sent as it is."""
    return {
        "httpMethod": method,
        "path": path,
        "resource": "/{proxy+}",
        "headers": {"content-type": "application/json"},
        "multiValueHeaders": {"content-type": ["application/json"]},
        "queryStringParameters": dict(query) or None,
        "multiValueQueryStringParameters": {name: [value] for name, value in query.items()} or None,
        "requestContext": {"stage": "prod", "requestId": "lab", "httpMethod": method, "path": path},
        "body": body if isinstance(body, str) or body is None else json.dumps(body, default=_said),
        "isBase64Encoded": False,
    }


def answer_of(answer: Mapping[str, Any]) -> Answer:
    """Return what a function that answers API Gateway has said."""
    headers = {name: values[0] for name, values in answer.get("multiValueHeaders", {}).items()}
    return Answer(answer["statusCode"], json.loads(answer["body"] or "null"), headers)


def _said(value: Any) -> Any:
    """Return how a request says a time, a date or a span."""
    match value:
        case date():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case _:
            raise TypeError(f"a request cannot say {value!r}")
