"""Fixtures of the tests of the HTTP contract."""

import pytest
from tests.unit.http.memory import Api


@pytest.fixture
def api() -> Api:
    """Return the API on a world in memory."""
    return Api()
