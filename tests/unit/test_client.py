"""The client sends exactly what it signed, and answers with what it got."""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from onthedot.client import Client, path_to

CREDENTIALS = Credentials("AKIDEXAMPLE", "secret")


@dataclass
class Wire:
    """An HTTP server on the loopback that keeps what it was sent, as it was sent."""

    url: str
    lines: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    answer: tuple[int, bytes] = (200, b"{}")


@pytest.fixture
def wire() -> Iterator[Wire]:
    class Handler(BaseHTTPRequestHandler):
        def respond(self) -> None:
            seen.lines.append(self.requestline)
            seen.headers.append({name.lower(): value for name, value in self.headers.items()})
            seen.bodies.append(self.rfile.read(int(self.headers.get("Content-Length", 0))))
            self.send_response(seen.answer[0])
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(seen.answer[1])))
            self.end_headers()
            self.wfile.write(seen.answer[1])

        do_GET = do_POST = do_DELETE = respond  # noqa: N815 - the names that http.server looks for

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        seen = Wire(f"http://127.0.0.1:{server.server_port}/live")
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield seen
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("job", "sent", "signed"),
    [
        ("plain-1", "plain-1", "plain-1"),
        ("report@2027-03-28T01:00:00Z", "report%402027-03-28T01%3A00%3A00Z", "report%25402027-03-28T01%253A00%253A00Z"),
        ("report@manual-1", "report%40manual-1", "report%2540manual-1"),
        ("a+b", "a%2Bb", "a%252Bb"),
        ("a.b_c-d", "a.b_c-d", "a.b_c-d"),
        ("a/../b c", "a%2F..%2Fb%20c", "a%252F..%252Fb%2520c"),
        ("é~%41", "%C3%A9~%2541", "%25C3%25A9~%252541"),
    ],
)
def test_the_path_on_the_wire_is_the_one_that_was_signed(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, job: str, sent: str, signed: str
) -> None:
    canonical = _spy(monkeypatch)
    Client(wire.url, CREDENTIALS).call("GET", path_to("jobs", job))
    assert wire.lines == [f"GET /live/jobs/{sent} HTTP/1.1"]
    assert canonical[0].splitlines()[1] == f"/live/jobs/{signed}"


def test_the_query_on_the_wire_is_the_one_that_was_signed(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    canonical = _spy(monkeypatch)
    query = {"due_from": "2027-03-28T01:00:00+02:00", "cursor": "a/b=&c d"}
    Client(wire.url, CREDENTIALS).call("GET", "/jobs", query=query)
    due, cursor = "due_from=2027-03-28T01%3A00%3A00%2B02%3A00", "cursor=a%2Fb%3D%26c%20d"
    assert wire.lines == [f"GET /live/jobs?{due}&{cursor} HTTP/1.1"]
    assert canonical[0].splitlines()[2] == f"{cursor}&{due}"


def test_the_signature_is_for_execute_api_in_the_client_s_region(wire: Wire) -> None:
    Client(wire.url, Credentials("AKIDEXAMPLE", "secret", "token"), "eu-west-1").call("GET", "/health")
    sent = wire.headers[0]
    assert "Credential=AKIDEXAMPLE/" in sent["authorization"]
    assert "/eu-west-1/execute-api/aws4_request" in sent["authorization"]
    assert sent["x-amz-security-token"] == "token"


def test_without_credentials_nothing_is_signed(wire: Wire) -> None:
    Client(wire.url, None).call("GET", "/health")
    assert "authorization" not in wire.headers[0]


def test_a_body_is_sent_as_json_and_bytes_as_they_are(wire: Wire) -> None:
    client = Client(wire.url, CREDENTIALS)
    client.call("POST", "/jobs", {"payload": "naïve"})
    client.call("POST", "/jobs", b'{"a": NaN')
    client.call("DELETE", "/jobs/a")
    assert wire.bodies == ['{"payload": "naïve"}'.encode(), b'{"a": NaN', b""]
    assert [sent.get("content-type") for sent in wire.headers] == ["application/json", "application/json", None]


def test_an_answer_is_given_whatever_its_status(wire: Wire) -> None:
    wire.answer = (409, json.dumps({"status": 409, "big": 2**70}).encode())
    answer = Client(wire.url, CREDENTIALS).call("GET", "/jobs/a")
    assert (answer.status, answer.body) == (409, {"status": 409, "big": 2**70})
    assert answer.headers["content-type"] == "application/json"
    wire.answer = (503, b"")
    assert Client(wire.url, CREDENTIALS).call("GET", "/jobs/a").body is None


def test_the_environment_names_the_deployment_and_the_caller(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "ONTHEDOT_URL": wire.url,
        "AWS_ACCESS_KEY_ID": "AKIDFROMENV",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "eu-central-1",
    }.items():
        monkeypatch.setenv(name, value)
    Client.from_environment().call("GET", "/health")
    assert "Credential=AKIDFROMENV/" in wire.headers[0]["authorization"]
    assert "/eu-central-1/" in wire.headers[0]["authorization"]


def _spy(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Keep each canonical request that is signed."""
    canonical: list[str] = []
    real = SigV4Auth.canonical_request

    def spy(self: SigV4Auth, request: AWSRequest) -> str:
        canonical.append(real(self, request))
        return canonical[-1]

    monkeypatch.setattr(SigV4Auth, "canonical_request", spy)
    return canonical
