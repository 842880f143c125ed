"""What docs/testing.md shows is run as a user would: a handler's module, a conftest and a test file, by pytest."""

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from onthedot.handler import _HANDLERS

PAGE = (Path(__file__).parents[2] / "docs/testing.md").read_text()


def test_its_example_passes(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    conftest, module, tests = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    report = ModuleType("handlers.report")
    monkeypatch.setitem(sys.modules, "handlers.report", report)
    exec(module, report.__dict__)
    pytester.makeconftest(conftest)
    pytester.makepyfile(test_report=tests)
    try:
        outcome = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "no:xdist")
    finally:
        _HANDLERS.pop("report.send")
    outcome.assert_outcomes(passed=tests.count("def test_"))
