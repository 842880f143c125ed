"""What AWS asks for what is counted, in dollars, in us-east-1, before tax; other regions mostly ask more.

`free` is what AWS gives each account each month for as long as it exists; offers for the first year are left out.
AWS's own pages fill in their figures by script, so each is read where somebody wrote it down, on 2026-11-30.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

MILLION = 1_000_000


class Item(StrEnum):
    """What is paid for."""

    GATEWAY = "API Gateway, requests"
    SCHEDULER = "EventBridge Scheduler, invocations"
    INVOCATIONS = "Lambda, requests"
    GB_SECONDS = "Lambda, GB-seconds (arm64)"
    WRITES = "DynamoDB, write units on demand"
    READS = "DynamoDB, read units on demand"
    STORED = "DynamoDB, GB kept for a month"
    BACKUP = "DynamoDB, GB of point-in-time recovery for a month"
    QUEUES = "SQS, requests of up to 64 KB"
    LOGS = "CloudWatch, GB of logs"
    LOGS_KEPT = "CloudWatch, GB of logs kept for a month"
    METRICS = "CloudWatch, metrics of our own for a month"
    ALARMS = "CloudWatch, alarms for a month"


@dataclass(frozen=True, slots=True)
class Price:
    """So many dollars for `each` of it, beyond what is `free` in a month."""

    dollars: float
    each: float
    free: float
    source: str

    def of(self, amount: float) -> float:
        """Return what an amount costs, of which nothing is free."""
        return amount / self.each * self.dollars

    def beyond_free(self, amount: float) -> float:
        """Return what an amount costs in an account that has nothing else."""
        return self.of(max(amount - self.free, 0))


APPROPRI8 = "appropri8-astro.pages.dev, deploying-simple-api-aws"
CLOUDWATCH = "cloudburn.io, amazon-cloudwatch-pricing; free: aws.amazon.com/cloudwatch/pricing"
ON_DEMAND = "airbyte.com, dynamodb-pricing"
PAGE = "aws.amazon.com/dynamodb/pricing, from memory"

PRICES: Mapping[Item, Price] = {
    Item.GATEWAY: Price(3.50, MILLION, 0, APPROPRI8),
    Item.SCHEDULER: Price(1.00, MILLION, 14 * MILLION, "cloudburn.io, amazon-eventbridge-pricing"),
    Item.INVOCATIONS: Price(0.20, MILLION, MILLION, APPROPRI8),
    Item.GB_SECONDS: Price(0.0000133334, 1, 400_000, "git.mcrn.ar, lambda-13-cost"),
    Item.WRITES: Price(0.625, MILLION, 0, ON_DEMAND),
    Item.READS: Price(0.125, MILLION, 0, ON_DEMAND),
    Item.STORED: Price(0.25, 1, 25, PAGE),
    Item.BACKUP: Price(0.20, 1, 0, PAGE),
    Item.QUEUES: Price(0.40, MILLION, MILLION, "cloudburn.io, amazon-sqs-pricing"),
    Item.LOGS: Price(0.50, 1, 5, CLOUDWATCH),
    Item.LOGS_KEPT: Price(0.03, 1, 5, CLOUDWATCH),
    Item.METRICS: Price(0.30, 1, 10, CLOUDWATCH),
    Item.ALARMS: Price(0.10, 1, 10, CLOUDWATCH),
}
"""`METRICS` and `ALARMS` are billed by the hour; a metric costs nothing in an hour in which it was not sent."""

WRITE_UNIT_HOUR, READ_UNIT_HOUR = 0.00065, 0.00013
"""Provisioned: a write or a read each second, for an hour. Source: rubydoc.info, DynamoAutoscale::UnitCost."""

Amounts = Mapping[Item, float]


def summed(*uses: Amounts) -> Amounts:
    """Return how much several uses come to."""
    return {item: sum(use.get(item, 0) for use in uses) for item in Item}


def times(use: Amounts, count: float) -> Amounts:
    """Return what so many of a use come to."""
    return {item: amount * count for item, amount in use.items()}


def dollars(use: Amounts, *items: Item) -> float:
    """Return what these items of a use cost, or all, when nothing is free."""
    return sum(PRICES[item].of(use.get(item, 0)) for item in items or Item)


def beyond_free(use: Amounts, *items: Item) -> float:
    """Return what is left to pay of these items, or of all, in an account that has nothing else."""
    return sum(PRICES[item].beyond_free(use.get(item, 0)) for item in items or Item)
