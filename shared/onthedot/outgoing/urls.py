"""The URLs that are called: https, a host without a user, and a port that is not another protocol's.

What is read here is what is connected to; no other reader of URLs has a say.
"""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urljoin, urlsplit

from onthedot.outgoing.errors import Refused

HTTPS_PORT: Final = 443
FIRST_OPEN_PORT: Final = 1024
"""Below it only 443: a request that reached a mail server's port could be read as mail."""
LONGEST: Final = 8192
SAFE: Final = "/%:@!$&'()*+,;=~-._?"

_AUTHORITY = re.compile(r"(?P<host>[^\[\]:]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>[0-9]{1,5}))?")
_NAME = re.compile(r"[a-z0-9_.-]{1,253}")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a request goes. Shape: `host` without brackets, in ASCII; `path` with its query, encoded."""

    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """What the header Host says."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == HTTPS_PORT else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The whole URL."""
        return f"https://{self.authority}{self.path}"


def read(url: str) -> Place:
    """Return where a URL leads.

    Raises: Refused with what is wrong with it.
    """
    if len(url) > LONGEST:
        raise Refused(f"is longer than {LONGEST} characters")
    if re.search(r"[\x00-\x20\x7f\\]", url):
        raise Refused("must hold no space, control character or backslash")
    try:
        parts = urlsplit(url)
    except ValueError:
        raise Refused("is no URL") from None
    if parts.scheme != "https":
        raise Refused("must begin with https://")
    if "@" in parts.netloc:
        raise Refused("must hold no user or password; send the header Authorization")
    host, port = _authority(parts.netloc)
    query = f"?{parts.query}" if parts.query else ""
    return Place(host, port, quote(f"{parts.path or '/'}", safe=SAFE.rstrip("?")) + quote(query, safe=SAFE))


def beside(place: Place, location: str) -> Place:
    """Return where a redirect leads.

    Raises: Refused with what is wrong with it.
    """
    try:
        return read(urljoin(place.url, location))
    except ValueError:
        raise Refused("is no URL") from None


def _authority(text: str) -> tuple[str, int]:
    found = _AUTHORITY.fullmatch(text)
    if not found:
        raise Refused("must have a host, and a port that is a number if any")
    port = int(found["port"] or HTTPS_PORT)
    if port != HTTPS_PORT and not FIRST_OPEN_PORT <= port <= 65535:
        raise Refused(f"may have port {HTTPS_PORT}, or one from {FIRST_OPEN_PORT} to 65535")
    host = found["host"]
    return (host[1:-1] if host.startswith("[") else _ascii(host)), port


def _ascii(host: str) -> str:
    try:
        name = host.encode("idna").decode().lower()
    except UnicodeError:
        name = ""
    if not _NAME.fullmatch(name):
        raise Refused("has no valid host name")
    return name
