"""Which addresses are public: everything else is closed to the `http` handler.

Python's own `is_global` differs between its patch releases, so the table stands here.

Source: iana.org/assignments/iana-ipv4-special-registry and iana-ipv6-special-registry, as of 2026-11.
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final

SPECIAL_V4: Final = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",  # this network; Linux takes 0.0.0.0 for itself
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # behind a carrier's NAT
        "127.0.0.0/8",  # loopback: Lambda's runtime API
        "169.254.0.0/16",  # link-local: metadata and credentials of EC2 and ECS
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # relays of 6to4, given up
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)
GLOBAL_V6: Final = IPv6Network("2000::/3")
"""What is given out; loopback, mapped, private (fc00::/7), link-local and multicast addresses are all outside."""
SPECIAL_V6: Final = tuple(
    IPv6Network(text)
    for text in (
        "2001::/23",  # protocol assignments, Teredo among them
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4, which wraps any IPv4 address
        "3fff::/20",  # documentation
    )
)
NAT64: Final = IPv6Network("64:ff9b::/96")
"""Wraps an IPv4 address, for networks that have IPv6 alone."""


def is_public(address: str) -> bool:
    """Tell whether an address is one of the internet's, also where it is wrapped in another."""
    match ip_address(address):
        case IPv4Address() as plain:
            return _is_public_v4(plain)
        case IPv6Address() as long:
            inner = long.ipv4_mapped or _behind_nat64(long)
            return _is_public_v6(long) if inner is None else _is_public_v4(inner)


def _is_public_v4(address: IPv4Address) -> bool:
    return not any(address in network for network in SPECIAL_V4)


def _is_public_v6(address: IPv6Address) -> bool:
    return address in GLOBAL_V6 and not any(address in network for network in SPECIAL_V6)


def _behind_nat64(address: IPv6Address) -> IPv4Address | None:
    return IPv4Address(int(address) & 0xFFFF_FFFF) if address in NAT64 else None
