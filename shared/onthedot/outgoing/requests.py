"""One HTTP request: what a job's payload asks for, and what its redirects make of it."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from onthedot.outgoing import signing, urls
from onthedot.outgoing.errors import Refused
from onthedot.outgoing.fields import Check, anything, checked, text
from onthedot.outgoing.urls import Place

IDEMPOTENCY_KEY: Final = "idempotency-key"
OURS: Final = frozenset({IDEMPOTENCY_KEY, signing.ID, signing.TIMESTAMP, signing.SIGNATURE})
FRAMING: Final = frozenset(
    {
        *("connection", "content-length", "expect", "host", "keep-alive", "proxy-authorization", "proxy-connection"),
        *("te", "trailer", "transfer-encoding", "upgrade"),
    }
)
"""Headers that say where a message ends and who gets it: another's word here would be read as another request."""
HARMLESS: Final = frozenset({"accept", "accept-language", "content-type", "user-agent"})
"""What another host may see after a redirect: any other header may be a secret."""
MOST_HEADER_BYTES: Final = 16_384

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VALUE = re.compile(r"[\t\x20-\x7e]*")


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent. Shape: names of headers in lower case; `secret_name` is whose key signs it."""

    method: str
    place: Place
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes | None = field(default=None, repr=False)
    secret_name: str | None = None


def read(payload: Any) -> Request:
    """Return the request that a payload asks for.

    Raises: Discard with every fault of the payload.
    """
    asked = checked(payload, CHECKS, "url")
    headers = {name.lower(): value for name, value in asked.get("headers", {}).items()}
    body = _encoded(asked["body"]) if "body" in asked else None
    if body is not None and not isinstance(asked["body"], str):
        headers.setdefault("content-type", "application/json")
    return Request(asked.get("method", "POST"), urls.read(asked["url"]), headers, body, asked.get("secret_name"))


def redirected(request: Request, status: int, location: str) -> Request:
    """Return what is sent after a redirect. Another host gets no header that may be a secret, and no signature.

    Raises: Refused when it leads where none may go.
    """
    place = urls.beside(request.place, location)
    moved = replace(request, place=place)
    if (place.host, place.port) != (request.place.host, request.place.port):
        kept = {name: value for name, value in request.headers.items() if name in HARMLESS}
        moved = replace(moved, headers=kept, secret_name=None)
    if status in (307, 308) or request.method == "HEAD":
        return moved
    headers = {name: value for name, value in moved.headers.items() if not name.startswith("content-")}
    return replace(moved, method="GET", headers=headers, body=None)


def _encoded(body: Any) -> bytes:
    said = body if isinstance(body, str) else json.dumps(body, separators=(",", ":"), ensure_ascii=False)
    return said.encode()


def _url(value: Any) -> str | None:
    if not isinstance(value, str):
        return "must be a text"
    try:
        urls.read(value)
    except Refused as refused:
        return str(refused)
    return None


def _headers(value: Any) -> str | None:
    if not isinstance(value, dict):
        return "must be an object of texts"
    faults = [fault for name, said in value.items() if (fault := _header(name, said))]
    lower = [name.lower() for name in value]
    faults += [f"{name} is there twice" for name in sorted(set(lower)) if lower.count(name) > 1]
    if sum(len(f"{name}{said}") + 4 for name, said in value.items()) > MOST_HEADER_BYTES:
        faults.append(f"all together are over {MOST_HEADER_BYTES} bytes")
    return ", ".join(faults) or None


def _header(name: str, value: Any) -> str | None:
    if not _NAME.fullmatch(name):
        return f"{name[:40]!r} is no header's name"
    if name.lower() in OURS | FRAMING:
        return f"{name} is set by Onthedot alone"
    if not isinstance(value, str) or not _VALUE.fullmatch(value):
        return f"{name} must be a text of printable ASCII in one line"
    return None


METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
CHECKS: Final[Mapping[str, Check]] = {
    "url": _url,
    "method": text("|".join(METHODS), f"one of {', '.join(METHODS)}"),
    "headers": _headers,
    "body": anything,
    "secret_name": text(r"[A-Za-z0-9/_+=.@:!-]{1,2048}", "the name or ARN of a secret"),
}
