"""However slow or talkative the other side is, an attempt ends before its time does, and reads little."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from itertools import repeat
from threading import Event

import pytest
from tests.support.https_server import Got, Server, answer
from tests.unit.outgoing.conftest import PUBLIC, World

from onthedot.outgoing.connections import Left
from onthedot.outgoing.errors import NotDelivered
from onthedot.outgoing.https import MOST_BODY, MOST_BYTES

URL = "https://hooks.example.com/in"
SECONDS = 1.0
"""What is left of the job; half a second of it is kept to say how it ended."""
DRIP_SECONDS = 0.05

OK = b"HTTP/1.1 200 OK\r\n"
SLOW: dict[str, Callable[[Server], Iterator[bytes]]] = {
    "says nothing": lambda server: drip(server, repeat(b"")),
    "its status": lambda server: drip(server, (b"%c" % byte for byte in OK * 1000)),
    "its headers": lambda server: drip(server, repeat(b"X"), OK),
    "many headers": lambda server: drip(server, repeat(b"X: y\r\n"), OK),
    "its body": lambda server: drip(server, repeat(b"x"), OK + b"\r\n"),
    "its chunks": lambda server: drip(server, repeat(b"1\r\nx\r\n"), OK + b"Transfer-Encoding: chunked\r\n\r\n"),
    "only 100": lambda server: drip(server, repeat(b"HTTP/1.1 100 Continue\r\n\r\n")),
}


def drip(server: Server, parts: Iterator[bytes], first: bytes = b"") -> Iterator[bytes]:
    """Send one part after the other, slowly, until the test is over."""
    yield first
    for part in parts:
        if server.over.wait(DRIP_SECONDS):
            return
        yield part


@pytest.mark.parametrize("what", SLOW)
def test_one_that_drips_is_left_in_time(world: World, what: str) -> None:
    """A timeout for each read starts anew with every byte: one byte a second held a worker for hours."""
    world.server.script = lambda _: SLOW[what](world.server)
    begun = time.monotonic()
    with pytest.raises(NotDelivered, match="TimeoutError"):
        world.deliver({"url": URL}, SECONDS)
    assert time.monotonic() - begun < SECONDS


def test_redirects_share_the_time(world: World) -> None:
    def script(_: Got) -> Iterator[bytes]:
        world.server.over.wait(0.2)
        yield answer(302, location="/again")

    world.server.script = script
    begun = time.monotonic()
    with pytest.raises(NotDelivered, match="TimeoutError"):
        world.deliver({"url": URL}, SECONDS)
    assert time.monotonic() - begun < SECONDS


@pytest.mark.parametrize("what", ["listens only", "never proves who it is"])
def test_one_that_never_gets_to_tls_is_left_in_time(world: World, what: str) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=1) as silent:
        world.server.port, kept = silent.getsockname()[1], list[socket.socket]()
        if what == "never proves who it is":
            accepting = threading.Thread(target=lambda: kept.append(silent.accept()[0]))
            accepting.start()
        with pytest.raises(NotDelivered, match="TimeoutError"):
            world.deliver({"url": URL}, SECONDS)
        for sock in kept:
            sock.close()


def test_one_that_never_reads_is_left_in_time(world: World) -> None:
    """The kernel takes what fits into its buffers, and then waits."""
    stop = Event()

    def deaf(address: str, port: int, left: Left) -> socket.socket:
        sock = world.connect(address, port, left)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        return sock

    world.server.read = lambda _: stop.wait(5)
    begun = time.monotonic()
    with pytest.raises(NotDelivered, match="TimeoutError"):
        world.deliver({"url": URL, "body": "x" * 8_000_000}, SECONDS, connect=deaf)
    assert time.monotonic() - begun < SECONDS
    stop.set()


def test_a_name_that_is_not_found_in_time_is_left(world: World) -> None:
    stop = Event()

    def late() -> list[str]:
        stop.wait(10)
        return [PUBLIC]

    world.names["hooks.example.com"] = late
    with pytest.raises(NotDelivered, match="its name was not found in time"):
        world.deliver({"url": URL}, SECONDS)
    stop.set()


def test_with_no_time_left_nothing_is_begun(world: World) -> None:
    with pytest.raises(NotDelivered, match="the time is over"):
        world.deliver({"url": URL}, 0.5)
    assert (world.looked_up, world.server.got) == ([], [])


def test_of_a_huge_body_the_beginning_is_read(world: World) -> None:
    """The other side has taken the request; how much it says of it changes nothing."""
    sent: list[int] = []

    def script(_: Got) -> Iterator[bytes]:
        yield OK + b"Content-Length: 100000000000\r\n\r\n"
        while sum(sent) < 10**9:
            sent.append(MOST_BODY)
            yield b"x" * MOST_BODY

    world.server.script = script
    result = world.deliver({"url": URL})
    assert (result["status"], set(result["body"])) == (200, {"x"})
    assert sum(sent) < 10**8


@pytest.mark.parametrize(
    "part",
    [b"X: " + b"y" * 1000 + b"\r\n", b"X" * 100_000, b"HTTP/1.1 100 Continue\r\n\r\n"],
    ids=["many", "long", "only 100"],
)
def test_of_endless_headers_no_more_is_read(world: World, part: bytes) -> None:
    head = b"" if part.startswith(b"HTTP") else OK
    world.server.script = lambda _: (head if n == 0 else part for n in range(10**5))
    with pytest.raises(NotDelivered, match=r"LineTooLong|TooMuch|got more than 100 headers"):
        world.deliver({"url": URL})


def test_of_endless_trailers_no_more_is_read(world: World) -> None:
    head = OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n"
    world.server.script = lambda _: (head if n == 0 else b"X: y\r\n" * 1000 for n in range(10**5))
    with pytest.raises(NotDelivered, match="TooMuch"):
        world.deliver({"url": URL})
    assert MOST_BYTES < 10**6


def test_no_thread_and_no_socket_is_left(world: World) -> None:
    """A frozen thread goes on in the next invocation (aws-traps 53); a socket would be a warning, so an error."""
    before = {it for it in threading.enumerate() if it.daemon}
    world.deliver({"url": URL})
    assert {it for it in threading.enumerate() if it.daemon} <= before
