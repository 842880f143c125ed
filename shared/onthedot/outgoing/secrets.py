"""The secrets that requests are signed with, from Secrets Manager; kept for minutes, so that a new one is soon used."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from botocore.exceptions import ClientError

from onthedot.outgoing.errors import NotDelivered
from onthedot.outgoing.signing import key_of

KEPT: Final = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Secrets:
    """Reads keys. What is kept is kept in this container alone, and shown nowhere."""

    client: Callable[[], Any]
    now: Callable[[], datetime]
    _kept: dict[str, tuple[datetime, bytes]] = field(default_factory=dict, repr=False)

    def key(self, name: str) -> bytes:
        """Return the key that the secret of this name holds.

        Raises: NotDelivered when it is not there, may not be read, or is no key.
        """
        now = self.now()
        kept = self._kept.get(name)
        if kept is None or not kept[0] <= now < kept[0] + KEPT:
            kept = self._kept[name] = now, self._read(name)
        return kept[1]

    def _read(self, name: str) -> bytes:
        try:
            answer = self.client().get_secret_value(SecretId=name)
        except ClientError as error:
            raise NotDelivered(_why(name, error.response.get("Error", {}).get("Code", ""))) from None
        try:
            return key_of(answer["SecretString"]) if "SecretString" in answer else bytes(answer["SecretBinary"])
        except ValueError as error:
            raise NotDelivered(f"secret_name {name}: {error}") from None


def _why(name: str, code: str) -> str:
    match code:
        case "ResourceNotFoundException":
            return f"secret_name {name}: there is no such secret"
        case "AccessDeniedException":
            return (
                f"secret_name {name}: the worker may not read it; AllowedSecretArns of the template names those it may"
            )
        case _:
            return f"secret_name {name}: it could not be read: {code}"
