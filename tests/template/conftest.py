"""Fixtures of the template's tests."""

from pathlib import Path

import pytest
from local import account, sam
from tests.template.expansion import Template, expand


@pytest.fixture(scope="session")
def template() -> Template:
    """Return the template with its default parameters."""
    return expand()


@pytest.fixture(scope="session")
def built() -> Path:
    """Build all for this machine, once for these tests and for the stacks of the end-to-end tests."""
    with account.isolated():
        return sam.build()
