"""Every table of `docs/cost.md` is what counts, measured CPU and prices come to; an idle hour is counted for real."""

import re
from collections import Counter
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from benchmarks import cost, uses
from benchmarks.counts import CALLS, CPU_MS, IDLE_METRICS, LOGGED
from benchmarks.prices import MILLION, PRICES, READ_UNIT_HOUR, WRITE_UNIT_HOUR, Item, beyond_free, dollars
from benchmarks.rows import read
from tests.support import jobs
from tests.support.lab import Lab
from tests.support.proving import IN_FULL

from onthedot import telemetry
from onthedot.rules.jobs import State

PAGE = cost.PAGE.read_text()
MINUTES = 60 if IN_FULL else 3
Logged = Callable[[], str]
BY_LAMBDA = {"ReceiveMessage", "DeleteMessage"}
IDLE_BYTES = LOGGED["tick"] + 2 * LOGGED["look"]
TABLES = uses.TEMPLATE.of_type("AWS::DynamoDB::Table")


def create(lab: Lab) -> None:
    lab.create("example.echo", id="report-2027-01", payload={"user": "u-1234567"}, delay=1)


def run(lab: Lab) -> None:
    assert lab.deliver("JobQueue") == 1


def plan(lab: Lab) -> None:
    """Let a slot become a job, in one of two looks; the schedule was written before."""
    lab.time.shift(50 * 60)
    lab.tick()


def begin_to_fail(lab: Lab) -> None:
    lab.create("test.flaky", id="report-2027-02")


STEPS: dict[str, Callable[[Lab], None]] = {
    "idle": Lab.tick,
    "create": create,
    "run": run,
    "plan": plan,
    "created": begin_to_fail,
    "fail": run,
}


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Logged:
    """Return what reads all that was logged since it was last asked."""
    stream = StringIO()
    monkeypatch.setattr(telemetry.logger.registered_handler, "stream", stream)

    def found() -> str:
        text = stream.getvalue() + capsys.readouterr().out
        stream.seek(0)
        stream.truncate()
        return text

    return found


def test_its_tables_are_what_is_computed() -> None:
    """`python -m benchmarks.cost` writes them."""
    assert cost.written(PAGE) == PAGE


def test_an_idle_deployment_makes_the_calls_that_are_priced(logged: Logged) -> None:
    """From its first minute, in which each shard is swept, as once in each hour."""
    with Lab(Shards=uses.SHARDS) as lab:
        lab.calls.clear()
        for _ in range(MINUTES):
            lab.time.shift(60)
            lab.tick()
        made = Counter(call.operation for call in lab.calls)
    brought = {operation: made.pop(operation) for operation in BY_LAMBDA}
    assert made == uses.idle_calls(MINUTES, uses.SHARDS)
    assert brought["DeleteMessage"] == MINUTES * uses.SHARDS, "each look was one message, in an invocation of its own"
    metrics = re.findall(r'"Name":"(\w+)"', logged())
    assert Counter(metrics) == {
        name: MINUTES * (1 if name != "OldestOverdue" else uses.SHARDS) for name in IDLE_METRICS
    }


def test_an_idle_month_costs_less_than_a_dollar_in_an_account_that_has_nothing_else() -> None:
    month = uses.idle_month(uses.SHARDS)
    assert beyond_free(month) < 1
    assert dollars(month) < 3


def test_each_source_keeps_five_pollers() -> None:
    """MaximumConcurrency is what keeps Lambda from going down to two."""
    events = [event for it in uses.TEMPLATE.of_type("AWS::Serverless::Function").values() for event in _events(it)]
    assert len(events) == uses.SOURCES == 3
    assert all("MaximumConcurrency" in event["ScalingConfig"] for event in events)
    assert uses.idle_month(1)[Item.QUEUES] > 5 * 3 * 60 * 24 * 30 * uses.SOURCES


def _events(function: dict[str, Any]) -> list[dict[str, Any]]:
    return [it["Properties"] for it in function.get("Events", {}).values() if it["Type"] == "SQS"]


def test_what_is_logged_is_what_is_priced(lab: Lab, logged: Logged) -> None:
    """Within a tenth: names and numbers are longer or shorter. A tick and two looks are told together."""
    found = {}
    lab.schedule("report-weekly", cron="0 9 * * *", handler="example.echo")
    lab.tick()
    for name, step in STEPS.items():
        lab.time.shift(60)
        logged()
        step(lab)
        found[name] = len(logged())
    priced = LOGGED | {"created": LOGGED["create"], "idle": IDLE_BYTES, "plan": LOGGED["plan"] + IDLE_BYTES}
    assert found == {name: pytest.approx(priced[name], rel=0.1) for name in STEPS}


def test_most_of_what_a_job_logs_is_lines_that_a_level_leaves_out(lab: Lab, logged: Logged) -> None:
    logged()
    create(lab)
    lab.time.shift(1)
    run(lab)
    whole = len(logged()) + 2 * uses.PLATFORM_BYTES
    metric = LOGGED["run"] - 2 * LOGGED["create"]
    assert metric > 0
    assert (whole - metric - 2 * uses.PLATFORM_BYTES) / whole == pytest.approx(3 / 5, abs=0.04)


def test_the_cpu_that_is_priced_was_measured() -> None:
    """Within a factor of two: `make bench` writes its figures anew, and machines are noisy."""
    rates = {row.name: row.value for row in read()}
    for name, milliseconds in CPU_MS.items():
        assert 0.5 < milliseconds * rates[name] / 1_000 < 2, name


def test_what_it_shows_of_the_library_writes_jobs(lab: Lab) -> None:
    """As a function of a user's would, or a handler: the same calls as the API's, and no request of API Gateway."""
    (shown,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    module: dict[str, Any] = {}
    exec(shown, module)
    lab.calls.clear()
    module["write"]({"id": "mine", "handler": "example.echo", "delay": 5})
    assert Counter(call.operation for call in lab.calls) == CALLS["create, near"]
    lab.advance(seconds=10)
    assert jobs.job("mine").state is State.SUCCEEDED


def test_what_its_sentences_say_of_shares_is_so() -> None:
    single, batch = (dollars(cost.WAYS[way]) for way in (cost.SINGLE, cost.BATCH))
    assert dollars(cost.WAYS[cost.SINGLE], Item.GATEWAY) / single == pytest.approx(1 / 3, abs=0.03)
    assert batch / single == pytest.approx(3 / 5, abs=0.03)
    assert dollars(cost.WAYS[cost.DYNEIN]) / dollars(cost.WAYS[cost.LIBRARY]) == pytest.approx(1 / 2, abs=0.05)
    assert pytest.approx(2, abs=0.1) == 5 * MILLION / (uses.MINUTES * 60)
    assert WRITE_UNIT_HOUR / 3_600 * MILLION / PRICES[Item.WRITES].dollars == pytest.approx(0.29, abs=0.005)
    assert dollars({Item.WRITES: 105 * MILLION}) == pytest.approx(66, abs=0.5)
    month = uses.idle_month(uses.SHARDS)
    assert max((item for item in Item), key=lambda item: dollars(month, item)) is Item.QUEUES
    places = [1 + len(table.get("GlobalSecondaryIndexes", [])) for table in TABLES.values()]
    assert (sum(places), f"{sum(places) * 730 * (WRITE_UNIT_HOUR + READ_UNIT_HOUR):.2f}") == (8, "4.56")
