"""Fixtures of the tests that ask for what nobody should."""

from collections.abc import Iterator

import pytest
from tests.hostile.stage import Stage, staged


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    """Return the one stage of a file's tests; each puts it back before it begins.

    It ends with the file: a lab stops the clock of its whole process, and a race in the same one waited for ever.
    """
    with staged() as stage:
        yield stage
