"""Fixtures of all tests."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

os.environ["POWERTOOLS_SERVICE_NAME"] = "lab"  # read once, when the logger and the metrics are made

import tests.support.loading  # noqa: F401 - changes how models are read
from tests.support import handlers
from tests.support.lab import Lab, running_lab
from tests.support.ledgers import assert_nothing_is_missing
from tests.support.proving import hold_steady

ROOT = Path(__file__).parent

hold_steady()


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    """Return a deployment on moto with a clock that the test moves; what it does to schedules loses no slot."""
    with running_lab(monkeypatch) as lab:
        yield lab
        if not lab.loses_slots:
            assert_nothing_is_missing(lab)


@pytest.fixture(autouse=True)
def _handlers() -> Iterator[None]:
    """Forget what ran before, and let what still runs end with its test."""
    handlers.RAN.clear()
    handlers.SCRIPT.meanwhile = handlers.SCRIPT.afterwards = lambda: None
    handlers.SCRIPT.go_on.clear()
    yield
    handlers.SCRIPT.go_on.set()


ALONE = {"e2e": "stack", "local": "stack", "template": "built"}
"""Tests that share what takes long to make: those of a folder go to one process, one after the other."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest, so that the other processes have the rest done meanwhile."""
    for item in items:
        folder = item.path.relative_to(ROOT).parts[0]
        if folder in ALONE:
            item.add_marker(pytest.mark.xdist_group(ALONE[folder]))
    items.sort(key=lambda item: item.path.relative_to(ROOT).parts[0] not in ALONE)
