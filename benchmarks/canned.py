"""AWS that answers at once: what a benchmark then counts is our CPU, botocore's making and reading of calls included.

What it leaves out is the sending itself, for all designs alike; who makes more calls is spared more by that.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any
from zlib import crc32

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.httpsession import URLLib3Session
from tests.support.aside import environment, wired

from onthedot.adapters.aws import CONFIG
from onthedot.steps.ports import World

NOWHERE = "http://127.0.0.1:1"
SHARDS = 8
MESSAGE_ID, MD5 = "00000000-0000-4000-8000-000000000000", "0" * 32

Answer = Callable[[bytes], bytes]


@dataclass(frozen=True, slots=True)
class Call:
    """A call that was made: of which service, and with what."""

    service: str
    operation: str
    body: bytes


@contextmanager
def canned(answers: Mapping[str, Answer]) -> Iterator[tuple[World, list[Call]]]:
    """Give our world on an AWS that answers each operation as told, and the calls that are made."""
    calls: list[Call] = []

    def send(_: URLLib3Session, request: Any) -> AWSResponse:
        service, operation = _target(request)
        calls.append(Call(service, operation, request.body))
        body = answers[operation](request.body)
        return AWSResponse(request.url, 200, {"x-amz-crc32": str(crc32(body))}, _Raw(body))  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch, wired(environment(NOWHERE, SHARDS)) as world, quietly():
        patch.setattr(URLLib3Session, "send", send)
        yield world, calls


def client(service: str) -> Any:
    """Return a plain client, set as ours are: what it stands beside differs by design, not by settings."""
    return boto3.client(service, config=CONFIG)  # type: ignore[call-overload]


def always(answer: Any) -> Answer:
    """Return what answers each call with this."""
    body = json.dumps(answer).encode()
    return lambda _: body


def paged(pages: Iterator[bytes]) -> Answer:
    """Return what answers each call with the next page, and then with none."""
    none = json.dumps({"Items": [], "Count": 0, "ScannedCount": 0}).encode()
    return lambda _: next(pages, none)


def accepted(body: bytes) -> bytes:
    """Answer a SendMessageBatch: all are accepted."""
    return _accepted(body.count(b'"Id"'))


@cache
def _accepted(count: int) -> bytes:
    each = [{"Id": str(number), "MessageId": MESSAGE_ID, "MD5OfMessageBody": MD5} for number in range(count)]
    return json.dumps({"Successful": each}).encode()


def count(calls: Sequence[Call], operation: str) -> int:
    """Return how many calls were made of an operation."""
    return sum(call.operation == operation for call in calls)


@contextmanager
def quietly() -> Iterator[None]:
    """Send what is logged nowhere; writing it is part of the work."""
    sys.stdout.flush()
    kept = os.dup(1)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        try:
            yield
        finally:
            sys.stdout.flush()
            os.dup2(kept, 1)
            os.close(kept)


def _target(request: Any) -> tuple[str, str]:
    target = request.headers["X-Amz-Target"]
    text = target.decode() if isinstance(target, bytes) else str(target)
    service, _, operation = text.partition(".")
    return "sqs" if service == "AmazonSQS" else "dynamodb", operation


class _Raw:
    """The body of an answer."""

    def __init__(self, body: bytes) -> None:
        self.body = body

    def stream(self, **_: Any) -> Iterator[bytes]:
        """Return the whole body."""
        yield self.body
