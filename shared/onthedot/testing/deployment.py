"""Deploys a template into this process, on moto, and takes all of it back at the end.

What is changed meanwhile: the environment, the clock, boto3 and moto, and what a container keeps. A lab
inside a lab has tables and queues of its own; the outer one goes on when it ends.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, NoReturn

import boto3
import time_machine
from botocore import UNSIGNED
from botocore.client import BaseClient
from botocore.config import Config
from moto import mock_aws
from moto.core.base_backend import BackendDict
from moto.core.botocore_stubber import BotocoreStubber

from onthedot import wiring
from onthedot.adapters.aws import CHECKED, CONFIG
from onthedot.handler import HANDLERS
from onthedot.testing import inside
from onthedot.testing.calls import NOTED, Call, one_at_a_time
from onthedot.testing.functions import Function, ProcessEnded, functions_of
from onthedot.testing.quick import QUICKER
from onthedot.testing.runs import Noted
from onthedot.testing.straight import MADE, ask, straight
from onthedot.testing.template import REGION, Template

AWS = {
    "AWS_DEFAULT_REGION": REGION,
    "AWS_REGION": REGION,
    "AWS_ACCESS_KEY_ID": "lab",
    "AWS_SECRET_ACCESS_KEY": "lab",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "AWS_EC2_METADATA_DISABLED": "true",
}
TABLE = ("AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes", "LocalSecondaryIndexes", "BillingMode")
QUEUE = ("VisibilityTimeout", "MessageRetentionPeriod", "DelaySeconds", "RedrivePolicy")
MISSING = object()

Changes = list[tuple[Any, str, Any]]


@dataclass(frozen=True, slots=True)
class Deployment:
    """What was deployed: where tables and queues are, the functions, and all that happened in it."""

    time: time_machine.Traveller
    dynamodb: Any
    sqs: Any
    urls: dict[str, str]
    tables: dict[str, str]
    functions: tuple[Function, ...]
    calls: list[Call]
    noted: Noted


@contextmanager
def deployed(template: Template, start: datetime, environment: Mapping[str, str]) -> Iterator[Deployment]:
    """Deploy a template, and stop the clock at `start`."""
    calls, noted, functions = list[Call](), Noted(HANDLERS), functions_of(template)
    variables = {name: it for function in functions for name, it in function.variables.items()}
    with ExitStack() as stack:
        stack.enter_context(_environment(variables | AWS | dict(environment)))
        stack.enter_context(_noting(calls))
        stack.enter_context(_instead([*QUICKER, *_changes(template, noted)]))
        time = stack.enter_context(time_machine.travel(start, tick=False))
        stack.enter_context(mock_aws())
        stack.enter_context(_alone(template))
        dynamodb, sqs = boto3.client("dynamodb"), boto3.client("sqs")
        tables = _create_tables(dynamodb, template.of_type("AWS::DynamoDB::Table"))
        urls = _create_queues(sqs, template.of_type("AWS::SQS::Queue"))
        stack.enter_context(_fresh_container())
        stack.enter_context(_instead(_endings(functions)))
        yield Deployment(time, dynamodb, sqs, urls, tables, functions, calls, noted)


def forget() -> None:
    """Forget what a container has wired."""
    for cached in vars(wiring).values():
        if hasattr(cached, "cache_clear"):
            cached.cache_clear()


@contextmanager
def _fresh_container() -> Iterator[None]:
    """Begin as a container does that has wired nothing yet."""
    forget()
    try:
        yield
    finally:
        forget()


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Have these variables, and none that leads to an account of the caller's."""
    before = dict(os.environ)
    for name in before:
        if name.startswith("AWS_"):
            del os.environ[name]
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def _noting(calls: list[Call]) -> Iterator[None]:
    NOTED.append(calls)
    try:
        yield
    finally:
        NOTED.pop()


