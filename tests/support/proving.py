"""How hard the slow proofs try: in short inside `make test`, in full by the targets `make prove-...`."""

import os

from hypothesis import settings

IN_FULL = os.environ.get("PROVE") == "all"
OFTEN = 20 if IN_FULL else 1
"""How many times more examples are tried."""
QUICK_SECONDS = 0.05 if IN_FULL else 0.5
"""What an expression may take; in short it only tells a search without a bound from one with, on any machine."""

settings.register_profile("steady", derandomize=not IN_FULL)


def hold_steady() -> None:
    """Try the same examples at each run of the short form, so that it fails for a change and not by chance."""
    settings.load_profile("steady")
