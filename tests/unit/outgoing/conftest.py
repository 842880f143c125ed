"""Fixtures of what is sent to others."""

import socket
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.support.https_server import Server, serving

from onthedot import Job
from onthedot.outgoing import connections
from onthedot.outgoing.connections import Left
from onthedot.outgoing.deliveries import Deliveries
from onthedot.outgoing.https import Wire

PUBLIC = "93.184.215.14"
NOW = datetime(2027, 3, 28, 1, tzinfo=UTC)
KEY = "0f343b0931126a20f133d67c2b018a3b"


def a_job(payload: Any, seconds: float = 10) -> Job:
    """Return a job with so many seconds left, from now on."""
    ends_at = time.monotonic() + seconds
    return Job("j", payload, 1, KEY, lambda: ends_at - time.monotonic(), lambda: None)


@dataclass(slots=True)
class World:
    """The internet as a worker sees it: every name has addresses, and behind every address is the test's server."""

    server: Server
    names: dict[str, Sequence[str] | Callable[[], Sequence[str]]] = field(default_factory=dict)
    looked_up: list[str] = field(default_factory=list)
    reached: list[tuple[str, int]] = field(default_factory=list)
    keys: dict[str, bytes] = field(default_factory=lambda: {"hooks": b"a secret"})

    def look_up(self, host: str) -> Sequence[str]:
        """Return a name's addresses, a public one if the test says nothing."""
        self.looked_up.append(host)
        found = self.names.get(host, [PUBLIC])
        return found() if callable(found) else found

    def connect(self, address: str, port: int, left: Left) -> socket.socket:
        """Connect to the server in the address's stead."""
        self.reached.append((address, port))
        return connections.connect("127.0.0.1", self.server.port, left)

    def deliver(self, payload: Any, seconds: float = 10, **wire: Any) -> Any:
        """Do what the `http` handler does for a job with this payload; `wire` replaces parts of it."""
        parts = {"look_up": self.look_up, "connect": self.connect, "trust": lambda: self.server.trust} | wire
        return Deliveries(Wire(**parts), self.keys.__getitem__, lambda: NOW).deliver(a_job(payload, seconds))


@pytest.fixture
def world() -> Iterator[World]:
    """Return an internet with one server."""
    with serving() as server:
        yield World(server)
