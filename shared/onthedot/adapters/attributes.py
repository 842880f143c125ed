"""How values are stored: as text where text order is time order, as seconds where the table itself calculates."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from onthedot.rules.instants import MILLISECOND, from_text, to_text

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of attribute: DynamoDB's type of it, and the way there and back."""

    type: str
    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


Kinds = Mapping[str, Kind]
"""The attributes that an item may have, by their names."""


def write(kinds: Kinds, values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the item with these values; what has none is not in it."""
    return {name: {kinds[name].type: kinds[name].write(value)} for name, value in values.items() if value is not None}


def read(kinds: Kinds, item: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the attributes that are known; a newer writer may have added others.

    Raises: LookupError, TypeError, ValueError when one is not of its kind.
    """
    return {
        name: kind.read(typed[kind.type])
        for name, typed in item.items()
        if (kind := kinds.get(name)) is not None and "NULL" not in typed
    }


def seconds_text(span: timedelta) -> str:
    """Return a span as a number of seconds, whole where it is."""
    return str(Decimal(span // MILLISECOND) / 1000)


def epoch_text(instant: datetime) -> str:
    """Return an instant as a number of seconds since 1970: what leases and TTL are."""
    return seconds_text(instant - EPOCH)


def from_epoch(text: str) -> datetime:
    """Return the instant that `epoch_text` wrote."""
    return EPOCH + _span(text)


def _span(text: str) -> timedelta:
    return timedelta(milliseconds=int(Decimal(text) * 1000))


def _same(value: Any) -> Any:
    return value


TEXT = Kind("S", _same, _same)
TRUTH = Kind("BOOL", _same, _same)
NUMBER = Kind("N", str, json.loads)
JSON = Kind("S", json.dumps, json.loads)
INSTANT = Kind("S", to_text, from_text)
SECONDS = Kind("N", seconds_text, _span)
SINCE_1970 = Kind("N", epoch_text, from_epoch)
