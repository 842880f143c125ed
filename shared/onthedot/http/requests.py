"""What came in, out of an API Gateway event (REST, proxy), whatever its shape.

The body is read whatever its content type. With `BinaryMediaTypes: */*` API Gateway hands it over in base64, byte by
byte; as text it would arrive with its invalid UTF-8 already replaced. Lambda takes events of 6,291,456 bytes, so AWS
itself answers 413 from about 4.7 MB on.

Source: docs.aws.amazon.com/lambda, gettingstarted-limits (read 2026-11-29).
"""

import binascii
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from onthedot.http.json_text import NoJson, read
from onthedot.http.problems import Problem, Refuse
from onthedot.rules.errors import Fault, Kind

MOST_BYTES = 5_000_000


@dataclass(frozen=True, slots=True)
class Request:
    """One call: the fields of its path, its query, the event it came in, and what is wrong with it already."""

    path: Mapping[str, str]
    query: Mapping[str, list[str]]
    event: Mapping[str, Any]
    faults: tuple[Fault, ...] = ()

    def json(self) -> dict[str, Any]:
        """Return the body, a JSON object.

        Raises: Refuse.
        """
        text = _bytes(self.event)
        if not text.strip():
            raise Refuse(Problem(400, "the body is empty; it must be a JSON object"))
        try:
            value = read(text)
        except NoJson as error:
            raise Refuse(Problem(400, f"the body is not JSON that can be taken: {error}")) from None
        if not isinstance(value, dict):
            raise Refuse(Problem(400, "the body must be a JSON object"))
        return value

    def json_if_any(self) -> dict[str, Any]:
        """Return the body, a JSON object; an empty one when there is none.

        Raises: Refuse.
        """
        return self.json() if _bytes(self.event).strip() else {}

    def header(self, name: str) -> str | None:
        """Return a header, whatever the case of its name."""
        headers: Mapping[str, str] = self.event.get("headers") or {}
        return next((value for key, value in headers.items() if key.lower() == name.lower()), None)

    @property
    def caller(self) -> str:
        """Who calls, as the signature says."""
        identity = (self.event.get("requestContext") or {}).get("identity") or {}
        return str(identity.get("userArn") or identity.get("caller") or "unknown")


def request_of(
    event: Mapping[str, Any], path: Mapping[str, str], known_query: list[str], *, takes_body: bool
) -> Request:
    """Return the request in an event; `path` holds what its route names."""
    several = event.get("multiValueQueryStringParameters") or {
        name: [value] for name, value in (event.get("queryStringParameters") or {}).items()
    }
    query = {name: values or [""] for name, values in several.items()}
    fields = {name: unquote(value) for name, value in path.items()}
    faults = _query_faults(query, known_query) + ([] if takes_body else _body_faults(event))
    return Request(fields, query, event, tuple(faults))


def whole(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return an event with all that the router asks of it; an event by hand, for a test or an alarm, may lack it."""
    asked = {"path": path_of(event), "httpMethod": event.get("httpMethod") or "", "headers": event.get("headers") or {}}
    return {**event, **asked}


def path_of(event: Mapping[str, Any]) -> str:
    """Return the path under the stage; a custom domain's base path stays in `path`, but not in `proxy`.

    The router's patterns overlook a line break at the end, so that one would name another job: it stays encoded.
    """
    proxy = (event.get("pathParameters") or {}).get("proxy")
    path = f"/{proxy}" if proxy is not None else str(event.get("path") or "/")
    return "/" if event.get("resource") == "/" else path.replace("\n", "%0A")


def _query_faults(query: Mapping[str, list[str]], known: list[str]) -> list[Fault]:
    """Return a fault for each parameter that is not known here, or given more than once."""
    there = f"the parameters are {', '.join(known)}" if known else "this call takes no parameters"
    faults = [Fault(name[:64], f"is not known here; {there}", Kind.MALFORMED) for name in query if name not in known]
    twice = [name for name in known if len(query.get(name, [])) > 1]
    return faults[:20] + [Fault(name, "is given more than once", Kind.MALFORMED) for name in twice]


def _body_faults(event: Mapping[str, Any]) -> list[Fault]:
    """Return a fault for a body that would be passed over, such as a `dry_run` that was meant for the query."""
    if _bytes(event).strip() in (b"", b"{}"):
        return []
    return [Fault("body", "this call takes no body; its parameters stand in the query, if it has any", Kind.MALFORMED)]


def _bytes(event: Mapping[str, Any]) -> bytes:
    body = event.get("body") or ""
    try:
        text = b64decode(body, validate=True) if event.get("isBase64Encoded") else body.encode()
    except (binascii.Error, UnicodeEncodeError, ValueError):
        raise Refuse(Problem(400, "the body is not UTF-8")) from None
    if len(text) > MOST_BYTES:
        raise Refuse(Problem(413, f"the body has {len(text)} bytes; it may have {MOST_BYTES}"))
    return text
