"""Each function's role names its actions and resources: no more, and no less."""

import re
from collections import defaultdict
from typing import Any

import pytest
from tests.template.expansion import FUNCTIONS, Template, expand, listed, referenced

Grants = dict[str, set[str]]

KEY = "arn:aws:kms:eu-central-1:111122223333:key/k"
RECEIVE = {"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ChangeMessageVisibility"}
SEND = {"sqs:SendMessage"}
LOOK = {"sqs:GetQueueAttributes"}
LOG = {"logs:CreateLogStream", "logs:PutLogEvents"}
QUERY = {"dynamodb:Query"}


def items(*operations: str) -> set[str]:
    """Return actions on a table; a transaction has none of its own (trap 47)."""
    return {f"dynamodb:{operation}" for operation in operations}


EXPECTED: dict[str, Grants] = {
    "ApiRole": {
        "JobsTable": items("GetItem", "BatchGetItem", "PutItem", "UpdateItem", "DeleteItem", "Query"),
        "SchedulesTable": items("GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "Scan"),
        "SchedulesTable/index/due": QUERY,
        "JobsTable/index/agenda": QUERY,
        "JobsTable/index/groups": QUERY,
        "JobsTable/index/dead": QUERY,
        "ShardsTable": items("Scan"),
        "JobQueue": SEND | LOOK,
        "JobDeadLetterQueue": LOOK,
        "ShardQueue": LOOK,
        "ShardDeadLetterQueue": LOOK,
        "StrayQueue": LOOK,
        "TimerDeadLetterQueue": LOOK,
        "ApiLog": LOG,
    },
    "TickRole": {"ShardsTable": items("Scan"), "ShardQueue": SEND, "TickLog": LOG},
    "DispatchRole": {
        "ShardsTable": items("UpdateItem"),
        "JobsTable": items("BatchGetItem", "PutItem", "DeleteItem", "Query"),
        "JobsTable/index/agenda": QUERY,
        "SchedulesTable": items("GetItem", "BatchGetItem", "PutItem", "UpdateItem"),
        "SchedulesTable/index/due": QUERY,
        "SchedulesTable/index/timed": QUERY,
        "JobQueue": SEND,
        "ShardQueue": SEND | RECEIVE,
        "StrayQueue": SEND,
        "DispatchLog": LOG,
    },
    "WorkerRole": {
        "JobsTable": items("GetItem", "BatchGetItem", "PutItem", "UpdateItem", "DeleteItem", "Query"),
        "SchedulesTable": items("GetItem", "PutItem", "UpdateItem"),
        "JobQueue": RECEIVE | SEND,
        "StrayQueue": SEND,
        "WorkerLog": LOG,
    },
    "DeadLettersRole": {
        "JobsTable": items("GetItem", "BatchGetItem", "PutItem", "UpdateItem", "DeleteItem", "Query"),
        "SchedulesTable": items("GetItem", "PutItem", "UpdateItem"),
        "JobQueue": SEND,
        "StrayQueue": SEND,
        "JobDeadLetterQueue": RECEIVE,
        "DeadLettersLog": LOG,
    },
    "TimerRole": {"Tick": {"lambda:InvokeFunction"}, "TimerDeadLetterQueue": SEND},
}


def statements(role: dict[str, Any]) -> list[dict[str, Any]]:
    """Return every statement of a role's own policies."""
    return [it for policy in role["Policies"] for it in policy["PolicyDocument"]["Statement"]]


def grants(role: dict[str, Any]) -> Grants:
    """Return what a role allows, by resource."""
    allowed: Grants = defaultdict(set)
    for statement in statements(role):
        assert statement.keys() == {"Effect", "Action", "Resource"}
        assert statement["Effect"] == "Allow"
        for resource in listed(statement["Resource"]):
            allowed[referenced(resource)] |= set(listed(statement["Action"]))
    return dict(allowed)


def test_there_is_no_role_but_these(template: Template) -> None:
    assert template.of_type("AWS::IAM::Role").keys() == EXPECTED.keys()


@pytest.mark.parametrize("name", EXPECTED)
def test_a_role_allows_exactly_this(template: Template, name: str) -> None:
    """Traps 14 and 47: SAM's templates leave out ChangeMessageVisibility and some writes, and grant scans."""
    assert grants(template.properties(name)) == EXPECTED[name]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_function_has_a_role_of_its_own(template: Template, name: str) -> None:
    assert referenced(template.properties(name)["Role"]) == f"{name}Role"


def test_nothing_is_allowed_on_everything(template: Template) -> None:
    for role in template.of_type("AWS::IAM::Role").values():
        for statement in statements(role):
            assert "*" not in "".join(listed(statement["Action"]))
            assert not any("*" in str(it) for it in listed(statement["Resource"]))


def test_tracing_alone_needs_a_star_and_is_off(template: Template) -> None:
    """Trap 57: X-Ray knows no resources, and bills by trace."""
    assert template.properties("Worker")["TracingConfig"] == {"Mode": "PassThrough"}
    traced = expand(Tracing="Active")
    xray = {"xray:PutTraceSegments", "xray:PutTelemetryRecords"}
    assert all(grants(traced.properties(f"{it}Role"))["*"] == xray for it in FUNCTIONS)


def test_policies_stand_inside_their_roles(template: Template) -> None:
    """Trap 25: an event source made before a separate policy is refused; managed policies hide stars (14)."""
    kinds = {it["Type"] for it in template.resources.values()}
    assert not kinds & {"AWS::IAM::Policy", "AWS::IAM::ManagedPolicy", "AWS::IAM::RolePolicy"}
    assert not any("ManagedPolicyArns" in it for it in template.of_type("AWS::IAM::Role").values())


@pytest.mark.parametrize("name", EXPECTED)
def test_an_own_key_may_be_used_by_every_role_that_touches_a_table_or_queue(name: str) -> None:
    """Trap 48: senders need GenerateDataKey as well as Decrypt."""
    allowed = grants(expand(KmsKeyArn=KEY).properties(name))
    assert allowed == EXPECTED[name] | {KEY: {"kms:GenerateDataKey", "kms:Decrypt"}}


def test_what_is_shipped_reaches_only_what_the_deployment_names() -> None:
    """The worker runs what any caller of the API asks for: without a name there is no target and no secret."""
    queue, function = "arn:aws:sqs:eu-central-1:111122223333:q", "arn:aws:lambda:eu-central-1:111122223333:function:f"
    secret = "arn:aws:secretsmanager:eu-central-1:111122223333:secret:hooks-??????"
    allowed = expand(AllowedTargetArns=f"{queue},{function}", AllowedSecretArns=secret)
    send = {"sqs:SendMessage", "lambda:InvokeFunction", "events:PutEvents"}
    more = {queue: send, function: send, secret: {"secretsmanager:GetSecretValue"}}
    for name, expected in EXPECTED.items():
        assert grants(allowed.properties(name)) == expected | (more if name == "WorkerRole" else {})


@pytest.mark.parametrize("parameter", ["AllowedTargetArns", "AllowedSecretArns"])
@pytest.mark.parametrize("everything", ["*", "arn:*", "arn:aws:*", "arn:aws:s3:::b", "arn:*:sqs:r:1:q"])
def test_nobody_allows_everything_in_one_word(template: Template, parameter: str, everything: str) -> None:
    pattern = template.parameters[parameter]["AllowedPattern"]
    assert re.search(pattern, "")
    assert not re.search(pattern, everything)


def test_only_their_service_may_take_the_roles(template: Template) -> None:
    for name, role in template.of_type("AWS::IAM::Role").items():
        (statement,) = role["AssumeRolePolicyDocument"]["Statement"]
        service = "scheduler" if name == "TimerRole" else "lambda"
        assert statement["Principal"] == {"Service": f"{service}.amazonaws.com"}


def test_only_our_gateway_may_invoke_a_function(template: Template) -> None:
    for permission in template.of_type("AWS::Lambda::Permission").values():
        assert permission["Principal"] == "apigateway.amazonaws.com"
        assert "${__ApiId__}" in permission["SourceArn"]["Fn::Sub"][0]
