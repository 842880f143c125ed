"""What the other side answers: done, not yet and when, or failed."""

import json
from datetime import timedelta
from email.utils import format_datetime

import pytest
from tests.support.https_server import Got, answer
from tests.unit.outgoing.conftest import NOW, World

from onthedot import RetryAfter
from onthedot.attempt import MAX_RESULT
from onthedot.outgoing.errors import NotDelivered

URL = "https://hooks.example.com/in"
WEEK = 7 * 24 * 3600


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_any_2xx_is_success(world: World, status: int) -> None:
    world.server.script = lambda _: answer(status)
    assert world.deliver({"url": URL}) == {"status": status}


@pytest.mark.parametrize("status", [300, 304, 400, 401, 404, 408, 410, 418, 422, 425, 429, 500, 502, 503, 504, 599])
def test_any_other_fails_the_attempt(world: World, status: int) -> None:
    """With its status, and without its body, which may repeat what was sent."""
    world.server.script = lambda _: answer(status, b"5ecret" if status != 304 else b"")
    with pytest.raises(NotDelivered, match=f"^hooks.example.com answered {status}$"):
        world.deliver({"url": f"{URL}?5ecret"})


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("0", 0),
        ("120", 120),
        (format_datetime(NOW + timedelta(seconds=90), usegmt=True), 90),
        (format_datetime(NOW - timedelta(seconds=90), usegmt=True), 0),
        ("Sun, 28 Mar 2027 02:00:10 +0100", 10),
        ("Sunday, 28-Mar-27 01:01:00 GMT", 60),
        ("Sun Mar 28 01:00:30 2027", 30),
        (str(WEEK + 1), WEEK),
        ("9" * 400, WEEK),
        ("Fri, 31 Dec 9999 23:59:59 GMT", WEEK),
    ],
)
def test_who_says_when_to_come_again_is_obeyed(world: World, status: int, said: str, seconds: int) -> None:
    """But for no longer than a week: another's word must not keep a job waiting for years."""
    world.server.script = lambda _: answer(status, retry_after=said)
    with pytest.raises(RetryAfter) as wait:
        world.deliver({"url": URL})
    assert wait.value.seconds == seconds
    assert str(wait.value.__cause__).endswith(f"answered {status}"), "what the attempt's error tells"


@pytest.mark.parametrize("said", ["", "soon", "-5", "1.5", "1e3", "٣", "Fri, 99 Dec 2027", "Fri, 31 Dec 99999999"])
def test_a_wait_without_a_form_is_no_wait(world: World, said: str) -> None:
    world.server.script = lambda _: answer(503, retry_after=said)
    with pytest.raises(NotDelivered, match="answered 503"):
        world.deliver({"url": URL})


def test_only_who_is_overloaded_says_when(world: World) -> None:
    world.server.script = lambda _: answer(500, retry_after="120")
    with pytest.raises(NotDelivered, match="answered 500"):
        world.deliver({"url": URL})


@pytest.mark.parametrize(
    ("body", "kept"),
    [(b"done", "done"), (b'{"id":1}', '{"id":1}'), ("ä".encode(), "ä"), (b"\xff", "\ufffd"), (b"x" * 9000, "x" * 2625)],
)
def test_the_text_of_the_answer_is_kept(world: World, body: bytes, kept: str) -> None:
    world.server.script = lambda _: answer(200, body)
    assert world.deliver({"url": URL}) == {"status": 200, "body": kept}


@pytest.mark.parametrize("byte", [b"\x00", b'"', b"\xff", b"\xc3\xa4", b"x"])
def test_a_result_is_never_too_large_to_be_kept(world: World, byte: bytes) -> None:
    """A status must not be lost for what stands beside it."""
    world.server.script = lambda _: answer(200, byte * 10_000)
    result = world.deliver({"url": URL})
    assert result["body"]
    assert len(json.dumps(result, ensure_ascii=False).encode()) <= MAX_RESULT


