"""What each step takes of AWS: calls, write units, what it logs. Tests count it anew, and `docs/cost.md` prices it.

`tests/unit/test_a_step_makes_exactly_these_calls.py` has every step, and reads from here those that are priced;
`tests/e2e/test_a_job_costs_five_write_units.py` and `test_a_slot_costs_ten_write_units.py` ask the emulator for units;
`tests/unit/test_the_page_on_cost_is_true.py` counts what is logged, and an idle deployment's hour.
"""

Calls = dict[str, int]

ONE_MESSAGE = {"SendMessageBatch": 1}
LOOKS, SEARCH = {"UpdateItem": 6, "Query": 12}, {"Query": 2}
"""Two looks that find nothing, four of six queries for schedules; at each tick one of them searches one more shard."""
IDLE = LOOKS | {"Query": LOOKS["Query"] + SEARCH["Query"]}
PLANNED = IDLE | {"BatchGetItem": 1}

CALLS: dict[str, Calls] = {
    "create, near": {"PutItem": 1} | ONE_MESSAGE,
    "create, far": {"PutItem": 1},
    "create ten at once, near": {"PutItem": 10} | ONE_MESSAGE,
    "run a job": {"UpdateItem": 2, "ChangeMessageVisibility": 1},
    "an attempt that fails, the next near": {"UpdateItem": 1} | ONE_MESSAGE,
    "run a slot's job": {"UpdateItem": 2, "ChangeMessageVisibility": 1, "GetItem": 1},
    "tick": {"Scan": 1} | ONE_MESSAGE,
    "two shards, idle": IDLE,
    "two shards, first look": {"UpdateItem": 8, "Query": 16},
    "two shards, 25 entries in one": IDLE | {"SendMessageBatch": 3},
    "two shards, one slot to plan": PLANNED | {"TransactWriteItems": 1, "SendMessageBatch": 1},
    "two shards, a page of slots in one": PLANNED | {"TransactWriteItems": 100, "SendMessageBatch": 10},
}
"""Without the receipts and deletions of messages, which are Lambda's. The first look at a shard sweeps it too."""

JOB_UNITS: dict[str, float] = {"create": 2, "start": 1, "finish": 2}
"""A small job, without a group."""
FAILED_UNITS: dict[str, float] = {"start": 1, "fail": 3}
"""An attempt that another follows."""
SLOT_UNITS: dict[str, float] = {"plan": 3 + 4, "start": 1, "finish": 2}
"""A slot that is planned alone."""
CHUNK_UNITS = 3.0, 4.0
"""Planning slots of one schedule in one transaction: for each, and for the transaction."""

LOGGED = {"create": 440, "run": 1_130, "fail": 1_230, "plan": 450, "tick": 240, "look": 200}
"""Bytes that our functions log, at the level INFO, metrics among them; a plan is told once for its schedule."""
IDLE_METRICS = {"TickAge", "WatermarkAge", "OldestOverdue"}
"""What is sent also when nothing happens: an alarm takes their silence for the fault."""

CPU_MS = {
    "create, single": 3.4,
    "create, batches of 500": 2.0,
    "hand-over, 10,000 jobs": 0.17,
    "worker, CPU": 5.3,
    "planning, 1,000 schedules on one minute": 2.6,
    "planning, 10,000 slots of full timetables": 0.21,
    "idle, looks": 8.8,
    "idle, ticks": 1.9,
}
"""By the rows of `results.jsonl`, rounded: what `make bench` measured for one of each, on one core of x86_64."""
