"""What a person sees while something takes its time: one line for each step, on stderr, with the seconds it took."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Failure(Exception):
    """What went wrong and what to do about it, as the text to show."""


@contextmanager
def step(text: str) -> Iterator[None]:
    """Name what is being done, count its seconds on a terminal, and say how long it took."""
    begun = time.monotonic()
    done = threading.Event()
    counter = threading.Thread(target=_count, args=(text, begun, done), daemon=True)
    counter.start()
    ending = "failed after"
    try:
        yield
        ending = "done in"
    finally:
        done.set()
        counter.join()
        say(f"{text}: {ending} {time.monotonic() - begun:.1f} s")


def say(line: str) -> None:
    """Show one line, over a counter that may stand there."""
    start = "\r\033[K" if sys.stderr.isatty() else ""
    print(f"{start}{line}", file=sys.stderr, flush=True)


def _count(text: str, begun: float, done: threading.Event) -> None:
    if not sys.stderr.isatty():
        print(f"{text} ...", file=sys.stderr, flush=True)
        return
    while not done.wait(0.2):
        print(f"\r\033[K{text} ... {time.monotonic() - begun:.0f} s", end="", file=sys.stderr, flush=True)
