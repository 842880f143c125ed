"""What a job, a slot and an idle month use of AWS, by the counts that tests hold and the CPU that was measured.

Assumed, and measured nowhere here: how long AWS lets a call wait, what Lambda itself logs of an invocation, and
that processors are as fast as the one that was measured. Lambda gives a core to 1,769 MB, and a part of it to less.
"""

from collections import Counter
from collections.abc import Mapping

from benchmarks.counts import (
    CALLS,
    CHUNK_UNITS,
    CPU_MS,
    FAILED_UNITS,
    IDLE_METRICS,
    JOB_UNITS,
    LOGGED,
    LOOKS,
    SEARCH,
    SLOT_UNITS,
)
from benchmarks.prices import Amounts, Item, summed, times
from onthedot.adapters.sizes import UNIT
from onthedot.rules.planning import MOST_JOBS
from onthedot.testing.functions import functions_of
from onthedot.testing.template import HERE, read
from onthedot.wiring import THREADS

Calls = Mapping[str, float]

TEMPLATE = read(HERE, {})
FUNCTIONS = functions_of(TEMPLATE)
SHARDS = int(FUNCTIONS[0].variables["ONTHEDOT_SHARDS"])
SOURCES = sum(len(function.queues) for function in FUNCTIONS)
ALARMS = len(TEMPLATE.of_type("AWS::CloudWatch::Alarm"))
MEMORY_MB = int(TEMPLATE.globals["Function"]["MemorySize"])
CORES = MEMORY_MB / 1_769
GB = 1_000_000_000

DYNAMODB_MS, TRANSACTION_MS, SQS_MS = 5, 10, 10
PLATFORM_BYTES = 270
"""START, END and REPORT."""
SQS = {"SendMessageBatch", "SendMessage", "ChangeMessageVisibility", "ReceiveMessage", "DeleteMessage"}
BROUGHT = {"ReceiveMessage": 1, "DeleteMessage": 1}
"""What Lambda asks of SQS for a message that comes alone, and we pay."""
POLLERS, POLLS_A_MINUTE = 5, 3
"""Lambda keeps five for each source that has a MaximumConcurrency, and each poll waits 20 s for a message.
Source: docs.aws.amazon.com/lambda, services-sqs-scaling; github.com/getlift/lift/issues/132 saw 15 a minute."""
MINUTES, HOURS = 43_800, 730
"""A month."""
ITEM_BYTES = UNIT + 100
"""A job that costs one unit is no larger; 100 bytes are DynamoDB's own. Kept for 30 days, in the backup too."""
ENTRY_BYTES, PAGE_BYTES = 200, 4_096
"""An entry of an index, keys alone; what half a read unit reads."""
EVENTUAL = 0.5


def create_single(step: str) -> Amounts:
    """Return a job through the API, by a request of its own."""
    work = invoked(CPU_MS["create, single"], CALLS[step], LOGGED["create"])
    return summed({Item.GATEWAY: 1}, work, create_by_library(step))


def create_in_batch(most: int = 500) -> Amounts:
    """Return a job through the API, in a request with as many as it takes."""
    calls, share = _each(CALLS["create ten at once, near"], 10), 1 / most
    work = invoked(CPU_MS["create, batches of 500"], _each(calls, THREADS), LOGGED["create"], share)
    return summed({Item.GATEWAY: share}, work, stored(), asked(calls), {Item.WRITES: JOB_UNITS["create"]})


def create_by_library(step: str) -> Amounts:
    """Return a job that the caller's own function writes; the caller's time is the caller's."""
    return summed(stored(), asked(CALLS[step]), {Item.WRITES: JOB_UNITS["create"]})


def hand_over() -> Amounts:
    """Return a far job's share of what a look at its shard does more than an idle one."""
    calls = _each(_more(CALLS["two shards, 25 entries in one"]), 25)
    reads = {Item.READS: EVENTUAL * ENTRY_BYTES / PAGE_BYTES}
    return summed(invoked(CPU_MS["hand-over, 10,000 jobs"], calls, 0, 0), asked(calls), reads)


def run_job() -> Amounts:
    """Return a message, one start, a handler that does nothing, one finish."""
    return _run(CALLS["run a job"], JOB_UNITS["start"] + JOB_UNITS["finish"], LOGGED["run"])


def fail_once() -> Amounts:
    """Return an attempt that fails, and the message of the one that follows."""
    begun = CALLS["run a job"] | {"UpdateItem": 1}
    ended = CALLS["an attempt that fails, the next near"]
    calls = {operation: begun.get(operation, 0) + ended.get(operation, 0) for operation in {*begun, *ended}}
    return _run(calls, sum(FAILED_UNITS.values()), LOGGED["fail"])


def run_slot() -> Amounts:
    """Return the same for a slot's job, which reads its schedule too."""
    work = _run(CALLS["run a slot's job"], SLOT_UNITS["start"] + SLOT_UNITS["finish"], LOGGED["run"])
    return summed(work, {Item.READS: 1})


def plan_alone() -> Amounts:
    """Return a slot that is the only one of its shard's look."""
    more = _more(CALLS["two shards, one slot to plan"])
    return _planned("planning, 1,000 schedules on one minute", more, SLOT_UNITS["plan"], 1)


