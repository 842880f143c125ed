"""What the contract says of a request and of its answer: a list of what does not hold."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from tests.hostile.asking import Ask

from onthedot.http.problems import MEDIA_TYPE
from onthedot.http.routes import contract

SEEN = 20
"""So many fields that are not known are named, and no more: the answer has a bound."""


@cache
def document() -> dict[str, Any]:
    """Return the contract."""
    found: dict[str, Any] = json.loads(contract())
    return found


@cache
def validator(schema: str) -> Draft202012Validator:
    """Return what judges by a schema, which is given as JSON text."""
    return Draft202012Validator({**json.loads(schema), "components": document()["components"]})


def answer_faults(ask: Ask, status: int, headers: Mapping[str, str], body: Any) -> Iterator[str]:
    """Tell where an answer is not one that the contract names for this call."""
    operation = document()["paths"].get(ask.route, {}).get(ask.method.lower())
    if operation is None:
        yield from _problem_faults(status, headers, body) if status in (404, 405) else [f"{status} of no route"]
        return
    described = operation["responses"].get(str(status))
    if described is None:
        yield f"the contract knows no {status} of {ask.method} {ask.route}"
        return
    [(media_type, content)] = described["content"].items()
    if headers.get("Content-Type") != media_type:
        yield f"a {status} is {headers.get('Content-Type')} instead of {media_type}"
    if status >= 400 and media_type == MEDIA_TYPE:
        yield from _problem_faults(status, headers, body)
    yield from _schema_faults(f"the answer {status}", content["schema"], body)


def _problem_faults(status: int, headers: Mapping[str, str], body: Any) -> Iterator[str]:
    schema = {"$ref": "#/components/schemas/ProblemOut"}
    yield from _schema_faults(f"the problem {status}", schema, body)
    if headers.get("Content-Type") != MEDIA_TYPE:
        yield f"a {status} is {headers.get('Content-Type')}"
    if not (isinstance(body, dict) and body.get("status") == status and body.get("title") and body.get("detail")):
        yield f"a {status} tells too little: {body}"


def _schema_faults(what: str, schema: dict[str, Any], body: Any) -> Iterator[str]:
    for error in validator(json.dumps(schema)).iter_errors(body):
        yield f"{what} is not as the contract says: {error.json_path} {error.message[:300]}"


def body_schema(ask: Ask) -> dict[str, Any] | None:
    """Return the schema of the body that a call takes, if it takes one."""
    operation = document()["paths"].get(ask.route, {}).get(ask.method.lower(), {})
    if "requestBody" not in operation:
        return None
    found: dict[str, Any] = operation["requestBody"]["content"]["application/json"]["schema"]
    return found


def wrong_fields(ask: Ask, body: Any) -> set[str]:
    """Return the fields of a body that the contract refuses: of the wrong shape, unknown, or missing."""
    schema = body_schema(ask)
    if schema is None or not isinstance(body, dict):
        return set()
    model = document()["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    known: dict[str, Any] = model.get("properties", {})
    wrong = {name for name in known if name in body and not _fits(known[name], body[name])}
    missing = set(model.get("required", ())) - body.keys()
    return wrong | missing | set([name for name in body if name not in known][:SEEN])


def is_taken(ask: Ask, body: Any) -> bool:
    """Tell whether the contract takes a body as a whole."""
    schema = body_schema(ask)
    return ask.body is None or schema is None or _fits(schema, body)


def _fits(schema: dict[str, Any], value: Any) -> bool:
    return validator(json.dumps(schema)).is_valid(value)


def is_named(field: str, named: set[str]) -> bool:
    """Tell whether a fault of a field is told; what lies in it counts, and long names are cut off."""
    return any(re.match(rf"{re.escape(field[:64])}(\.|$)", each) for each in named)
