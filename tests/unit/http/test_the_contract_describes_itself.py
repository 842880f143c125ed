"""`/openapi.json` is a valid document of every call that is served, with its request, its answers and its problems."""

import subprocess
import sys
from datetime import timedelta
from typing import Any

import jsonschema
import pytest
from openapi_spec_validator import validate
from tests.unit.http.memory import Api

from onthedot.http.models import JobRequest
from onthedot.http.routes import ROUTES, contract
from onthedot.rules.definitions import DEFAULTS


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


def test_a_time_that_can_be_no_local_one_says_so(document: Any) -> None:
    """A client sent a local `until`, as the contract said it may, and was refused."""
    schemas = document["components"]["schemas"]
    described = [schemas["PauseRequest"]["properties"]["until"], schemas["BackfillRequest"]["properties"]["from"]]
    described += [schemas["BackfillRequest"]["properties"]["to"]]
    for path, names in (("/jobs", {"due_from", "due_to"}), ("/schedules/{name}/ledger", {"from", "to"})):
        parameters = document["paths"][path]["get"]["parameters"]
        found = [parameter["schema"] for parameter in parameters if parameter["name"] in names]
        assert len(found) == 2
        described += found
    assert {shape["description"] for shape in described} == {"RFC 3339 with an offset"}
    assert "zone" in schemas["JobRequest"]["properties"]["run_at"]["description"]


def test_the_version_that_was_seen_is_a_parameter_and_the_one_there_is_a_header(document: Any) -> None:
    """Nobody who read the contract alone could know how a lost update is refused."""
    operations = document["paths"]["/schedules/{name}"]
    asking = {
        method
        for method, operation in operations.items()
        for parameter in operation["parameters"]
        if (parameter["name"], parameter["in"], parameter["required"]) == ("If-Match", "header", False)
    }
    assert asking == {"put", "patch", "delete"}
    for operation in operations.values():
        assert "ETag" in operation["responses"]["200"]["headers"]
    assert "headers" not in document["paths"]["/jobs"]["get"]["responses"]["200"]


def test_what_is_left_out_and_what_is_out_of_range_is_described(document: Any) -> None:
    schemas = document["components"]["schemas"]
    for name in ("ScheduleRequest", "PreviewRequest"):
        properties = schemas[name]["properties"]
        usual = {field: shape["default"] for field, shape in properties.items() if shape.get("default") is not None}
        assert usual == {field: value for field, value in DEFAULTS.items() if field in properties}
        assert (properties["catch_up_limit"]["minimum"], properties["catch_up_limit"]["maximum"]) == (1, 10_000)
        assert (properties["catch_up_rate"]["minimum"], properties["catch_up_rate"]["maximum"]) == (1, 6_000)
    assert not any("default" in shape for shape in schemas["SchedulePatch"]["properties"].values())


def test_the_schemas_of_schedules_take_what_the_api_takes_and_gives(document: Any, api: Api) -> None:
    request = {"handler": "h", "cron": "0 9 * * *", "catch_up_limit": 5, "exclude": ["2027-01-02"], "grace": "PT1M"}
    answers = {"ScheduleRequest": request, "Schedule": api.call("PUT", "/schedules/s", request).body}
    answers["SchedulePatch"] = {"catch_up_limit": None, "missed": "skip"}
    answers["ScheduleList"] = api.call("GET", "/schedules").body
    answers["PauseRequest"] = {"until": "2027-02-01T00:00:00Z"}
    for name, body in answers.items():
        schema = {"$ref": f"#/components/schemas/{name}", "components": document["components"]}
        jsonschema.validate(body, schema, cls=jsonschema.Draft202012Validator)


def test_a_body_that_may_be_left_out_is_not_called_required(document: Any) -> None:
    optional = {
        path
        for path, methods in document["paths"].items()
        for operation in methods.values()
        if not operation.get("requestBody", {"required": True})["required"]
    }
    of_schedules = {f"/schedules/{{name}}/{call}" for call in ("pause", "resume", "trigger")}
    assert optional == of_schedules | {"/jobs/{id}/retry", "/dead/retry"}


def test_what_a_dry_run_answers_is_described_beside_the_rest(document: Any, api: Api) -> None:
    """A client made from the contract read a schedule where a dry run of a resume told of slots."""
    api.call("PUT", "/schedules/s", {"handler": "h", "cron": "* * * * *"})
    api.call("POST", "/schedules/s/pause", {"on_resume": "missed"})
    api.clock.time += timedelta(minutes=5)
    answer = document["paths"]["/schedules/{name}/resume"]["post"]["responses"]["200"]["content"]["application/json"]
    shapes = {name: f"#/components/schemas/{name}" for name in ("Schedule", "Foreseen")}
    assert answer["schema"] == {"oneOf": [{"$ref": shape} for shape in shapes.values()]}
    foreseen = api.call("POST", "/schedules/s/resume", query={"dry_run": "true"}).body
    assert foreseen["runs"]
    for name, body in (("Foreseen", foreseen), ("Schedule", api.call("POST", "/schedules/s/resume").body)):
        for each, shape in shapes.items():
            schema = {"$ref": shape, "components": document["components"]}
            found = jsonschema.Draft202012Validator(schema)
            assert found.is_valid(body) is (each == name)


def test_the_ranges_of_a_retry_are_described(document: Any) -> None:
    """A client sent a `factor` of 0.5, which the contract took and the API did not."""
    for name in ("JobRequest", "ScheduleRequest"):
        assert "RetryRequest" in str(document["components"]["schemas"][name]["properties"]["retry"])
    properties = document["components"]["schemas"]["RetryRequest"]["properties"]
    ranges = {
        field: (properties[field]["minimum"], properties[field]["maximum"]) for field in ("max_attempts", "factor")
    }
    assert ranges == {"max_attempts": (1, 50), "factor": (1, 1_000)}


def test_every_call_that_takes_a_body_says_that_it_may_be_too_large(document: Any, api: Api) -> None:
    """Six calls answered 413 to a body of 6 MB, and the contract knew of none of them."""
    for path, methods in document["paths"].items():
        for operation in methods.values():
            assert ("413" in operation["responses"]) is ("requestBody" in operation), path
    assert api.call("POST", "/dead/retry", {"handler": "h" * 5_000_001}).status == 413


def test_every_answer_is_described_in_words(document: Any) -> None:
    """The 202 of a job that is asked to stop was described as nothing."""
    answers = [
        it for methods in document["paths"].values() for one in methods.values() for it in one["responses"].values()
    ]
    assert all(answer["description"] for answer in answers)
