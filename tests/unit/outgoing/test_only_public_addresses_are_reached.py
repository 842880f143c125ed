"""Whoever may create a job must not reach what only the worker can: its loopback, its network, its credentials."""

import socket

import pytest
from tests.support.https_server import answer
from tests.unit.outgoing.conftest import PUBLIC, World

from onthedot import Discard
from onthedot.outgoing.addresses import is_public
from onthedot.outgoing.connections import Left, look_up, trust
from onthedot.outgoing.errors import NotDelivered

URL = "https://hooks.example.com/in"
CLOSED = [
    *("0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.1.2.3"),
    *("169.254.0.1", "169.254.169.254", "169.254.170.2", "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1"),
    *("192.88.99.1", "192.168.0.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1"),
    *("239.255.255.250", "240.0.0.1", "255.255.255.255"),
    *("::", "::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%2", "fec0::1", "ff02::1", "100::1", "5f00::1"),
    *("2001::1", "2001:0:5ef5:79fb::1", "2001:db8::1", "3fff::1", "2002:7f00:1::", "2002:5db8:d70e::1"),
    *("::ffff:127.0.0.1", "::ffff:169.254.169.254", "::ffff:a00:1", "::127.0.0.1", "::93.184.215.14"),
    *("64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1"),
]
OPEN = [
    *(PUBLIC, "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0"),
    *("172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0", "223.255.255.255"),
    *("2606:4700::1111", "2001:4860:4860::8888", "2a00::1", "::ffff:1.1.1.1", "64:ff9b::1.1.1.1"),
]


@pytest.mark.parametrize("address", CLOSED)
def test_no_other_address_is_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", OPEN)
def test_an_address_of_the_internet_is_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("address", CLOSED)
def test_a_host_with_such_an_address_is_refused(world: World, address: str) -> None:
    """Also when another of its addresses is public: the one that is taken might be either."""
    for addresses in ([address], [PUBLIC, address], [address, PUBLIC]):
        world.names["hooks.example.com"] = addresses
        with pytest.raises(Discard, match=r"hooks\.example\.com has an address that is not public"):
            world.deliver({"url": URL})
    assert world.reached == []


def test_a_host_with_no_address_is_refused(world: World) -> None:
    world.names["hooks.example.com"] = []
    with pytest.raises(Discard, match="not public"):
        world.deliver({"url": URL})


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "127.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "017700000001", "0", "localhost"),
        *("LOCALHOST", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[fe80::1]"),
        *("169.254.169.254", "0xa9fea9fe", "2852039166", "１２７.0.0.1", "127。0。0。1"),  # noqa: RUF001
    ],
)
def test_however_it_is_written(world: World, host: str) -> None:
    """As the system's own resolver reads it: of its own look-up nothing is replaced, and nothing is connected to."""
    with pytest.raises(Discard, match="not public"):
        world.deliver({"url": f"https://{host}/"}, look_up=look_up)
    assert world.reached == []


def test_the_systems_resolver_gives_each_address_once() -> None:
    assert look_up("127.1") == ["127.0.0.1"]


def test_the_address_that_was_checked_is_the_one_that_is_reached(world: World) -> None:
    """A name that answers with a public address first and a private one then is asked once only."""
    answers = iter([[PUBLIC], ["127.0.0.1"]])
    world.names["hooks.example.com"] = lambda: next(answers)
    assert world.deliver({"url": URL}) == {"status": 200}
    assert (world.looked_up, world.reached) == (["hooks.example.com"], [(PUBLIC, 443)])
    assert world.server.names == ["hooks.example.com"]


def test_at_a_redirect_the_name_is_looked_up_and_checked_again(world: World) -> None:
    answers = iter([[PUBLIC], ["127.0.0.1"]])
    world.names["hooks.example.com"] = lambda: next(answers)
    world.server.script = lambda _: answer(307, location="/again")
    with pytest.raises(NotDelivered, match=r"a redirect .* has an address that is not public"):
        world.deliver({"url": URL})
    assert len(world.server.got) == 1


@pytest.mark.parametrize(
    "location",
    [
        *("https://127.0.0.1/", "https://[::1]/", "https://169.254.169.254/latest/meta-data", "//10.0.0.1/"),
        *(
            "http://hooks.example.com/",
            "ftp://hooks.example.com/",
            "file:///etc/passwd",
            "https://u:p@other.example.com",
        ),
        *("https://other.example.com:22/", "https://[::1"),
    ],
)
def test_a_redirect_leads_nowhere_else_than_the_first_url_may(world: World, location: str) -> None:
    world.names |= {it: [it] for it in ("127.0.0.1", "::1", "169.254.169.254", "10.0.0.1")}
    world.server.script = lambda _: answer(302, location=location)
    with pytest.raises(NotDelivered, match="refused"):
        world.deliver({"url": URL})
    assert len(world.server.got) == 1


def test_of_several_addresses_the_first_that_answers_is_taken(world: World) -> None:
    """Lambda has no IPv6 outside of a VPC, and most names have an address of it."""
    world.names["hooks.example.com"] = ["2606:4700::1111", PUBLIC]

    def without_v6(address: str, port: int, left: Left) -> socket.socket:
        if ":" in address:
            raise OSError("Network is unreachable")
        return world.connect(address, port, left)

    assert world.deliver({"url": URL}, connect=without_v6) == {"status": 200}
    assert world.reached == [(PUBLIC, 443)]


def test_who_cannot_prove_the_hosts_name_gets_nothing(world: World) -> None:
    with pytest.raises(NotDelivered, match="SSLCertVerificationError"):
        world.deliver({"url": "https://third.example.com/", "body": "private"})
    assert world.server.got == []


def test_an_authority_that_nobody_knows_proves_nothing(world: World) -> None:
    """What a deployment trusts is the machine's own authorities, and only those."""
    with pytest.raises(NotDelivered, match="SSLCertVerificationError"):
        world.deliver({"url": URL}, trust=trust)
    assert world.server.got == []


def test_no_proxy_of_the_environment_is_asked(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert world.deliver({"url": URL}) == {"status": 200}
