"""What docs/scale.md says is what comes out, of what was measured last and of what the template allows."""

from dataclasses import asdict
from typing import Any

import pytest
import yaml
from benchmarks.capacity import TABLES, tables
from benchmarks.rows import Row
from benchmarks.scale.deployment import Deployment
from benchmarks.scale.limits import MOST_CONCURRENCY, MOST_POLLERS, MOST_READY, NEW_TABLE
from benchmarks.scale.measured import RATES, measured
from benchmarks.scale.moving import MOST_BATCH
from benchmarks.scale.tables import SETTINGS, advice
from tests.support.proving import IN_FULL

import dispatch
from onthedot.rules.agenda import MOST_SHARDS
from onthedot.rules.timing import LONGEST_LOOK
from onthedot.testing.template import HERE, read

QUICK = ["ceilings"]
RENEWED = "`make capacity` computes the page anew"


def parameters() -> dict[str, Any]:
    class Loader(yaml.SafeLoader):
        pass

    Loader.add_multi_constructor("!", lambda *_: None)
    template: dict[str, Any] = yaml.load(HERE.read_text(), Loader)
    return dict(template["Parameters"])


@pytest.mark.parametrize("name", list(TABLES) if IN_FULL else QUICK)
def test_a_table_is_what_the_simulation_says(name: str) -> None:
    assert tables()[name] == TABLES[name](measured()), RENEWED


def test_the_first_rows_of_the_advice_are_what_the_simulation_says() -> None:
    head = advice(measured(), [30, 100])
    assert tables()["advice"].startswith(head), RENEWED


def test_every_table_of_the_page_is_computed() -> None:
    assert tables().keys() == TABLES.keys()


def test_the_simulation_begins_with_the_templates_defaults() -> None:
    there, here = parameters(), asdict(Deployment())
    for field, name in SETTINGS.items():
        if name.startswith("`") and not field.startswith("warm"):
            assert here[field] == there[name.strip("`")]["Default"], name
    assert there["WarmWriteUnits"]["Default"] == there["WarmScheduleWriteUnits"]["Default"] == 0
    assert here["warm"] == here["warm_schedules"] == NEW_TABLE, "which is what 0 leaves"
    assert read(HERE, {}).globals["Function"]["MemorySize"] == here["memory"]


def test_the_simulation_moves_nothing_further_than_the_template_lets_it() -> None:
    there = parameters()
    most = {name: there[name].get("MaxValue") for name in ("Shards", "WorkerBatchSize", "WorkerConcurrency")}
    assert most == {"Shards": MOST_SHARDS, "WorkerBatchSize": MOST_BATCH, "WorkerConcurrency": MOST_CONCURRENCY}
    assert (there["WorkerPollers"]["MaxValue"], there["WorkerPollersMost"]["MaxValue"]) == (MOST_READY, MOST_POLLERS)


def test_a_look_ends_when_its_function_says() -> None:
    functions = read(HERE, {}).of_type("AWS::Serverless::Function")
    assert functions["Dispatch"]["Timeout"] - dispatch.STOP_MILLISECONDS / 1000 == LONGEST_LOOK.total_seconds()


def test_cpu_is_what_was_measured_last() -> None:
    rows = [Row(name, 100.0 * (place + 1), "jobs/CPU s", "", 1) for place, name in enumerate(RATES.values())]
    assert asdict(measured(rows)) == {field: 0.01 / (place + 1) for place, field in enumerate(RATES)}