def plan_one_of_page() -> Amounts:
    """Return a slot of a hundred schedules that share a minute."""
    more = _each(_more(CALLS["two shards, a page of slots in one"]), 100)
    return _planned("planning, 1,000 schedules on one minute", more, SLOT_UNITS["plan"], 1, THREADS)


def plan_one_of_chunk() -> Amounts:
    """Return a slot of one schedule that has as many to plan at once as a transaction takes."""
    each, transaction = CHUNK_UNITS
    more = _each(_more(CALLS["two shards, one slot to plan"]), MOST_JOBS)
    calls = {**more, "SendMessageBatch": -(-MOST_JOBS // 10) / MOST_JOBS}
    row = "planning, 10,000 slots of full timetables"
    return _planned(row, calls, each + transaction / MOST_JOBS, 1 / MOST_JOBS)


def scheduler_alone() -> Amounts:
    """Return EventBridge Scheduler invoking a function that does nothing."""
    return summed({Item.SCHEDULER: 1}, invoked(1, {}, 0))


def claim_send_delete() -> Amounts:
    """Return Dynein's protocol: written, claimed and deleted; a message of its own; a function that does nothing."""
    calls = {"PutItem": 1, "UpdateItem": 1, "DeleteItem": 1, "SendMessage": 1}
    reads = {Item.READS: EVENTUAL * ITEM_BYTES / PAGE_BYTES}
    return summed({Item.WRITES: 3}, reads, asked(calls), asked(BROUGHT), invoked(1, {}, 0))


def idle_month(shards: int) -> Amounts:
    """Return a deployment in which nothing happens, without its alarms."""
    ticks, looks = MINUTES, MINUTES * shards
    hour = idle_calls(60, shards)
    month = {operation: count * HOURS for operation, count in hour.items()}
    look = _each(LOOKS, 2)
    work = [
        times(invoked(CPU_MS["idle, ticks"], CALLS["tick"] | SEARCH, LOGGED["tick"]), ticks),
        times(invoked(CPU_MS["idle, looks"], look, LOGGED["look"]), looks),
    ]
    units = {Item.WRITES: month["UpdateItem"], Item.READS: month["Query"] * EVENTUAL + month["Scan"]}
    polls = {Item.QUEUES: SOURCES * POLLERS * POLLS_A_MINUTE * MINUTES}
    timer = {Item.SCHEDULER: ticks, Item.METRICS: len(IDLE_METRICS)}
    return summed(*work, units, timer, polls, asked(month), times(asked(BROUGHT), looks))


def idle_calls(minutes: int, shards: int) -> Counter[str]:
    """Return the calls of our functions in so many idle minutes, in one of which all shards are swept."""
    found: Counter[str] = Counter()
    for calls, count in (
        (CALLS["tick"] | SEARCH, minutes),
        (_each(LOOKS, 2), minutes * shards),
        (_each(_less(CALLS["two shards, first look"], CALLS["two shards, idle"]), 2), shards),
    ):
        found.update({operation: round(made * count) for operation, made in calls.items()})
    return found


def asked(calls: Calls) -> Amounts:
    """Return the requests to SQS among some calls."""
    return {Item.QUEUES: sum(count for operation, count in calls.items() if operation in SQS)}


def invoked(cpu_ms: float, calls: Calls, logged: float, requests: float = 1) -> Amounts:
    """Return requests of a function, with so much CPU, calls to wait for one after the other, and bytes logged."""
    waited = sum(count * _wait_ms(operation) for operation, count in calls.items())
    logs = (logged + requests * PLATFORM_BYTES) / GB
    seconds = (cpu_ms / CORES + waited) / 1_000
    return {
        Item.INVOCATIONS: requests,
        Item.GB_SECONDS: seconds * MEMORY_MB / 1_024,
        Item.LOGS: logs,
        Item.LOGS_KEPT: logs,
    }


def stored() -> Amounts:
    """Return a job's item for a month, and its backup."""
    return {Item.STORED: ITEM_BYTES / GB, Item.BACKUP: ITEM_BYTES / GB}


def _run(calls: Calls, units: float, logged: float) -> Amounts:
    cpu = CPU_MS["worker, CPU"] * sum(calls.values()) / sum(CALLS["run a job"].values())
    return summed(invoked(cpu, calls, logged), asked(calls), asked(BROUGHT), {Item.WRITES: units})


def _planned(row: str, calls: Calls, units: float, rows: float, at_once: int = 1) -> Amounts:
    work = invoked(CPU_MS[row], _each(calls, at_once), LOGGED["plan"] * rows, 0)
    reads = rows * (1 + EVENTUAL * ENTRY_BYTES / PAGE_BYTES)
    return summed(work, stored(), asked(calls), {Item.WRITES: units, Item.READS: reads})


def _more(calls: Calls) -> Calls:
    return _less(calls, CALLS["two shards, idle"])


def _less(calls: Calls, others: Calls) -> Calls:
    return {operation: count - others.get(operation, 0) for operation, count in calls.items()}


def _each(calls: Calls, among: int) -> Calls:
    return {operation: count / among for operation, count in calls.items()}


def _wait_ms(operation: str) -> int:
    return SQS_MS if operation in SQS else TRANSACTION_MS if operation == "TransactWriteItems" else DYNAMODB_MS
