"""How large an answer is where it counts: Lambda carries its body as an escaped text inside another JSON text.

Measured with ASCII escapes, as older runtimes write it: never less than what Lambda counts.
Source: docs.aws.amazon.com/lambda, gettingstarted-limits: 6,291,456 bytes for an answer (read 2026-11-29).
"""

import json
from typing import Any

from onthedot.http.json_text import write

MOST_ANSWER = 6_000_000
PAGE_ROOM = 4_000_000


def escaped(value: Any) -> int:
    """Return the bytes that a JSON value takes in the answer of a function."""
    return len(json.dumps(write(value)))
