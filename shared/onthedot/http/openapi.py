"""The OpenAPI document, made of the table of routes and the models that requests are checked against."""

import re
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from onthedot import __version__
from onthedot.http import models, schedule_models
from onthedot.http.problems import MEDIA_TYPE, TITLES
from onthedot.http.route import Route
from onthedot.rules.jobs import JOB_ID, NAME

Document = dict[str, Any]
REF = "#/components/schemas/{model}"
PATTERNS = {"id": f"^{JOB_ID}$", "name": f"^{NAME}$"}
"""What stands in a path, by its name there."""
SEEN = '(W/)?"?[0-9]{1,15}"?'
ALWAYS = (429, 500, 503)
"""What any call may answer, beside the 403 of an unsigned one."""
TITLES_HERE = {**TITLES, 200: "OK", 201: "Created", 202: "Accepted", 403: "Forbidden"}


def document(routes: Sequence[Route]) -> Document:
    """Return the OpenAPI 3.1 document of the routes."""
    paths: dict[str, Document] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Onthedot",
            "version": __version__,
            "description": "Runs work later: after a delay, at a time, or on a timetable in a named time zone.",
        },
        "paths": paths,
        "components": {"schemas": _schemas(routes), "securitySchemes": {"sigv4": _sigv4()}},
        "security": [{"sigv4": []}],
    }


def _operation(route: Route) -> Document:
    said = (route.call.__doc__ or "").splitlines()[0]
    operation: Document = {
        "operationId": route.call.__name__,
        "summary": said.rstrip("."),
        "parameters": [*_path_parameters(route), *_query_parameters(route), *_header_parameters(route)],
        "responses": {str(status): _response(status, model, route) for status, model in route.answers.items()},
    }
    too_large = {413} if route.body else set()
    for status in sorted({*route.problems, 403, *too_large, *ALWAYS} - route.answers.keys()):
        operation["responses"][str(status)] = _problem(status)
    if route.body:
        operation["requestBody"] = {"required": route.needs_body, "content": _content("application/json", route.body)}
    return operation


def _path_parameters(route: Route) -> list[Document]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "pattern": PATTERNS[name]}}
        for name in re.findall(r"{(\w+)}", route.path)
    ]


def _query_parameters(route: Route) -> list[Document]:
    schema = route.query.model_json_schema() if route.query else {"properties": {}}
    required = schema.get("required", [])
    return [
        {"name": name, "in": "query", "schema": shape, **({"required": True} if name in required else {})}
        for name, shape in schema["properties"].items()
    ]


def _header_parameters(route: Route) -> list[Document]:
    """Return what is asked of a header: a call that may answer 412 takes the version that its caller has seen."""
    if 412 not in route.problems:
        return []
    said = "The version that the caller has seen, as the ETag told it; any other is refused with 412"
    schema = {"type": "string", "pattern": f"^{SEEN}$"}
    return [{"name": "If-Match", "in": "header", "required": False, "schema": schema, "description": said}]


def _response(status: int, model: type[BaseModel] | None, route: Route) -> Document:
    content = _content("application/json", model) if model else {"application/json": {"schema": {"type": "object"}}}
    if model and route.dry_answer:
        content = {"application/json": {"schema": {"oneOf": [_ref(model), _ref(route.dry_answer)]}}}
    response: Document = {"description": TITLES_HERE[status], "content": content}
    if model is schedule_models.Schedule:
        response["headers"] = {"ETag": {"schema": {"type": "string"}, "description": "its version, for If-Match"}}
    return response


def _problem(status: int) -> Document:
    response: Document = {"description": TITLES_HERE[status], "content": _content(MEDIA_TYPE, models.ProblemOut)}
    if status in {429, 503}:
        response["headers"] = {"Retry-After": {"schema": {"type": "integer"}, "description": "seconds"}}
    return response


def _content(media_type: str, model: type[BaseModel]) -> Document:
    return {media_type: {"schema": _ref(model)}}


def _ref(model: type[BaseModel]) -> Document:
    return {"$ref": REF.format(model=model.__name__)}


def _schemas(routes: Sequence[Route]) -> Document:
    shapes: dict[type[BaseModel], None] = {models.ProblemOut: None}
    for route in routes:
        shapes |= {shape: None for shape in (route.body, route.dry_answer, *route.answers.values()) if shape}
    _, schema = models_json_schema([(shape, "validation") for shape in shapes], ref_template=REF)
    return dict(schema["$defs"])


def _sigv4() -> Document:
    return {
        "type": "apiKey",
        "name": "Authorization",
        "in": "header",
        "description": "AWS Signature Version 4, service execute-api",
        "x-amazon-apigateway-authtype": "awsSigv4",
    }
