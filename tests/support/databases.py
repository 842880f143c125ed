"""Other versions of the time zone database: zones whose changes a test writes itself, beside those of the package."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta
from io import BytesIO
from struct import pack
from zoneinfo import ZoneInfo

import pytest

from onthedot.http import about
from onthedot.rules import zones
from onthedot.rules.stretches import changes_between

Changes = Iterable[tuple[str, float]]
"""From which instant on, written as `2026-11-01T09:00`, local time is how many hours ahead of UTC."""
FIRST_YEAR = 2000
ZONE = "America/Vancouver"
OLD, NEW = "2026.1", "2026.6"
"""By the old one the zone has winter time, by the new one British Columbia keeps summer time: 09:00 comes earlier."""


def zone_with(name: str, changes: Changes) -> ZoneInfo:
    """Return a zone that is as the package has it until the first of these changes, and then has these."""
    real = zones._load(name)
    ours = [(_seconds(at), round(hours * 3600)) for at, hours in changes]
    until = ours[0][0] if ours else _seconds("2100-01-01T00:00")
    first = datetime(FIRST_YEAR, 1, 1, tzinfo=UTC)
    theirs = [(one.at, one.after) for one in changes_between(real, FIRST_YEAR, 2099) if one.at < until]
    before = zones.offset_at(first, real) // timedelta(seconds=1)
    return ZoneInfo.from_file(BytesIO(tzif(before, [*theirs, *ours])), key=name)


def tzif(before: int, changes: list[tuple[int, int]]) -> bytes:
    """Return a file of a zone with this offset at first, and another from each change on. Units: seconds.

    Source: RFC 8536 (read 2026-11-29).
    """
    offsets = sorted({before, *(offset for _, offset in changes)} - {before})
    kinds = [before, *offsets]
    old = _header(0, 1, 4) + _kind(before) + b"ZZZ\0"
    new = _header(len(changes), len(kinds), 4)
    new += b"".join(pack(">q", at) for at, _ in changes) + bytes(kinds.index(offset) for _, offset in changes)
    new += b"".join(map(_kind, kinds)) + b"ZZZ\0"
    return old + new + f"\n{_forever(changes[-1][1] if changes else before)}\n".encode()


@contextmanager
def database(version: str, *others: ZoneInfo) -> Iterator[None]:
    """Put another database, with these zones and the package's for the rest, in the place of the one in use."""
    mine, load = {zone.key: zone for zone in others}, zones._load
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(zones, "_load", lambda name: mine.get(name) or load(name))
        patch.setattr(zones, "version", lambda _: version)
        _forget()
        try:
            yield
        finally:
            _forget()


def old_database() -> AbstractContextManager[None]:
    """Let the old database be the one in use."""
    return database(OLD, zone_with(ZONE, [("2026-11-01T09:00", -8), ("2027-03-14T10:00", -7)]))


def new_database() -> AbstractContextManager[None]:
    """Let the new database be the one in use."""
    return database(NEW)


def _forget() -> None:
    """Forget what a container keeps of its database; what is kept by zone is kept by the very object."""
    zones.database_version.cache_clear()
    about.versions.cache_clear()


def _seconds(at: str) -> int:
    return int(datetime.fromisoformat(at).replace(tzinfo=UTC).timestamp())


def _header(changes: int, kinds: int, marks: int) -> bytes:
    return b"TZif2" + bytes(15) + pack(">6l", 0, 0, 0, changes, kinds, marks)


def _kind(offset: int) -> bytes:
    return pack(">lbb", offset, 0, 0)


def _forever(offset: int) -> str:
    hours, minutes = divmod(abs(offset) // 60, 60)
    return f"<ZZZ>{'-' if offset > 0 else '+'}{hours}:{minutes:02}"
