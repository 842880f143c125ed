"""What AWS allows, as its pages say; read 2026-11-30. The names are the columns of the tables in docs/scale.md."""

from enum import StrEnum


class Limit(StrEnum):
    """What can hold jobs back."""

    API = "API's rate"  # requests that the gateway takes
    TABLE = "table's writes"  # write units of the jobs table
    AGENDA = "agenda's partitions"  # write units of the index partition in which a shard lies
    SCHEDULES = "schedules' writes"  # write units of the schedules table, and of its index
    DISPATCH = "dispatchers"  # looks at shards, side by side
    SOURCE = "queue's scaling"  # how fast Lambda adds invocations for a queue, and where it ends
    ENVIRONMENTS = "new environments"  # how fast a function gets them
    WORKERS = "workers"  # invocations that the deployment lets run
    ACCOUNT = "account's concurrency"
    IN_FLIGHT = "messages in flight"


PARTITION = 1_000
"""Units: writes a second of one partition, and so of one key.

Source: dynamodb developerguide, warm-throughput-scenarios.
"""
NEW_TABLE = 4_000
"""Units: writes a second of a new table and each index. Source: dynamodb developerguide, warm-throughput-scenarios."""
TABLE_QUOTA = 40_000
"""Units: writes a second of one table, by default. Source: dynamodb developerguide, ServiceQuotas."""
GATEWAY = 10_000
"""Units: requests a second of an account. Source: API Gateway's quotas, limits.html."""
ACCOUNT = 1_000
"""Concurrent executions of an account, by default. Source: lambda dg, lambda-concurrency."""
BURST, BURST_SECONDS = 1_000, 10
"""New environments of a function in each ten seconds. Source: lambda dg, scaling-behavior."""
SOURCE_START, SOURCE_MINUTE, SOURCE_MOST = 5, 300, 1_250
"""Invocations for a queue at first, more each minute, at most. Source: lambda dg, services-sqs-scaling."""
MOST_CONCURRENCY = 1_000
"""Of MaximumConcurrency. Source: lambda dg, services-sqs-scaling."""
OF_POLLER, POLLERS_MINUTE = 10, 1_000
"""Invocations for each provisioned poller, and how many more each minute.

Source: lambda dg, invocation-eventsourcemapping.
"""
MOST_READY, MOST_POLLERS = 200, 2_000
"""Pollers that may be kept ready, and that there may be. Source: lambda dg, services-sqs-parameters."""
IN_FLIGHT = 120_000
"""Messages received and not deleted. Source: SQS developer guide, quotas-queues."""
VCPU = 1_769
"""Units: MB of memory for which a function has one vCPU. Source: lambda dg, configuration-memory."""
OF_SLOT = 2
"""Write units of a transaction for each KB: those of a slot's job, of its schedule, and of the index of schedules."""
