"""A real HTTPS server on loopback, with an authority of its own, that says what a test scripts."""

import datetime as dt
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from ssl import PROTOCOL_TLS_SERVER, SSLContext, create_default_context
from tempfile import TemporaryDirectory
from threading import Event, Thread

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

HOSTS = ("hooks.example.com", "other.example.com")
PATIENCE_SECONDS = 20


@dataclass(frozen=True, slots=True)
class Got:
    """A request as it came. Shape: names of headers in lower case, each value in the order of its coming."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes

    def all(self, name: str) -> list[str]:
        """Return every value of a header."""
        return [value for it, value in self.headers if it == name]


Script = Callable[[Got], bytes | Iterable[bytes]]


@dataclass(slots=True)
class Server:
    """What came, by which name it was asked for, and what is said to it; `over` is set when the test has ended.

    `read` is called before a request is read.
    """

    port: int = 0
    script: Script = lambda _: answer(200)
    read: Callable[[socket.socket], object] = lambda _: None
    got: list[Got] = field(default_factory=list)
    names: list[str | None] = field(default_factory=list)
    over: Event = field(default_factory=Event)

    @property
    def trust(self) -> SSLContext:
        """Whom those trust who believe this server."""
        return authority()[1]


def answer(status: int, body: bytes = b"", **headers: str) -> bytes:
    """Return an answer as it is sent. Shape: `retry_after` is the header Retry-After."""
    named = {"content_length": str(len(body))} | headers
    lines = [f"HTTP/1.1 {status} Said", *(f"{name.replace('_', '-')}: {value}" for name, value in named.items())]
    return "\r\n".join([*lines, "", ""]).encode() + body


@contextmanager
def serving() -> Iterator[Server]:
    """Serve on a port of loopback until the end."""
    server, threads = Server(), list[Thread]()
    context = authority()[0]
    context.sni_callback = lambda _, name, __: server.names.append(name)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server.port = listener.getsockname()[1]
        listener.settimeout(0.05)
        accepting = Thread(target=_accept, args=(listener, context, server, threads))
        accepting.start()
        try:
            yield server
        finally:
            server.over.set()
            for thread in (accepting, *threads):
                thread.join(PATIENCE_SECONDS)


def _accept(listener: socket.socket, context: SSLContext, server: Server, threads: list[Thread]) -> None:
    while not server.over.is_set():
        with suppress(TimeoutError):
            sock, _ = listener.accept()
            threads.append(Thread(target=_serve, args=(sock, context, server)))
            threads[-1].start()


def _serve(sock: socket.socket, context: SSLContext, server: Server) -> None:
    sock.settimeout(PATIENCE_SECONDS)
    # Who is refused, or has heard enough, hangs up.
    with sock, suppress(OSError), context.wrap_socket(sock, server_side=True) as safe:
        server.read(safe)
        server.got.append(_read(safe))
        said = server.script(server.got[-1])
        for part in [said] if isinstance(said, bytes) else said:
            safe.sendall(part)


def _read(sock: socket.socket) -> Got:
    with sock.makefile("rb") as stream:
        method, target, _ = stream.readline().decode().split()
        headers = []
        while line := stream.readline().strip():
            name, _, value = line.decode().partition(":")
            headers.append((name.lower(), value.strip()))
        return Got(method, target, headers, stream.read(int(dict(headers).get("content-length", "0"))))


@cache
def authority() -> tuple[SSLContext, SSLContext]:
    """Return a server's context for our hosts, and that of those who trust its authority."""
    key, now = ec.generate_private_key(ec.SECP256R1()), dt.datetime.now(dt.UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "an authority for tests")])
    usage = x509.KeyUsage(True, False, False, False, False, True, True, False, False)
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    names = [*map(x509.DNSName, HOSTS), x509.IPAddress(ip_address("93.184.215.14"))]
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=400))
        .not_valid_after(now + dt.timedelta(days=4000))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(identifier, critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = made.public_bytes(serialization.Encoding.PEM)
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    server = SSLContext(PROTOCOL_TLS_SERVER)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "both.pem"
        path.write_bytes(secret + pem)
        server.load_cert_chain(path)
    return server, create_default_context(cadata=pem.decode())
