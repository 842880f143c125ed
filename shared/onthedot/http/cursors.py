"""Where a page ended, as an opaque text that is good for the same question only."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from hashlib import sha256


def cursor_of(position: str, filters: Mapping[str, str]) -> str:
    """Return the cursor after a position."""
    facts = {"p": position, "c": _checksum(position, filters)}
    return urlsafe_b64encode(json.dumps(facts, separators=(",", ":")).encode()).decode().rstrip("=")


def position_of(cursor: str, filters: Mapping[str, str]) -> str | None:
    """Return the position in a cursor; `None` when it was changed, or given for other filters."""
    try:
        facts = json.loads(urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4)))
        position = facts["p"]
    except (ValueError, TypeError, LookupError, RecursionError):
        return None
    if not isinstance(position, str) or cursor_of(position, filters) != cursor:
        return None
    return position


def _checksum(position: str, filters: Mapping[str, str]) -> str:
    return sha256(json.dumps([position, dict(sorted(filters.items()))]).encode()).hexdigest()[:16]
