"""Where MiniStack reads our template otherwise than AWS: set right after each deployment, so the template stays AWS's.

Source: ministack 1.5.33, its `_esm_sqs_*` and its IAM action for each SQS operation, tried 2026-11-29.
"""

import json
from collections.abc import Iterator
from typing import Any

import boto3

SENDS = "sqs:SendMessage"
SENDS_BATCHES = "sqs:SendMessageBatch"


def deployment(stack: str, endpoint: str) -> None:
    """Mend what was just deployed."""
    resources = boto3.client("cloudformation", endpoint_url=endpoint).get_paginator("list_stack_resources")
    for page in resources.paginate(StackName=stack):
        for resource in page["StackResourceSummaries"]:
            match resource["ResourceType"]:
                case "AWS::Lambda::EventSourceMapping":
                    _concurrency(resource["PhysicalResourceId"], endpoint)
                case "AWS::IAM::Role":
                    _batches(resource["PhysicalResourceId"], endpoint)


def _concurrency(source: str, endpoint: str) -> None:
    """Set the concurrency as a number: it keeps a template parameter as text, and then hands no message over at all."""
    functions = boto3.client("lambda", endpoint_url=endpoint)
    limit = int(functions.get_event_source_mapping(UUID=source)["ScalingConfig"]["MaximumConcurrency"])
    functions.update_event_source_mapping(UUID=source, ScalingConfig={"MaximumConcurrency": limit})


def _batches(role: str, endpoint: str) -> None:
    """Allow batches to whoever may send: AWS has no action for them and asks for SendMessage, it asks for one."""
    roles = boto3.client("iam", endpoint_url=endpoint)
    for name in roles.list_role_policies(RoleName=role)["PolicyNames"]:
        policy: Any = roles.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"]
        for actions in _sending(policy):
            actions.append(SENDS_BATCHES)
        roles.put_role_policy(RoleName=role, PolicyName=name, PolicyDocument=json.dumps(policy))


def _sending(policy: dict[str, Any]) -> Iterator[list[str]]:
    for statement in policy["Statement"]:
        if isinstance(statement["Action"], str):
            statement["Action"] = [statement["Action"]]
        if SENDS in statement["Action"] and SENDS_BATCHES not in statement["Action"]:
            yield statement["Action"]
