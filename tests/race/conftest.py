"""Fixtures of the stories."""

from collections.abc import Iterator

import pytest
from tests.support import handlers


@pytest.fixture(autouse=True)
def _handlers() -> Iterator[None]:
    """Forget what ran before, and let what still runs end with its test."""
    handlers.RAN.clear()
    handlers.SCRIPT.meanwhile = handlers.SCRIPT.afterwards = lambda: None
    handlers.SCRIPT.go_on.clear()
    yield
    handlers.SCRIPT.go_on.set()
