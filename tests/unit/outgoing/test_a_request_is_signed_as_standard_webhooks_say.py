"""Who receives a request can tell who sent it, when, and whether it came before."""

import base64
import hmac
from datetime import datetime, timedelta
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws
from tests.support.https_server import answer
from tests.unit.outgoing.conftest import KEY, NOW, World

from onthedot.outgoing.errors import NotDelivered
from onthedot.outgoing.secrets import KEPT, Secrets
from onthedot.outgoing.signing import key_of, signed

URL = "https://hooks.example.com/in"
WHSEC = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def test_the_signature_is_that_of_the_specifications_libraries() -> None:
    """The example of their own tests: the same secret, id, time and body give the same signature everywhere."""
    body = b'{"test": 2432232314}'
    headers = signed(
        key_of(WHSEC), "msg_p5jXN8AQM9LWM0D4loKWxJek", datetime.fromtimestamp(1614265330, NOW.tzinfo), body
    )
    assert headers == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


def by_hand(key: bytes, message: bytes) -> str:
    return "v1," + base64.b64encode(hmac.new(key, message, "sha256").digest()).decode()


def test_what_is_sent_is_what_is_signed(world: World) -> None:
    world.deliver({"url": URL, "body": {"a": "ä"}, "secret_name": "hooks"})
    [got] = world.server.got
    timestamp = str(int(NOW.timestamp()))
    assert (got.all("webhook-id"), got.all("idempotency-key"), got.all("webhook-timestamp")) == (
        [KEY],
        [KEY],
        [timestamp],
    )
    assert got.all("webhook-signature") == [by_hand(b"a secret", f"{KEY}.{timestamp}.".encode() + got.body)]


def test_without_a_secret_nothing_is_signed(world: World) -> None:
    world.deliver({"url": URL})
    assert not [name for name, _ in world.server.got[0].headers if name.startswith("webhook-")]


def test_a_redirect_of_the_same_host_is_signed_anew(world: World) -> None:
    """A POST that becomes a GET has no body any more, so that the first signature would be false."""
    answers = iter([answer(303, location="/done"), answer(200)])
    world.server.script = lambda _: next(answers)
    world.deliver({"url": URL, "body": "x", "secret_name": "hooks"})
    got = world.server.got[1]
    assert (got.method, got.target, got.body) == ("GET", "/done", b"")
    assert got.all("webhook-signature") == [by_hand(b"a secret", f"{KEY}.{int(NOW.timestamp())}.".encode())]


@pytest.mark.parametrize(
    ("secret", "key"),
    [("plain", b"plain"), ("ä", "ä".encode()), ("whsec_cGxhaW4=", b"plain"), (" spaced\n", b" spaced\n")],
)
def test_a_secret_is_a_text_or_base64(secret: str, key: bytes) -> None:
    assert key_of(secret) == key


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_5ecret!", "whsec_5ecre", "whsec_ä5ecret"])
def test_a_secret_that_is_no_key_is_not_told(secret: str) -> None:
    with pytest.raises(ValueError, match="the secret is empty, or after whsec_ no base64") as error:
        key_of(secret)
    assert "5ecre" not in str(error.value)


class Clock:
    """A clock that the test moves."""

    now = NOW


def test_a_secret_is_read_once_in_five_minutes_and_a_new_one_soon_used() -> None:
    with mock_aws():
        client, asked, clock = boto3.client("secretsmanager", "eu-central-1"), list[str](), Clock()
        client.create_secret(Name="hooks", SecretString="one")

        def used() -> Any:
            asked.append("client")
            return client

        secrets = Secrets(used, lambda: clock.now)
        assert [secrets.key("hooks"), secrets.key("hooks"), len(asked)] == [b"one", b"one", 1]
        client.put_secret_value(SecretId="hooks", SecretString="two")
        clock.now += KEPT - timedelta(seconds=1)
        assert secrets.key("hooks") == b"one"
        clock.now += timedelta(seconds=1)
        assert secrets.key("hooks") == b"two"
        assert "two" not in repr(secrets)


def test_a_secret_of_bytes_is_the_key() -> None:
    with mock_aws():
        client = boto3.client("secretsmanager", "eu-central-1")
        client.create_secret(Name="hooks", SecretBinary=b"\x00\xff")
        assert Secrets(lambda: client, lambda: NOW).key("hooks") == b"\x00\xff"


def test_a_secret_that_is_not_there_is_named(world: World) -> None:
    with mock_aws():
        client = boto3.client("secretsmanager", "eu-central-1")
        with pytest.raises(NotDelivered, match="secret_name nobody: there is no such secret"):
            Secrets(lambda: client, lambda: NOW).key("nobody")
        client.create_secret(Name="bad", SecretString="whsec_5ecret!")
        with pytest.raises(NotDelivered, match="secret_name bad: the secret is empty, or after whsec_ no base64"):
            Secrets(lambda: client, lambda: NOW).key("bad")
    assert world.server.got == []


@pytest.mark.parametrize(
    ("code", "why"),
    [("AccessDeniedException", "AllowedSecretArns"), ("DecryptionFailure", "could not be read: DecryptionFailure")],
)
def test_a_secret_that_may_not_be_read_says_what_to_do(code: str, why: str) -> None:
    class Refusing:
        def get_secret_value(self, **_: str) -> None:
            raise ClientError({"Error": {"Code": code, "Message": "no"}}, "GetSecretValue")

    with pytest.raises(NotDelivered, match=why):
        Secrets(Refusing, lambda: NOW).key("hooks")