@contextmanager
def _instead(changes: Changes) -> Iterator[None]:
    """Put other things in the place of those that have these owners and names."""
    before = [(owner, name, vars(owner).get(name, MISSING)) for owner, name, _ in changes]
    for owner, name, value in changes:
        setattr(owner, name, value)
    try:
        yield
    finally:
        for owner, name, value in reversed(before):
            delattr(owner, name) if value is MISSING else setattr(owner, name, value)


def _changes(template: Template, noted: Noted) -> Changes:
    code = str(template.path.parent / template.globals.get("Function", {}).get("CodeUri", "."))
    changes: Changes = [
        (boto3, "client", _client_of(boto3.client)),
        (wiring, "HANDLERS", noted),
    ]
    if len(NOTED) == 1:  # a lab inside a lab has its calls noted by the same lock
        changes.append((BotocoreStubber, "__call__", one_at_a_time(BotocoreStubber.__call__)))
        changes.append((BaseClient, "_make_api_call", straight(vars(BaseClient)["_make_api_call"])))
    if code.rstrip("/") not in sys.path:
        changes.append((sys, "path", [*sys.path, code.rstrip("/")]))
    return changes


def _endings(functions: tuple[Function, ...]) -> Changes:
    """Let a function that ends its process end no more than its invocation. Imports all but the API, which is slow."""
    modules = [function.module for function in functions if not function.http]
    return [(module, "end_process", _end) for module in modules if hasattr(module, "end_process")]


def _end() -> NoReturn:
    raise ProcessEnded


@contextmanager
def _alone(template: Template) -> Iterator[None]:
    """Hide what a lab has that this one is in, and leave nothing behind where moto runs on."""
    others = [(backends, dict(backends)) for backends in vars(BackendDict)["_instances"]] if len(NOTED) > 1 else []
    for backends, _ in others:
        backends.clear()
    try:
        yield
    finally:
        dynamodb, sqs = inside.account()
        for name in template.of_type("AWS::DynamoDB::Table"):
            dynamodb.tables.pop(name, None)
        for name in template.of_type("AWS::SQS::Queue"):
            sqs.queues.pop(name, None)
        for backends, before in others:
            backends.clear()
            backends.update(before)


def _client_of(original: Callable[..., Any]) -> Callable[..., Any]:
    def client(service: str, *place: Any, **said: Any) -> Any:
        if place or said.keys() - {"config", "region_name"} or said.get("config") not in (None, CONFIG, CHECKED):
            return original(service, *place, **said)
        return _made_once(service, said.get("config"), said.get("region_name"))

    return client


@cache
def _made_once(service: Any, config: Config | None, region_name: str | None) -> Any:
    """Return a client, made once for all labs: to make one takes longer than most stories.

    Nobody checks signatures, and of tables moto needs nothing that stands in them. What a call is made with is checked
    here, though not on AWS: there it would take time.
    """
    signed = Config(signature_version=UNSIGNED) if service == "dynamodb" else Config()
    kept = (config or Config()).merge(signed).merge(Config(parameter_validation=True))
    client = boto3.Session().client(service, config=kept, region_name=region_name)
    MADE.add(client)
    return client


def _create_tables(dynamodb: Any, tables: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    for name, properties in tables.items():
        ask(dynamodb, "CreateTable", {"TableName": name} | {key: properties[key] for key in TABLE if key in properties})
    return {name: name for name in tables}


def _create_queues(sqs: Any, queues: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Create queues, those first that others give their dead letters to."""
    urls: dict[str, str] = {}
    for name in sorted(queues, key=lambda name: "RedrivePolicy" in queues[name]):
        said = {key: queues[name][key] for key in QUEUE if key in queues[name]}
        attributes = {key: json.dumps(it) if isinstance(it, dict) else str(it) for key, it in said.items()}
        urls[name] = ask(sqs, "CreateQueue", {"QueueName": name, "Attributes": attributes})["QueueUrl"]
    return urls
