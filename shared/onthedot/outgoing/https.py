"""One exchange over HTTPS: look up once, check every address, connect to those, send, read a bounded answer."""

import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse
from ssl import SSLContext
from typing import Final

from onthedot.outgoing import connections
from onthedot.outgoing.addresses import is_public
from onthedot.outgoing.connections import Left, Timed, in_time, secured
from onthedot.outgoing.errors import NotDelivered, Refused
from onthedot.outgoing.requests import Request

MOST_BODY: Final = 65_536
MOST_BYTES: Final = 3 * MOST_BODY
"""Of the whole answer: its headers, and what a body that comes in chunks adds, have as much again."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the other side said. Shape: names of headers in lower case; of the body no more than `MOST_BODY`."""

    host: str
    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Wire:
    """How hosts are reached. Which addresses may be is no part of it, so that no setting can leave that out."""

    look_up: Callable[[str], Sequence[str]] = connections.look_up
    connect: Callable[[str, int, Left], socket.socket] = connections.connect
    trust: Callable[[], SSLContext] = connections.trust

    def exchange(self, request: Request, headers: Mapping[str, str], left: Left) -> Answer:
        """Send the request with these headers, and return the answer.

        Raises: Refused when any address of the host is not public; NotDelivered when there is no whole answer.
        """
        place = request.place
        try:
            addresses = in_time(self.look_up, place.host, left)
            if not addresses or not all(is_public(address) for address in addresses):
                raise Refused(f"the host {place.host} has an address that is not public")
            sock = self._reached(addresses, place.port, left)
            with secured(sock, self.trust(), place.host, left, MOST_BYTES) as channel:
                return _exchanged(channel, request, headers)
        except (OSError, HTTPException, ValueError) as error:
            raise NotDelivered(f"{place.host}: {type(error).__name__}: {str(error)[:200]}") from None

    def _reached(self, addresses: Sequence[str], port: int, left: Left) -> socket.socket:
        """Connect to the first that answers: an address of IPv6 is no use where there is only IPv4."""
        *others, last = addresses
        for address in others:
            try:
                return self.connect(address, port, left)
            except OSError:
                continue
        return self.connect(last, port, left)


def _exchanged(channel: Timed, request: Request, headers: Mapping[str, str]) -> Answer:
    connection = HTTPConnection(request.place.host)
    connection.sock = channel
    connection.putrequest(request.method, request.place.path, skip_host=True, skip_accept_encoding=True)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders(request.body)
    with connection.getresponse() as response:
        body = response.read(MOST_BODY)
        if len(body) < MOST_BODY and response.length:
            raise NotDelivered(f"{request.place.host}: the answer broke off")
        return Answer(request.place.host, response.status, _headers(response), body)


def _headers(response: HTTPResponse) -> Mapping[str, str]:
    return {name.lower(): value for name, value in response.getheaders()}
