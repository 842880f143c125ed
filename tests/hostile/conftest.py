"""Fixtures of the tests that ask for what nobody should."""

from collections.abc import Iterator

import pytest
from tests.hostile.stage import Stage, staged


@pytest.fixture(scope="session")
def stage() -> Iterator[Stage]:
    """Return the one stage of all these tests; each puts it back before it begins."""
    with staged() as stage:
        yield stage
