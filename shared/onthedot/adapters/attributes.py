"""How times and spans are stored: as text where text order is time order, as seconds where the table calculates."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from pynamodb.attributes import Attribute
from pynamodb.constants import NUMBER, STRING

from onthedot.rules.instants import from_text, to_text


class Instant(Attribute[datetime]):
    """An instant as fixed-width text, whose order is time order."""

    attr_type = STRING

    def serialize(self, value: datetime) -> str:
        """Return the stored text."""
        return to_text(value)

    def deserialize(self, value: str) -> datetime:
        """Return the instant."""
        return from_text(value)


class Epoch(Attribute[datetime]):
    """An instant as seconds since 1970, where the table itself calculates with it: leases and TTL."""

    attr_type = NUMBER

    def serialize(self, value: datetime) -> str:
        """Return the number as text."""
        return seconds_text(value - datetime(1970, 1, 1, tzinfo=UTC))

    def deserialize(self, value: str) -> datetime:
        """Return the instant."""
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=int(Decimal(value) * 1000))


class Span(Attribute[timedelta]):
    """A span as seconds."""

    attr_type = NUMBER

    def serialize(self, value: timedelta) -> str:
        """Return the number as text."""
        return seconds_text(value)

    def deserialize(self, value: str) -> timedelta:
        """Return the span."""
        return timedelta(milliseconds=int(Decimal(value) * 1000))


def seconds_text(span: timedelta) -> str:
    """Return a span as a number of seconds, whole where it is."""
    return str(Decimal(span // timedelta(milliseconds=1)) / 1000)
