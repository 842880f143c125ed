"""Fixtures of the faults."""

import pytest
from tests.faults.failing import Faults, install
from tests.support.lab import Lab


@pytest.fixture
def faults(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Faults:  # noqa: ARG001 - the lab comes first
    """Return what AWS will do wrong."""
    return install(monkeypatch)
