"""How a shipped handler reads its payload: every fault is named at once, and no value, which may be secret."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from onthedot.handler import Discard

Check = Callable[[Any], str | None]
"""Returns what is wrong with a field's value."""


def checked(payload: Any, checks: Mapping[str, Check], *required: str) -> dict[str, Any]:
    """Return the payload, an object with no other fields than these, all of them as they must be.

    Raises: Discard with every fault.
    """
    if not isinstance(payload, dict):
        raise Discard("payload: must be an object")
    faults = [f"{name}: is missing" for name in required if name not in payload]
    there = [(name, check(payload[name])) for name, check in checks.items() if name in payload]
    faults += [f"{name}: {fault}" for name, fault in there if fault]
    faults += [f"{name}: is no field; those are {', '.join(checks)}" for name in payload if name not in checks]
    if faults:
        raise Discard("; ".join(faults))
    return payload


def anything(value: Any) -> None:
    """Find nothing wrong."""


def text(pattern: str, said: str) -> Check:
    """Return the check that a value is a text of this pattern, which is `said` in words."""
    return lambda value: None if isinstance(value, str) and re.fullmatch(pattern, value) else f"must be {said}"


def an_object(value: Any) -> str | None:
    """Tell that a value is no object."""
    return None if isinstance(value, dict) else "must be an object"
