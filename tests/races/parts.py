"""The parts of a deployment, each a process that runs a function's own handler on what its queue shows, until killed.

Kept apart from the tests: what is imported here is there once, and each process is a copy of it.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from enum import StrEnum
from itertools import count
from pathlib import Path
from random import random
from types import SimpleNamespace
from typing import Any, NoReturn

import boto3
import tests.races.playing  # noqa: F401 - names what the jobs do
from botocore.exceptions import BotoCoreError, ClientError
from tests.races.journal import PATH, Reader, note
from tests.races.spans import SHORTER, shorten

import api
import dead_letters
import dispatch
import tick
import worker
from onthedot.adapters.aws import CONFIG

DUPLICATED = 0.1
"""How many of the messages are delivered twice: SQS does so now and then, and the emulator never."""
DISPATCH_MILLISECONDS = 14_000
"""Of which ten seconds are left when no further page is begun."""

Function = Callable[[Any, Any], Any]
Request = tuple[str, str, Any]
"""Method, path and body."""


class Part(StrEnum):
    """What a process does."""

    CLIENT = "client"  # asks the API for schedules and jobs, again until it is answered
    TICK = "tick"
    DISPATCH = "dispatch"
    WORKER = "worker"
    DEAD_LETTERS = "dead_letters"


def live(part: Part, environment: dict[str, str], number: int, home: Path) -> None:
    """Be a part of a deployment with this environment."""
    become(environment, log_in(home))
    match part:
        case Part.CLIENT:
            ask_for_all(asked_in(home, number))
        case Part.TICK:
            beat()
        case Part.DISPATCH:
            serve("SHARD", dispatch.handler, DISPATCH_MILLISECONDS)
        case Part.WORKER:
            serve("JOB", worker.handler, 120_000)
        case Part.DEAD_LETTERS:
            serve("JOB_DEAD_LETTER", dead_letters.handler, 30_000)


def log_in(home: Path) -> Path:
    """Return where the functions' log lines go."""
    return home / "functions.log"


def asked_in(home: Path, number: int) -> Path:
    """Return where a client finds what to ask for."""
    return home / f"asked-{number}.json"


def become(environment: dict[str, str], log: Path) -> None:
    """Take an environment and the shorter spans, and write the functions' log lines to a file."""
    os.environ.clear()
    os.environ.update(environment)
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    for stream in (1, 2):
        os.dup2(file, stream)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    shorten()


def beat() -> NoReturn:
    """Let the timer's minute be now, again and again."""
    while True:
        tick.handler({}, context("tick", 20_000))
        time.sleep(SHORTER["TICK"][1].total_seconds())


def serve(queue: str, function: Function, milliseconds: int) -> NoReturn:
    """Give what a queue shows to its function, a message at a time, and delete what it acknowledges."""
    sqs, url = boto3.client("sqs", config=CONFIG), os.environ[f"ONTHEDOT_{queue}_QUEUE_URL"]
    while True:
        try:
            _serve_once(sqs, url, function, milliseconds)
        except (BotoCoreError, ClientError):
            time.sleep(0.1)  # an emulator that is busy; the message comes back


def _serve_once(sqs: Any, url: str, function: Function, milliseconds: int) -> None:
    for message in sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=1, WaitTimeSeconds=1).get("Messages", []):
        note("delivered", body=message["Body"])
        if random() < DUPLICATED:
            sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=0)
        record = {name[0].lower() + name[1:]: message[name] for name in ("MessageId", "ReceiptHandle", "Body")}
        answer = function({"Records": [record]}, context(url.rpartition("/")[2], milliseconds))
        if not answer["batchItemFailures"]:
            sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])


def ask_for_all(asked: Path) -> NoReturn:
    """Send each request until it is answered well, and note that; one that was killed is sent again as it was."""
    call("GET", "/health")
    note("ready")
    while not asked.exists():
        time.sleep(0.05)
    done = {line["name"] for line in Reader(Path(os.environ[PATH])).read() if line["kind"] == "accepted"}
    requests = json.loads(asked.read_text(encoding="utf-8"))
    for method, path, body in (request for request in requests if _name(request) not in done):
        while not _accepted(path, call(method, path, body)):
            time.sleep(0.2)
        note("accepted", name=_name((method, path, body)), jobs=[job["id"] for job in body.get("jobs", [])])
    note("all_accepted")
    while True:
        time.sleep(60)


def _name(request: Request) -> str:
    _, path, body = request
    return path + "".join(job["id"] for job in body.get("jobs", [])[:1])


def _accepted(path: str, answer: tuple[int, Any]) -> bool:
    status, body = answer
    statuses = [result["status"] for result in body["results"]] if path == "/jobs/batch" and status == 200 else [status]
    assert all(each in (200, 201) or each >= 429 for each in statuses), body
    return all(each in (200, 201) for each in statuses)


def call(method: str, path: str, body: Any = None, **query: str) -> tuple[int, Any]:
    """Call the API's function as API Gateway does; return status and body."""
    event = {
        "httpMethod": method,
        "path": path,
        "resource": "/{proxy+}",
        "headers": {"content-type": "application/json"},
        "multiValueHeaders": {"content-type": ["application/json"]},
        "queryStringParameters": query or None,
        "multiValueQueryStringParameters": {name: [value] for name, value in query.items()} or None,
        "requestContext": {"stage": "prod", "requestId": "races", "httpMethod": method, "path": path},
        "body": json.dumps(body) if body is not None else None,
        "isBase64Encoded": False,
    }
    answer = api.handler(event, context("api", 28_000))
    return answer["statusCode"], json.loads(answer["body"] or "null")


def context(name: str, milliseconds: int) -> Any:
    """Return what Lambda hands to a function."""
    return SimpleNamespace(
        function_name=name,
        memory_limit_in_mb=1024,
        invoked_function_arn=f"arn:aws:lambda:us-east-1:111122223333:function:{name}",
        aws_request_id=f"{os.getpid()}-{next(REQUESTS)}",
        get_remaining_time_in_millis=lambda: milliseconds,
    )


REQUESTS = count()
