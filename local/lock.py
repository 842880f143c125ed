"""One at a time: a file lock for two commands that were started at once."""

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from local.progress import Failure, say

PATIENCE_SECONDS = 600


@contextmanager
def hold(path: Path) -> Iterator[None]:
    """Hold the lock at `path`, after waiting for whoever has it; it falls open when its holder dies."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        _wait(file.fileno(), path)
        yield


def _wait(descriptor: int, path: Path) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    told = False
    while not take(descriptor):
        if not told:
            say(f"Another command holds {path}; waiting for it")
            told = True
        if time.monotonic() > deadline:
            raise Failure(
                f"{path} is held since {PATIENCE_SECONDS} s. Does another `make` hang? End it, then try again."
            )
        time.sleep(0.2)


def take(descriptor: int) -> bool:
    """Take the lock on an open file, or return False at once when somebody else holds it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
