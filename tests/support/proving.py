"""How hard the slow proofs try: in short inside `make test`, in full by the targets `make prove-...`."""

import os
from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import settings

IN_FULL = os.environ.get("PROVE") == "all"
OFTEN = 20 if IN_FULL else 1
"""How many times more examples are tried."""
QUICK_SECONDS = 0.05 if IN_FULL else 0.5
"""What an expression may take; in short it only tells a search without a bound from one with, on any machine."""

SEED = int(os.environ.get("SEED", "0"))
"""What random lives are drawn from; `make prove` gives another each time, and prints it, so that it replays."""

COUNTED, VIOLATIONS = "counted: ", "counted: violations"

settings.register_profile("steady", derandomize=not IN_FULL)


def hold_steady() -> None:
    """Try the same examples at each run of the short form, so that it fails for a change and not by chance."""
    settings.load_profile("steady")


def count(test: pytest.Item, **counts: int) -> None:
    """Note what a proof was made of."""
    test.user_properties += [(f"{COUNTED}{name.replace('_', ' ')}", number) for name, number in counts.items()]


def proved(reports: Iterable[pytest.TestReport]) -> str:
    """Return in one line what all proofs have counted; a failed test that has counted no violation is one itself."""
    sums, violations = Counter[str](), 0
    for report in reports:
        counts = {name: int(str(number)) for name, number in report.user_properties if name.startswith(COUNTED)}
        violations += max(counts.pop(VIOLATIONS, 0), int(report.failed))
        sums.update(counts)
    return ", ".join(f"{name}: {it}" for name, it in {**sums, VIOLATIONS: violations}.items()).replace(COUNTED, "")
