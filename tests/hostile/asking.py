"""A request as it goes over the wire, and the event that API Gateway makes of it."""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

JSON = {"content-type": "application/json"}


@dataclass(frozen=True, slots=True)
class Ask:
    """One request; `path` is encoded, `route` is the path of the contract that it is made for, and `valid` by it."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=lambda: JSON)
    body: bytes | None = None
    route: str = ""
    valid: bool = False


def event_of(ask: Ask) -> dict[str, Any]:
    """Return the event, as the template's gateway makes it: every body is in base64, and the path is decoded."""
    values: dict[str, list[str]] = {}
    for name, value in ask.query:
        values.setdefault(name, []).append(value)
    return {
        "httpMethod": ask.method,
        "path": ask.path,
        "resource": "/{proxy+}",
        "headers": dict(ask.headers) or None,
        "multiValueHeaders": {name: [value] for name, value in ask.headers.items()} or None,
        "queryStringParameters": {name: several[-1] for name, several in values.items()} or None,
        "multiValueQueryStringParameters": values or None,
        "pathParameters": {"proxy": unquote(ask.path, errors="replace").removeprefix("/")},
        "requestContext": {"stage": "prod", "requestId": "hostile", "httpMethod": ask.method, "path": ask.path},
        "body": None if ask.body is None else b64encode(ask.body).decode(),
        "isBase64Encoded": ask.body is not None,
    }
