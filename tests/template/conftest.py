"""Fixtures of the template's tests."""

from pathlib import Path

import pytest
from tests.template.building import build_all
from tests.template.expansion import Template, expand


@pytest.fixture(scope="session")
def template() -> Template:
    """Return the template with its default parameters."""
    return expand()


@pytest.fixture(scope="session")
def built() -> Path:
    """Build all for this machine, once."""
    return build_all()
