"""Fixtures of all tests."""

import os
from collections.abc import Iterator

import pytest

os.environ["POWERTOOLS_SERVICE_NAME"] = "lab"  # read once, when the logger and the metrics are made

import tests.support.loading  # noqa: F401 - changes how models are read
from tests.support import handlers
from tests.support.lab import Lab, running_lab
from tests.support.proving import hold_steady

hold_steady()


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    """Return a deployment on moto with a clock that the test moves."""
    with running_lab(monkeypatch) as lab:
        yield lab


@pytest.fixture(autouse=True)
def _handlers() -> Iterator[None]:
    """Forget what ran before, and let what still runs end with its test."""
    handlers.RAN.clear()
    handlers.SCRIPT.meanwhile = handlers.SCRIPT.afterwards = lambda: None
    handlers.SCRIPT.go_on.clear()
    yield
    handlers.SCRIPT.go_on.set()
