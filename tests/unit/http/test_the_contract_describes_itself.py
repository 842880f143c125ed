"""`/openapi.json` is a valid document of every call that is served, with its request, its answers and its problems."""

import subprocess
import sys
from typing import Any

import jsonschema
import pytest
from openapi_spec_validator import validate
from tests.unit.http.memory import Api

from onthedot.http.models import JobRequest
from onthedot.http.routes import ROUTES, contract


@pytest.fixture
def document(api: Api) -> Any:
    return api.call("GET", "/openapi.json").body


def test_it_is_valid(document: Any) -> None:
    validate(document)


def test_every_route_is_in_it_with_its_answers_and_problems(document: Any) -> None:
    assert sum(len(methods) for methods in document["paths"].values()) == len(ROUTES)
    for route in ROUTES:
        operation = document["paths"][route.path][route.method.lower()]
        assert set(operation["responses"]) >= {str(status) for status in (*route.answers, *route.problems, 403, 500)}
        assert ("requestBody" in operation) is (route.body is not None)
        for status, response in operation["responses"].items():
            media_types = set(response["content"])
            good = int(status) in route.answers
            assert media_types == ({"application/json"} if good else {"application/problem+json"})


def test_its_schemas_take_what_the_api_takes_and_gives(document: Any, api: Api) -> None:
    request = {"handler": "h", "id": "x", "delay": 1.5, "payload": {"a": [1]}, "retry": {"max_attempts": 3}}
    answers = {"JobRequest": request, "Job": api.call("POST", "/jobs", request).body}
    answers["JobList"] = api.call("GET", "/jobs").body
    answers["BatchAnswer"] = api.call("POST", "/jobs/batch", {"jobs": [request, {}]}).body
    answers["Health"] = api.call("GET", "/health").body
    answers["ProblemOut"] = api.call("POST", "/jobs", {}).body
    for name, body in answers.items():
        schema = {"$ref": f"#/components/schemas/{name}", "components": document["components"]}
        jsonschema.validate(body, schema, cls=jsonschema.Draft202012Validator)


def test_no_field_of_a_request_is_null_unless_it_is_the_payload(document: Any) -> None:
    properties = document["components"]["schemas"]["JobRequest"]["properties"]
    assert set(properties) == set(JobRequest.model_fields)
    assert [name for name, schema in properties.items() if "default" in schema] == ["payload"]


def test_it_is_made_once_for_each_container() -> None:
    assert contract() is contract()


def test_the_other_functions_import_no_pydantic_and_no_router() -> None:
    code = (
        "import sys; sys.path[:0] = ['shared', 'functions']; import tick, dispatch, worker, dead_letters\n"
        "print([name for name in sys.modules if name == 'pydantic' or name.startswith('onthedot.http')"
        " or name == 'aws_lambda_powertools.event_handler'])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
