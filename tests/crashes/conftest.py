"""A lab for stories that are judged one by one, not at its end."""

from collections.abc import Iterator

import pytest
from tests.crashes.renewal import steady_lab
from tests.support.lab import Lab


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    """Return a deployment that is renewed for each story."""
    with steady_lab(monkeypatch) as lab:
        yield lab
