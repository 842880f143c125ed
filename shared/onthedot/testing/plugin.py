"""The fixture `lab`, for pytest: `pytest_plugins = ["onthedot.testing.plugin"]` in a `conftest.py`."""

from collections.abc import Iterator

import pytest

from onthedot.testing import Lab


@pytest.fixture
def new_lab() -> Lab:
    """Return the lab before it begins; a test that wants another one overrides this."""
    return Lab()


@pytest.fixture
def lab(new_lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    """Return a deployment on moto with a clock that the test moves."""
    with new_lab as lab:
        yield lab
        monkeypatch.undo()  # what a test has put in a place of the lab's, before the lab puts that back
