"""What somebody said, field by field, and everything that is wrong with it: gathered, so that it is told at once."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from onthedot.rules.errors import Fault, Kind
from onthedot.rules.inputs import Malformed, Refused
from onthedot.rules.instants import MILLISECOND
from onthedot.rules.zones import find

T = TypeVar("T")


def at(path: str, name: str | int) -> str:
    """Return the path of a field inside another."""
    return f"{path}.{name}" if path else str(name)


@dataclass(frozen=True, slots=True)
class Said:
    """The fields that have the right form, by name, and the faults found so far, also in others; `path` is theirs."""

    fields: Mapping[str, Any]
    faults: list[Fault]
    path: str = ""

    def has(self, name: str) -> bool:
        """Tell whether a field was given, well or badly."""
        return name in self.fields or self.is_wrong(name)

    def is_wrong(self, name: str) -> bool:
        """Tell whether a field has a fault already."""
        return any(fault.field == at(self.path, name) for fault in self.faults)

    def blame(self, name: str, message: str, kind: Kind = Kind.REFUSED) -> None:
        """Add a fault of a field."""
        self.faults.append(Fault(at(self.path, name), message, kind))

    def judged(self, name: str, rule: Callable[[], T]) -> T | None:
        """Return what a rule makes of a field; `None`, and a fault, when it is against the rule."""
        try:
            return rule()
        except Malformed as error:
            self.blame(name, str(error), Kind.MALFORMED)
        except Refused as error:
            self.blame(name, str(error))
        return None

    def span(self, name: str, least: int, most: int) -> timedelta | None:
        """Return a duration; `None` when it is not given or not within these bounds. Units: milliseconds."""
        if name not in self.fields:
            return None
        milliseconds = self.fields[name]
        if least <= milliseconds <= most:
            return milliseconds * MILLISECOND  # type: ignore[no-any-return]
        self.blame(name, f"must be between {least / 1000:g} and {most / 1000:.15g} seconds")
        return None

    def number(self, name: str, least: int, most: int) -> Any:
        """Return a number; `None` when it is not given or not within these bounds."""
        if name not in self.fields or least <= self.fields[name] <= most:
            return self.fields.get(name)
        self.blame(name, f"must be between {least} and {most}")
        return None

    def zone(self) -> ZoneInfo | None:
        """Return the zone; `None` when none is said, or none that can be used, which is told once."""
        if "zone" not in self.fields:
            return None
        zone = find(self.fields["zone"])
        if zone is None and not self.is_wrong("zone"):
            self.blame("zone", "is no zone of the time zone database; names are case-sensitive")
        return zone
