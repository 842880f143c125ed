"""What a payload of the `http` handler may hold. A request that can never work is dead at once, with every fault."""

import pytest
from tests.support.https_server import answer
from tests.unit.outgoing.conftest import KEY, World

from onthedot import Discard
from onthedot.outgoing import requests, urls
from onthedot.outgoing.errors import Refused

URL = "https://hooks.example.com/in"


def test_every_fault_is_named_at_once(world: World) -> None:
    payload = {"url": "http://x", "method": "BREW", "headers": {"Host": "y", "X-A": 1}, "secret_name": "", "bdy": 1}
    with pytest.raises(Discard) as discarded:
        world.deliver(payload)
    assert discarded.value.reason.split("; ") == [
        "url: must begin with https://",
        "method: must be one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS",
        "headers: Host is set by Onthedot alone, X-A must be a text of printable ASCII in one line",
        "secret_name: must be the name or ARN of a secret",
        "bdy: is no field",
        "those are url, method, headers, body, secret_name",
    ]
    assert world.looked_up == []


@pytest.mark.parametrize("payload", [None, "https://hooks.example.com", [], 5])
def test_a_payload_is_an_object(payload: object) -> None:
    with pytest.raises(Discard, match="payload: must be an object"):
        requests.read(payload)


def test_a_url_is_all_that_is_needed(world: World) -> None:
    with pytest.raises(Discard, match="url: is missing"):
        requests.read({})
    assert world.deliver({"url": URL}) == {"status": 200}
    [got] = world.server.got
    assert (got.method, got.target, got.body) == ("POST", "/in", b"")
    assert dict(got.headers) == {
        "user-agent": "Onthedot",
        "content-length": "0",
        "host": "hooks.example.com",
        "connection": "close",
        "idempotency-key": KEY,
    }


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("", "https://"),
        ("hooks.example.com/in", "https://"),
        ("http://hooks.example.com", "https://"),
        ("ftp://hooks.example.com", "https://"),
        ("//hooks.example.com", "https://"),
        ("https:/hooks.example.com", "a host"),
        ("https://", "a host"),
        ("https://:443", "a host"),
        ("https://user@hooks.example.com", "no user"),
        ("https://user:pass@hooks.example.com", "no user"),
        ("https://hooks.example.com@127.0.0.1/", "no user"),
        ("https://hooks.example.com:0", "port"),
        ("https://hooks.example.com:22", "port"),
        ("https://hooks.example.com:465", "port"),
        ("https://hooks.example.com:1023", "port"),
        ("https://hooks.example.com:65536", "port"),
        ("https://hooks.example.com:-1", "port"),
        ("https://hooks.example.com:x", "port"),
        ("https://hooks.example.com:٤٤٣", "port"),
        ("https://hooks.example.com:443:443", "port"),
        ("https://hooks.example.com/a b", "no space"),
        (" https://hooks.example.com", "no space"),
        ("https://hooks.example.com/\n", "no space"),
        ("https://hooks\t.example.com/", "no space"),
        ("https://hooks.example.com\\@127.0.0.1/", "backslash"),
        ("https://hooks.example.com/\x00", "control"),
        ("https://[::1", "URL"),
        ("https://[::1]x/", "URL|host"),
        ("https://[fe80::1%25eth0]/", "URL|host"),
        ("https://[127.0.0.1]/", "URL|host"),
        ("https://a..example.com", "host name"),
        ("https://hooks%2eexample.com", "host name"),
        ("https://hooks.example.com\u2100.com", "URL|host name"),
        ("https://" + "a" * 64 + ".com", "host name"),
        ("https://hooks.example.com/" + "a" * 8192, "longer"),
    ],
)
def test_a_url_that_cannot_be_called_is_refused(url: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        urls.read(url)
    with pytest.raises(Discard, match="url: "):
        requests.read({"url": url})


@pytest.mark.parametrize(
    ("url", "authority", "path"),
    [
        ("https://hooks.example.com", "hooks.example.com", "/"),
        ("HTTPS://Hooks.Example.COM:443/A?b=C#d", "hooks.example.com", "/A?b=C"),
        ("https://hooks.example.com:8443?x", "hooks.example.com:8443", "/?x"),
        ("https://hooks.example.com/%2F/a%20b?q=%26&r=[1]", "hooks.example.com", "/%2F/a%20b?q=%26&r=%5B1%5D"),
        ("https://hooks.example.com/ä?ö", "hooks.example.com", "/%C3%A4?%C3%B6"),
        ("https://münchen.example/", "xn--mnchen-3ya.example", "/"),
        ("https://[2606:4700::1111]:8443/", "[2606:4700::1111]:8443", "/"),
    ],
)
def test_a_url_is_called_as_it_was_meant(url: str, authority: str, path: str) -> None:
    place = urls.read(url)
    assert (place.authority, place.path) == (authority, path)
    assert urls.read(place.url) == place


OURS = ["Host", "content-length", "Transfer-Encoding", "CONNECTION", "te", "Upgrade", "Expect", "Proxy-Authorization"]
SIGNED = ["Idempotency-Key", "webhook-id", "Webhook-Timestamp", "webhook-signature"]


@pytest.mark.parametrize("name", OURS + SIGNED)
def test_no_header_of_ours_is_another_to_set(name: str) -> None:
    with pytest.raises(Discard, match=f"{name} is set by Onthedot alone"):
        requests.read({"url": URL, "headers": {name: "x"}})


@pytest.mark.parametrize("name", ["", "a b", "a:", "a\r\nb", "ä", "x\x00"])
def test_a_header_has_a_headers_name(name: str) -> None:
    with pytest.raises(Discard, match="is no header's name"):
        requests.read({"url": URL, "headers": {name: "x"}})


@pytest.mark.parametrize("value", ["a\r\nHost: b", "a\n", "\r", "a\x00", "ä", 1, None, ["a"]])
def test_a_header_is_one_line(value: object) -> None:
    """Its value may be a secret, so that it is not said again."""
    with pytest.raises(Discard, match=r"^headers: X-A must be a text of printable ASCII in one line$"):
        requests.read({"url": URL, "headers": {"X-A": value}})


def test_headers_are_few_and_each_is_there_once() -> None:
    with pytest.raises(Discard, match="x-a is there twice"):
        requests.read({"url": URL, "headers": {"X-A": "1", "x-a": "2"}})
    with pytest.raises(Discard, match="over 16384 bytes"):
        requests.read({"url": URL, "headers": {f"X-{n}": "x" * 1000 for n in range(17)}})
    with pytest.raises(Discard, match="headers: must be an object"):
        requests.read({"url": URL, "headers": ["X-A"]})


@pytest.mark.parametrize(
    ("body", "sent", "kind"),
    [
        ({"a": [1.0, "ä"]}, '{"a":[1.0,"ä"]}', ["application/json"]),
        ([], "[]", ["application/json"]),
        (None, "null", ["application/json"]),
        ("a=1&b=ä", "a=1&b=ä", []),
        ("", "", []),
    ],
    ids=str,
)
def test_a_body_is_json_or_the_text_as_it_is(world: World, body: object, sent: str, kind: list[str]) -> None:
    world.deliver({"url": URL, "body": body})
    [got] = world.server.got
    assert (got.body.decode(), got.all("content-type")) == (sent, kind)


def test_what_the_payload_says_of_its_body_stands(world: World) -> None:
    headers = {"Content-Type": "application/cloudevents+json", "User-Agent": "Snip/1", "X-Api-Key": "k"}
    world.deliver({"url": URL, "body": {}, "headers": headers, "method": "PUT"})
    [got] = world.server.got
    assert got.method == "PUT"
    assert [got.all(name.lower()) for name in headers] == [[value] for value in headers.values()]


def test_a_get_sends_no_length(world: World) -> None:
    world.server.script = lambda _: answer(200, b"here")
    assert world.deliver({"url": URL, "method": "GET"}) == {"status": 200, "body": "here"}
    assert world.server.got[0].all("content-length") == []


def test_what_is_secret_is_in_no_repr() -> None:
    request = requests.read({"url": URL, "headers": {"Authorization": "Bearer 5ecret"}, "body": "5ecret"})
    assert "5ecret" not in repr(request)
