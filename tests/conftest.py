"""Fixtures of all tests."""

import os
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

os.environ["POWERTOOLS_SERVICE_NAME"] = "lab"  # read once, when the logger and the metrics are made

from tests.support import handlers
from tests.support.lab import Lab
from tests.support.ledgers import assert_nothing_is_missing
from tests.support.proving import IN_FULL, SEED, hold_steady, proved

from onthedot import telemetry
from onthedot.clock import SystemClock

hold_steady()


pytest_plugins = ["onthedot.testing.plugin", "pytester"]


@pytest.fixture
def new_lab() -> Lab:
    """Return a lab that tells our tests more than it tells users."""
    return Lab()


@pytest.fixture
def lab(lab: Lab) -> Iterator[Lab]:
    """Return a deployment on moto with a clock that the test moves; what it does to schedules loses no slot."""
    yield lab
    if not lab.loses_slots:
        assert_nothing_is_missing(lab)


@pytest.fixture(autouse=True)
def _handlers() -> Iterator[None]:
    """Forget what ran before, and let what still runs end with its test."""
    handlers.RAN.clear()
    handlers.SCRIPT.meanwhile = handlers.SCRIPT.afterwards = lambda: None
    handlers.SCRIPT.with_job = lambda _: None
    handlers.SCRIPT.succeeds_at = 1_000
    handlers.SCRIPT.go_on.clear()
    yield
    handlers.SCRIPT.go_on.set()


@pytest.fixture(autouse=True)
def _metrics() -> None:
    """Forget what was measured before: a test that runs a step outside of an invocation leaves it unwritten."""
    telemetry.metrics.clear_metrics()


@pytest.fixture(autouse=True)
def _chance(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw the same waits at each run: a test fails for a change, and not by chance."""
    draw = Random(SEED).random
    monkeypatch.setattr(SystemClock, "chance", lambda _: draw())


TOGETHER = {"e2e": "a stack", "local": "a stack", "template": "the build", "hostile": "the stage"}
"""Tests that share what takes long to make: those of a folder go to one process, one after the other."""
PATIENT = ("test_a_killed_worker", "test_an_outage", "test_the_ledger")
"""Those that mostly wait for the deployed stack: they have another one, beside the first."""


class ByFolder(LoadScopeScheduling):  # type: ignore[misc]
    """Deals the tests out to processes, one by one but for those that belong together; the longest row first."""

    def _split_scope(self, nodeid: str) -> str:
        folder, name = nodeid.split("/")[1:3]
        return "another stack" if name.startswith(PATIENT) and folder == "e2e" else TOGETHER.get(folder, nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFolder:
    """Return what deals the tests out."""
    return ByFolder(config, log)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Print what was proved as the very last line, after the proofs in full."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if IN_FULL and reporter is not None:
        kinds = "passed", "failed", "error"
        reporter.write_line(proved(report for kind in kinds for report in reporter.stats.get(kind, [])))
