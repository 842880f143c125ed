"""Reads each of AWS's models once, though moto has every lab make its clients anew: half of a lab's time."""

from functools import cache
from typing import Any

from botocore.loaders import JSONFileLoader

_read_once = cache(JSONFileLoader().load_file)


def load_file(_: JSONFileLoader, path: str) -> Any:
    """Return what a file holds."""
    return _read_once(path)


JSONFileLoader.load_file = load_file  # type: ignore[method-assign, assignment]
