"""`make prove` ends with one line; it says `violations: 0` only if that is so."""

from typing import Any
from unittest.mock import create_autospec

import pytest
from tests.support.proving import count, proved


def report(*, failed: bool = False, **counts: int) -> Any:
    """Return what pytest reports of a proof."""
    told = create_autospec(pytest.TestReport, failed=failed, user_properties=[])
    count(told, **counts)
    return told


def test_what_several_have_counted() -> None:
    lives = report(histories=3, faults_injected=2, violations=0)
    points = report(histories=4, faults_injected=4, violations=0)
    assert proved([lives, points, report()]) == "histories: 7, faults injected: 6, violations: 0"


def test_what_was_violated() -> None:
    assert proved([report(failed=True, histories=1, violations=2)]) == "histories: 1, violations: 2"


def test_a_failure_of_who_counts_nothing() -> None:
    assert proved([report(), report(failed=True)]) == "violations: 1"
