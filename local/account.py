"""The account that the local AWS plays, and the wall between it and a real one.

The account id doubles as its access key: the emulator takes any twelve digits for that account's root, and never
checks the secret.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

ID = "111122223333"
SECRET = "local"  # noqa: S105 - the emulator checks no secret
REGION = "us-east-1"

_REAL = ("AWS_", "BOTO_", "SAM_", "LOCALSTACK_", "MINISTACK_")


def environment(caller: Mapping[str, str]) -> dict[str, str]:
    """Return the caller's environment less all that could lead to a real account, with the local one's keys."""
    kept = {name: value for name, value in caller.items() if not name.upper().startswith(_REAL)}
    return kept | {
        "AWS_ACCESS_KEY_ID": ID,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_REGION": REGION,
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        "NO_PROXY": _unproxied(caller),
        "no_proxy": _unproxied(caller),
    }


def _unproxied(caller: Mapping[str, str]) -> str:
    theirs = caller.get("no_proxy") or caller.get("NO_PROXY")
    return f"{theirs},127.0.0.1" if theirs else "127.0.0.1"


@contextmanager
def isolated() -> Iterator[None]:
    """Put this process and its children behind the wall."""
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(environment(before))
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
