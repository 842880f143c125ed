"""What the gateway answers itself is a problem document, and all else reaches our code, signed."""

import json
from typing import Any, cast

import pytest
from tests.template.expansion import ROOT, Props, Template, expand

METHODS = {"get", "put", "post", "delete", "patch", "head", "options"}
REFUSALS = {
    "DEFAULT_4XX": 400, "DEFAULT_5XX": 500, "ACCESS_DENIED": 403, "EXPIRED_TOKEN": 403, "INVALID_SIGNATURE": 403,
    "MISSING_AUTHENTICATION_TOKEN": 403, "WAF_FILTERED": 403, "REQUEST_TOO_LARGE": 413, "THROTTLED": 429,
    "INTEGRATION_FAILURE": 504, "INTEGRATION_TIMEOUT": 504,
}  # fmt: skip


def only(template: Template, kind: str) -> Props:
    """Return the one resource of a type."""
    (properties,) = template.of_type(kind).values()
    return properties


def body(template: Template) -> dict[str, Any]:
    """Return the API's definition."""
    return cast("dict[str, Any]", only(template, "AWS::ApiGateway::RestApi")["Body"])


def operations(template: Template) -> list[dict[str, Any]]:
    """Return every method of every path."""
    return [it for path in body(template)["paths"].values() for it in path.values()]


def test_every_method_on_every_path_is_ours(template: Template) -> None:
    """Trap 39: else the gateway answers 403 where 404 or 405 is meant. By name, since emulators import no ANY."""
    paths = {path: set(methods) for path, methods in body(template)["paths"].items()}
    assert paths == {"/": METHODS, "/{proxy+}": METHODS}


def test_every_call_is_signed(template: Template) -> None:
    assert all(it["security"] == [{"AWS_IAM": []}] for it in operations(template))


def test_callers_need_no_right_to_the_function(template: Template) -> None:
    """Trap 21: with the caller's credentials each caller would need lambda:InvokeFunction."""
    integrations = [it["x-amazon-apigateway-integration"] for it in operations(template)]
    assert all(it["type"] == "aws_proxy" and "credentials" not in it for it in integrations)


@pytest.mark.parametrize("kind", REFUSALS)
def test_a_refusal_is_a_problem_document(template: Template, kind: str) -> None:
    """Trap 39."""
    answer = body(template)["x-amazon-apigateway-gateway-responses"][kind]
    text = answer["responseTemplates"]["application/json"]
    problem = json.loads(text.replace("$context.error.messageString", '"said by AWS"'))
    assert problem.keys() == {"type", "title", "status", "detail"}
    assert problem["status"] == int(answer["statusCode"]) == REFUSALS[kind]
    headers = answer["responseParameters"]
    assert headers["gatewayresponse.header.Content-Type"] == "'application/problem+json'"


def test_no_refusal_is_left_out(template: Template) -> None:
    assert body(template)["x-amazon-apigateway-gateway-responses"].keys() == REFUSALS.keys()


def test_a_throttled_caller_is_told_when_to_come_back(template: Template) -> None:
    answer = body(template)["x-amazon-apigateway-gateway-responses"]["THROTTLED"]
    assert answer["responseParameters"]["gatewayresponse.header.Retry-After"] == "'1'"


def test_one_client_cannot_take_all_concurrency(template: Template) -> None:
    """Trap 42: the default is the whole account's rate."""
    (settings,) = only(expand(ApiRateLimit=3, ApiBurstLimit=4), "AWS::ApiGateway::Stage")["MethodSettings"]
    assert (settings["ResourcePath"], settings["HttpMethod"]) == ("/*", "*")
    assert (settings["ThrottlingRateLimit"], settings["ThrottlingBurstLimit"]) == (3, 4)
    assert template.parameters["ApiRateLimit"]["Default"] <= 1000


def test_payloads_stay_out_of_logs_and_logging_is_off(template: Template) -> None:
    """Trap 26: a stage with logs fails to create without the account's role, which is not ours to overwrite."""
    logged = expand(ApiLogs="true")
    for stage in (only(template, "AWS::ApiGateway::Stage"), only(logged, "AWS::ApiGateway::Stage")):
        assert all(not it["DataTraceEnabled"] and it["LoggingLevel"] == "OFF" for it in stage["MethodSettings"])
    assert "AccessLogSetting" not in only(template, "AWS::ApiGateway::Stage")
    json.loads(only(logged, "AWS::ApiGateway::Stage")["AccessLogSetting"]["Format"])
    assert not logged.of_type("AWS::ApiGateway::Account")


def test_it_has_one_stage_at_one_regional_endpoint(template: Template) -> None:
    """Traps 20 and 43: SAM adds a stage "Stage" without our settings, and the endpoint is EDGE by default."""
    assert only(template, "AWS::ApiGateway::Stage")["StageName"] == "live"
    assert "StageName" not in only(template, "AWS::ApiGateway::Deployment")
    assert only(template, "AWS::ApiGateway::RestApi")["EndpointConfiguration"] == {"Types": ["REGIONAL"]}


def test_a_body_reaches_us_byte_by_byte(template: Template) -> None:
    """Trap 41: a body that is handed over as text has its invalid UTF-8 replaced, and what is stored was never sent."""
    gateway = only(template, "AWS::ApiGateway::RestApi")
    assert gateway["BinaryMediaTypes"] == ["*/*"]
    assert gateway["Body"]["x-amazon-apigateway-binary-media-types"] == ["*/*"]


def test_a_changed_parameter_reaches_the_stage() -> None:
    """Trap 22: unless told to deploy always, SAM names a deployment by a hash that knows no parameters."""
    assert "\n      AlwaysDeploy: true" in (ROOT / "template.yaml").read_text()


def test_the_url_of_the_stage_is_an_output(template: Template) -> None:
    url = template.outputs["ApiUrl"]["Value"]["Fn::Sub"]
    assert url == "https://${Gateway}.execute-api.${AWS::Region}.${AWS::URLSuffix}/live"
