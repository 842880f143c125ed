"""The signature of a request, in the form of Standard Webhooks, which its readers have libraries for.

The secret is the whole text, or after `whsec_` its base64. Signed is `id.timestamp.body`; the id is the job's
idempotency key, so that a reader who keeps ids knows a repeated delivery.

Source: github.com/standard-webhooks/standard-webhooks, spec/standard-webhooks.md, read 2026-11-30.
"""

import hmac
from base64 import b64decode, b64encode
from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from typing import Final

PREFIX: Final = "whsec_"
ID, TIMESTAMP, SIGNATURE = "webhook-id", "webhook-timestamp", "webhook-signature"


def key_of(secret: str) -> bytes:
    """Return the key that a secret means.

    Raises: ValueError when it is empty, or is not base64 after `whsec_`; the text does not hold it.
    """
    try:
        key = b64decode(secret.removeprefix(PREFIX), validate=True) if secret.startswith(PREFIX) else secret.encode()
    except ValueError:
        key = b""
    if not key:
        raise ValueError("the secret is empty, or after whsec_ no base64")
    return key


def signed(key: bytes, message_id: str, now: datetime, body: bytes) -> Mapping[str, str]:
    """Return the headers that prove who sent this body, and when."""
    timestamp = str(int(now.timestamp()))
    digest = hmac.digest(key, f"{message_id}.{timestamp}.".encode() + body, sha256)
    return {ID: message_id, TIMESTAMP: timestamp, SIGNATURE: f"v1,{b64encode(digest).decode()}"}
