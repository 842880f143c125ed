"""The forms of an instant: one fixed-width text for the tables, so that text order is time order, and one for people.

Every `datetime` in the package is aware, in UTC, and whole milliseconds.
"""

import re
from datetime import UTC, datetime, timedelta, timezone

MILLISECOND = timedelta(milliseconds=1)
MINUTE = timedelta(minutes=1)
STORED = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")


def to_text(instant: datetime) -> str:
    """Return the stored form, `2027-03-28T01:00:00.000Z`."""
    return instant.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def from_text(text: str) -> datetime:
    """Return the instant that `to_text` wrote.

    Raises: ValueError when the text is anything else; what is asked first is its form, since some other forms are times
    that UTC has no date for.
    """
    instant = datetime.fromisoformat(text) if STORED.fullmatch(text) else None
    if instant is None or to_text(instant) != text:
        raise ValueError(f"not a stored instant: {text!r}")
    return instant


def shown(instant: datetime) -> str:
    """Return the form that the API answers with: milliseconds only when they are not zero."""
    return to_text(instant).replace(".000Z", "Z")


def shown_locally(instant: datetime, offset: timedelta) -> str:
    """Return what clocks show that are so far ahead of UTC, with their offset: `2027-03-28T03:00:00+02:00`.

    An offset that is no whole number of minutes has no such text; the nearest one that has keeps the instant, as among
    the examples of RFC 3339 noon in the Netherlands of 1937.
    """
    local = instant.astimezone(timezone((offset + MINUTE / 2) // MINUTE * MINUTE))
    return local.isoformat(timespec="milliseconds" if local.microsecond else "seconds")


def cut(instant: datetime) -> datetime:
    """Return the instant in UTC without what is finer than a millisecond; never later than it was."""
    instant = instant.astimezone(UTC)
    return instant.replace(microsecond=instant.microsecond // 1000 * 1000)


def up_to_second(instant: datetime) -> datetime:
    """Return the instant, or the next whole second: what expires is deleted by whole seconds, and never too soon."""
    return instant if instant.microsecond == 0 else instant.replace(microsecond=0) + timedelta(seconds=1)


def seconds_up(span: timedelta) -> int:
    """Return whole seconds, rounded up, and 0 for a span that is over: nothing that waits this long is early."""
    return max(0, -(-span // timedelta(seconds=1)))
