"""Ctrl-C for one process alone.

A Ctrl-C reaches every process in the terminal's foreground, make among them, which would end with an error whatever its
command did about it. So the command takes the foreground for itself, and gives it back.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interruptible() -> Iterator[None]:
    """Turn Ctrl-C, a termination and a closed terminal into a KeyboardInterrupt, here and in no other process."""
    for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(sign, _interrupt)
    group = os.getpgrp()
    alone = os.isatty(0) and os.getpid() != group and os.tcgetpgrp(0) == group
    if alone:
        # Ignored: taking the foreground from the background, and Ctrl-Z, which would leave the terminal to nobody.
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        signal.signal(signal.SIGTSTP, signal.SIG_IGN)
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpgrp())
    try:
        yield
    finally:
        if alone:
            os.tcsetpgrp(0, group)


def _interrupt(_sign: int, _frame: FrameType | None) -> None:
    for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(sign, signal.SIG_IGN)  # the first one is enough: the next would break the cleaning up
    raise KeyboardInterrupt