def test_a_redirect_is_followed(world: World) -> None:
    answers = iter([answer(308, location="next?a"), answer(307, location="//other.example.com:8443/x"), answer(200)])
    world.server.script = lambda _: next(answers)
    assert world.deliver({"url": URL, "body": {"a": 1}}) == {"status": 200}
    assert [(got.method, got.target, got.body) for got in world.server.got] == [
        ("POST", "/in", b'{"a":1}'),
        ("POST", "/next?a", b'{"a":1}'),
        ("POST", "/x", b'{"a":1}'),
    ]
    assert [port for _, port in world.reached] == [443, 443, 8443]
    assert world.server.got[2].all("host") == ["other.example.com:8443"]


@pytest.mark.parametrize("status", [301, 302, 303])
@pytest.mark.parametrize(("method", "then"), [("POST", "GET"), ("PUT", "GET"), ("GET", "GET"), ("HEAD", "HEAD")])
def test_one_that_is_answered_elsewhere_is_asked_without_its_body(
    world: World, status: int, method: str, then: str
) -> None:
    answers = iter([answer(status, location="/seen"), answer(200)])
    world.server.script = lambda _: next(answers)
    world.deliver({"url": URL, "method": method, "body": {}, "headers": {"Content-Language": "en", "X-A": "1"}})
    got = world.server.got[1]
    assert (got.method, got.target, got.all("x-a")) == (then, "/seen", ["1"])
    if then == "GET":
        assert not [name for name, _ in got.headers if name.startswith("content-")]


@pytest.mark.parametrize("location", ["https://other.example.com/", "https://hooks.example.com:8443/"])
def test_another_host_is_told_no_secret(world: World, location: str) -> None:
    """A host that is taken over, or only careless, would collect what was meant for the first alone."""
    answers = iter([answer(307, location=location), answer(307, location=URL), answer(200)])
    world.server.script = lambda _: next(answers)
    headers = {"Authorization": "Bearer 5ecret", "Cookie": "5ecret", "X-Api-Key": "5ecret", "Accept": "text/plain"}
    world.deliver({"url": URL, "body": {}, "headers": headers, "secret_name": "hooks"})
    first, *others = world.server.got
    assert str(first.headers).count("5ecret") == 3
    for got in others:
        names = {name for name, _ in got.headers}
        assert "5ecret" not in str(got.headers)
        assert names == {
            "accept",
            "content-type",
            "content-length",
            "user-agent",
            "host",
            "connection",
            "idempotency-key",
        }


def test_redirects_end(world: World) -> None:
    world.server.script = lambda _: answer(302, location="/again")
    with pytest.raises(NotDelivered, match="more than 5 redirects"):
        world.deliver({"url": URL})
    assert len(world.server.got) == 6


def test_five_redirects_are_not_too_many(world: World) -> None:
    world.server.script = lambda _: answer(200) if len(world.server.got) == 6 else answer(302, location="/again")
    assert world.deliver({"url": URL}) == {"status": 200}


def test_a_redirect_to_nowhere_is_an_answer(world: World) -> None:
    world.server.script = lambda _: answer(302)
    with pytest.raises(NotDelivered, match="answered 302"):
        world.deliver({"url": URL})


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"HTTP/1.1",
        b"SSH-2.0-OpenSSH_9\r\n",
        b"HTTP/1.1 2000 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nbroke",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nbro",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nabcde",
    ],
)
def test_what_is_no_whole_answer_fails_the_attempt(world: World, said: bytes) -> None:
    world.server.script = lambda _: said
    with pytest.raises(NotDelivered, match=r"^hooks\.example\.com: "):
        world.deliver({"url": URL})


def test_chunks_are_read(world: World) -> None:
    head = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    world.server.script = lambda _: head + b"3\r\nabc\r\n2\r\nde\r\n0\r\nX-T: 1\r\n\r\n"
    assert world.deliver({"url": URL}) == {"status": 200, "body": "abcde"}


def test_a_head_has_no_body(world: World) -> None:
    def script(got: Got) -> bytes:
        assert got.method == "HEAD"
        return answer(200, content_length="10")

    world.server.script = script
    assert world.deliver({"url": URL, "method": "HEAD"}) == {"status": 200}


def test_a_name_that_nobody_has_is_tried_again(world: World) -> None:
    """It may be on its way; a name that has a closed address is refused at once instead."""

    def nobody() -> list[str]:
        raise OSError(-2, "Name or service not known")

    world.names["hooks.example.com"] = nobody
    with pytest.raises(NotDelivered, match="Name or service not known"):
        world.deliver({"url": URL})
