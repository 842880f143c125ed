"""What `docs/handlers.md` shows is taken, and its programs verify what is sent."""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.outgoing.conftest import NOW, World

from onthedot.outgoing import (
    answers,
    calls,
    connections,
    deliveries,
    events,
    https,
    queues,
    requests,
    secrets,
    signing,
    urls,
)
from onthedot.outgoing.fields import checked

PAGE = (Path(__file__).parents[3] / "docs/handlers.md").read_text("utf-8")
URL = "https://hooks.example.com/in"
SECRETS = ["a plain one", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "mit Umlaut: ä"]
BODIES = ["", '{"a": "ä"}', "line\nline\n", "tail\n\n"]


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_its_payloads_are_taken() -> None:
    http, *others = map(json.loads, blocks("json"))
    assert requests.read(http).secret_name == "hooks"
    for payload, checks in zip(others, (queues.CHECKS, calls.CHECKS, events.CHECKS), strict=True):
        assert checked(payload, checks, "arn") == payload


def test_its_numbers_are_those_of_the_code() -> None:
    assert f"port {urls.HTTPS_PORT}, or one from {urls.FIRST_OPEN_PORT} to 65535" in PAGE
    assert f"ASCII, {requests.MOST_HEADER_BYTES // 1024} KiB in all" in PAGE
    assert f"At most {https.MOST_BODY // 1024} KiB of a body" in PAGE
    assert f"the first {answers.MOST_KEPT:,} bytes" in PAGE
    assert (deliveries.MOST_REDIRECTS, deliveries.RESERVE_SECONDS, queues.MOST_ATTRIBUTES) == (5, 0.5, 9)
    assert (answers.LONGEST_WAIT.days, secrets.KEPT.seconds, connections.CONNECT_SECONDS) == (7, 300, 10)
    assert all(f"`{method}`" in PAGE for method in requests.METHODS)
    others = {name.title() for name in requests.HARMLESS}
    assert all(f"`{name}`" in PAGE for name in others)


def sent(world: World, secret: str, body: str) -> tuple[dict[str, str], bytes]:
    """Return the headers and the body of a signed request as a server got it."""
    world.keys["hooks"] = signing.key_of(secret)
    world.deliver({"url": URL, "body": body, "secret_name": "hooks"})
    return dict(world.server.got[-1].headers), world.server.got[-1].body


def in_python(secret: str, headers: dict[str, str], body: bytes) -> bool:
    [program] = blocks("python")
    names: dict[str, Any] = {}
    exec(program, names)
    answer: bool = names["verify"](secret, headers, body, NOW.timestamp() + 10)
    return answer


def in_shell(secret: str, headers: dict[str, str], body: bytes) -> bool:
    [program] = blocks("sh")
    said = [headers[name] for name in ("webhook-id", "webhook-timestamp", "webhook-signature")]
    command = ["sh", "-c", f'{program}\nverify "$@"', "sh", secret, *said]
    done = subprocess.run(command, input=body, capture_output=True, check=False)
    assert (done.returncode in (0, 1), done.stderr) == (True, b"")
    return done.returncode == 0


@pytest.mark.parametrize("verify", [in_python, in_shell])
@pytest.mark.parametrize("secret", SECRETS)
def test_its_programs_verify_what_is_sent(
    world: World, verify: Callable[[str, dict[str, str], bytes], bool], secret: str
) -> None:
    for body in BODIES:
        assert verify(secret, *sent(world, secret, body))


@pytest.mark.parametrize("verify", [in_python, in_shell])
def test_its_programs_refuse_what_was_changed(
    world: World, verify: Callable[[str, dict[str, str], bytes], bool]
) -> None:
    headers, body = sent(world, SECRETS[0], "x")
    assert not verify("another", headers, body)
    assert not verify(SECRETS[0], headers, body + b"\n")
    for name, said in (("webhook-id", "y"), ("webhook-timestamp", str(int(NOW.timestamp()) + 1))):
        assert not verify(SECRETS[0], headers | {name: said}, body)


def test_an_old_request_is_refused(world: World) -> None:
    headers, body = sent(world, SECRETS[0], "x")
    [program] = blocks("python")
    names: dict[str, Any] = {}
    exec(program, names)
    assert not names["verify"](SECRETS[0], headers, body, NOW.timestamp() + 301)
