"""Tables and queues of the template's making, for a race alone; what a queue waits for is as short as the spans."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from secrets import token_hex
from typing import Any

import boto3
from local import account
from tests.races.spans import RECEIVES, VISIBILITY_SECONDS
from tests.support.aside import beside

from onthedot.settings import QUEUES


@contextmanager
def places(endpoint: str, shards: int) -> Iterator[dict[str, str]]:
    """Make tables and queues on a local AWS; give the environment of the functions that work on them."""
    with account.isolated():
        sqs = boto3.client("sqs", endpoint_url=endpoint)
    mark = token_hex(4)
    with beside(endpoint, shards) as environment:
        urls = dict[str, str]()
        for name in sorted(QUEUES, key=lambda name: name in RECEIVES):  # who redrives comes after whom it redrives to
            urls[name] = _queue(sqs, name, mark, urls)
        yield environment | {f"ONTHEDOT_{name.upper()}_QUEUE_URL": url for name, url in urls.items()}


def _queue(sqs: Any, name: str, mark: str, urls: dict[str, str]) -> str:
    attributes = {"VisibilityTimeout": str(VISIBILITY_SECONDS.get(name, 30))}
    if name in RECEIVES:
        asked = sqs.get_queue_attributes(QueueUrl=urls[f"{name}_dead_letter"], AttributeNames=["QueueArn"])
        target = asked["Attributes"]["QueueArn"]
        attributes["RedrivePolicy"] = json.dumps({"deadLetterTargetArn": target, "maxReceiveCount": RECEIVES[name]})
    url: str = sqs.create_queue(QueueName=f"races-{name}-{mark}", Attributes=attributes)["QueueUrl"]
    return url
