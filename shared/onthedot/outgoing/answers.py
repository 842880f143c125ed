"""What an answer means for the attempt: a result, a wait that the other side asked for, or a failure."""

import json
import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from math import ceil
from typing import Any, Final

from onthedot.handler import RetryAfter
from onthedot.outgoing.errors import NotDelivered
from onthedot.outgoing.https import Answer

LONGEST_WAIT: Final = timedelta(days=7)
"""Another's word may not keep a job waiting for years."""
MOST_KEPT: Final = 3500
"""Bytes of the body's JSON text: with its status the result stays below the size from which results are left out."""


def result(answer: Answer, now: datetime) -> dict[str, Any]:
    """Return the attempt's result.

    Raises: RetryAfter when the other side said when to come again; NotDelivered for every other answer but a 2xx.
    """
    if 200 <= answer.status < 300:
        return {"status": answer.status} | _kept(answer.body)
    failed = NotDelivered(f"{answer.host} answered {answer.status}")
    wait = _wait(answer.headers.get("retry-after", ""), now) if answer.status in (429, 503) else None
    if wait is not None:
        raise RetryAfter(wait) from failed
    raise failed


def _wait(said: str, now: datetime) -> int | None:
    """Return the seconds that a Retry-After asks for, None when it has no form; a time that passed is no wait."""
    said = said.strip()
    if re.fullmatch(r"[0-9]+", said):
        seconds = float(said[:12]) if len(said) <= 12 else LONGEST_WAIT.total_seconds()
    else:
        try:
            at = parsedate_to_datetime(said)
            seconds = ((at if at.tzinfo else at.replace(tzinfo=UTC)) - now).total_seconds()
        except (ValueError, TypeError, IndexError, OverflowError):
            return None
    return ceil(min(max(seconds, 0), LONGEST_WAIT.total_seconds()))


def _kept(body: bytes) -> dict[str, str]:
    """Return what is kept of a body: its text, cut, as UTF-8 whatever its charset; nothing of an empty one."""
    said = body[:MOST_KEPT].decode(errors="replace")
    while len(json.dumps(said, ensure_ascii=False).encode()) > MOST_KEPT:
        said = said[: len(said) * 3 // 4]
    return {"body": said} if said else {}
