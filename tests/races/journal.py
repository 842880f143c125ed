"""What happened, on disk: each process appends its lines by one write, so that a kill takes none that was begun.

Shape: `begin` and `end` of a handler's call, `delivered` for a message that a function was given, `ready` for a
client, and `accepted` for a request that was answered. Units: `at` in seconds since 1970.
"""

import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PATH = "RACES_JOURNAL"
"""The variable that tells each process where it writes."""


def note(kind: str, **facts: Any) -> None:
    """Append one line."""
    line = json.dumps({"kind": kind, "at": time.time(), "pid": os.getpid(), **facts}) + "\n"
    file = os.open(os.environ[PATH], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(file, line.encode())
    finally:
        os.close(file)


@dataclass(frozen=True, slots=True)
class AtWork:
    """A call of a handler that has not ended."""

    pid: int
    job: str


@dataclass(slots=True)
class Reader:
    """Reads a journal while it is written."""

    path: Path
    read_bytes: int = 0
    noted: list[dict[str, Any]] = field(default_factory=list)
    open_calls: dict[str, AtWork] = field(default_factory=dict)

    def read(self) -> list[dict[str, Any]]:
        """Return all that was noted so far. Order: as it was written."""
        if self.path.exists():
            with self.path.open("rb") as file:
                file.seek(self.read_bytes)
                text = file.read()
            whole = text[: text.rfind(b"\n") + 1]
            self.read_bytes += len(whole)
            for line in whole.splitlines():
                self._take(json.loads(line))
        return self.noted

    def at_work(self) -> list[AtWork]:
        """Return the calls of handlers that have not ended, also where the process has. Order: the latest first."""
        self.read()
        return list(self.open_calls.values())[::-1]

    def _take(self, line: dict[str, Any]) -> None:
        self.noted.append(line)
        if line["kind"] == "begin":
            self.open_calls[line["call"]] = AtWork(line["pid"], line["job"])
        elif line["kind"] == "end":
            self.open_calls.pop(line["call"], None)


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a handler: until when it had time, and when and how it ended; a killed one did not."""

    name: str
    job: str
    key: str
    attempt: int
    pid: int
    begun_at: float
    until: float
    due_at: float
    delivered_at: float
    ended_at: float | None
    how: str | None


def calls(noted: list[dict[str, Any]]) -> list[Call]:
    """Return the calls of handlers. Order: by their begin."""
    ends = {line["call"]: line for line in noted if line["kind"] == "end"}
    delivered, found = dict[int, float](), list[Call]()
    for line in noted:
        if line["kind"] == "delivered":
            delivered[line["pid"]] = line["at"]
        if line["kind"] == "begin":
            found.append(_call(line, ends.get(line["call"], {}), delivered[line["pid"]]))
    return sorted(found, key=lambda call: call.begun_at)


def _call(line: dict[str, Any], end: dict[str, Any], delivered_at: float) -> Call:
    return Call(
        name=line["call"],
        job=line["job"],
        key=line["key"],
        attempt=line["attempt"],
        pid=line["pid"],
        begun_at=line["at"],
        until=line["at"] + line["left"],
        due_at=line["due"],
        delivered_at=delivered_at,
        ended_at=end.get("at"),
        how=end.get("how"),
    )
