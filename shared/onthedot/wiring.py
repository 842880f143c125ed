"""The one place that knows all parts, and puts them together once for each container."""

import os
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar

import boto3

from onthedot.adapters.aws import CHECKED, CONFIG
from onthedot.adapters.indexes import DynamoIndexes
from onthedot.adapters.jobs import DynamoJobs
from onthedot.adapters.payloads import DynamoPayloads
from onthedot.adapters.schedules import DynamoSchedules
from onthedot.adapters.shards import DynamoShards
from onthedot.adapters.sqs import Held, JobQueue, QueueDepths, ShardQueue, StrayQueue
from onthedot.attempt import Attempts, policies_of
from onthedot.clock import SystemClock
from onthedot.handler import HANDLERS
from onthedot.outgoing.deliveries import Deliveries
from onthedot.outgoing.https import Wire
from onthedot.outgoing.secrets import Secrets
from onthedot.outgoing.targets import Targets
from onthedot.rules.policies import Policies
from onthedot.settings import Settings, from_environment
from onthedot.steps.ports import World
from onthedot.telemetry import Telemetry

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

A = TypeVar("A")
B = TypeVar("B")

THREADS = 16


@dataclass(frozen=True, slots=True)
class Threads:
    """Runs one function over many items, on threads that end before it returns: a frozen one would thaw later."""

    def __call__(self, function: Callable[[A], B], items: Iterable[A], /) -> list[B]:
        """Return the results in the items' order. Raises: what the function raises; no further item is begun then.

        Each thread takes the next item when it is done with one: a future for each cost a seventh of a hand-over's CPU.
        """
        all_items = list(items)
        if len(all_items) < 2:
            return [function(item) for item in all_items]
        left = enumerate(all_items)

        def take() -> list[tuple[int, B]]:
            try:
                return [(number, function(item)) for number, item in left]
            except BaseException:
                deque(left, maxlen=0)
                raise

        threads = min(THREADS, len(all_items))
        with ThreadPoolExecutor(threads) as pool:
            taken = [pool.submit(take) for _ in range(threads)]
        return [result for _, result in sorted(chain.from_iterable(each.result() for each in taken), key=itemgetter(0))]


@cache
def settings() -> Settings:
    """Return what this deployment sets."""
    return from_environment(os.environ)


@cache
def world() -> World:
    """Return the steps' world on AWS."""
    here, clock, threads, dynamodb = settings(), SystemClock(), Threads(), boto3.client("dynamodb", config=CONFIG)
    return World(
        clock=clock,
        jobs=DynamoJobs(dynamodb, clock, here.jobs_table, here.shards, here.timing.margin),
        schedules=DynamoSchedules(dynamodb, clock, here.schedules_table, here.jobs_table, here.shards),
        payloads=DynamoPayloads(dynamodb, clock, here.jobs_table, here.shards),
        indexes=DynamoIndexes(dynamodb, clock, here.jobs_table),
        shards=DynamoShards(dynamodb, clock, here.shards_table),
        queue=JobQueue(_sqs(), clock, threads, here.queue_urls["job"]),
        strays=StrayQueue(_sqs(), here.queue_urls["stray"]),
        depths=QueueDepths(_sqs(), clock, threads, here.queue_urls),
        journal=Telemetry(),
        side_by_side=threads,
        timing=here.timing,
        shard_count=here.shards,
    )


@cache
def shard_queue() -> ShardQueue:
    """Return the queue that asks dispatchers to look at shards."""
    return ShardQueue(_sqs(), settings().queue_urls["shard"])


@cache
def held(queue: str) -> Held:
    """Return what decides when a message of this queue is seen again."""
    return Held(_sqs(), settings().queue_urls[queue])


def attempts(left: timedelta) -> Attempts:
    """Return what runs the handlers that were imported, in an invocation that ends after this span."""
    clock, timing = world().clock, settings().timing
    return Attempts(HANDLERS, policies(), clock.now, clock.now() + left - timing.margin)


@cache
def policies() -> Policies:
    """Return what the handlers that were imported say of their attempts.

    Raises: ValueError when one may take longer than the function can give.
    """
    longest = settings().timing.max_timeout
    for handler in HANDLERS.values():
        if handler.timeout is not None and handler.timeout > longest:
            raise ValueError(f"the timeout of {handler.name} is {handler.timeout}; the worker can give {longest}")
    return policies_of(HANDLERS)


@cache
def deliveries() -> Deliveries:
    """Return what delivers HTTPS requests; their secrets' client is made when the first is asked for."""
    now = SystemClock().now
    return Deliveries(Wire(), Secrets(_secrets, now).key, now)


@cache
def targets() -> Targets:
    """Return whom jobs may reach on AWS."""
    return Targets(settings().allowed_targets, _client)


@cache
def _client(service: str, region: str) -> Any:
    return boto3.client(service, region_name=region, config=CHECKED)  # type: ignore[call-overload]


@cache
def _secrets() -> Any:
    return boto3.client("secretsmanager", config=CHECKED)


@cache
def _sqs() -> "SQSClient":
    return boto3.client("sqs", config=CONFIG)
