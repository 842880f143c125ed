"""A connection to the very address that was checked, each wait of which ends with the time that is left.

A socket's own timeout starts anew with every byte, so a server that sends one a second would hold a worker for hours.
"""

import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from io import BufferedReader, RawIOBase
from ssl import SSLContext, SSLSocket, create_default_context
from threading import Thread
from typing import Any, Final

Left = Callable[[], float]
"""Returns how many seconds are left."""

CONNECT_SECONDS: Final = 10
"""For one address of several: one that never answers must not take the others' time."""


class TooMuch(OSError):
    """More bytes came than are read."""


class Timed(RawIOBase):
    """A socket as `http.client` needs it, bounded in time and in bytes."""

    def __init__(self, sock: SSLSocket, left: Left, most: int) -> None:
        super().__init__()
        self._sock, self._left, self._rest = sock, left, most

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Wait for bytes, and return how many came."""
        self._sock.settimeout(some(self._left))
        count = self._sock.recv_into(buffer)
        self._rest -= count
        if self._rest < 0:
            raise TooMuch("the answer is too long")
        return count

    def sendall(self, data: bytes) -> None:
        """Send all of it."""
        self._sock.settimeout(some(self._left))
        self._sock.sendall(data)

    def makefile(self, *_: Any) -> BufferedReader:
        """Return what the answer is read from."""
        return BufferedReader(self)

    def close(self) -> None:
        """Do nothing: `http.client` closes before it has read; whoever opened the socket closes it."""


def some(left: Left) -> float:
    """Return the seconds that are left.

    Raises: TimeoutError when there are none.
    """
    seconds = left()
    if seconds <= 0:
        raise TimeoutError("the time is over")
    return seconds


@contextmanager
def secured(sock: socket.socket, context: SSLContext, host: str, left: Left, most: int) -> Iterator[Timed]:
    """Give a connection whose other side has proved to be this host."""
    with sock:
        sock.settimeout(some(left))
        with context.wrap_socket(sock, server_hostname=host) as safe:
            yield Timed(safe, left, most)


def connect(address: str, port: int, left: Left) -> socket.socket:
    """Connect to an address, which is no name: nothing is looked up."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.settimeout(min(some(left), CONNECT_SECONDS))
        sock.connect((address, port))
    except BaseException:
        sock.close()
        raise
    return sock


def look_up(host: str) -> Sequence[str]:
    """Return the addresses that the system's resolver knows; to it 0x7f.1 and 2130706433 are addresses, too."""
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))


def in_time(look: Callable[[str], Sequence[str]], host: str, left: Left) -> Sequence[str]:
    """Return what is found before the time is over. A look-up can't be ended; one that is late ends by itself."""
    found: list[Sequence[str]] = []
    errors: list[Exception] = []

    def run() -> None:
        try:
            found.append(look(host))
        except Exception as error:
            errors.append(error)

    seconds, thread = some(left), Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    if not found:
        raise TimeoutError("its name was not found in time")
    return found[0]


@cache
def trust() -> SSLContext:
    """Return whom we trust: the machine's authorities. Reading them takes tens of milliseconds, so it is done once."""
    return create_default_context()
