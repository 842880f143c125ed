"""Handlers that do to their worker what no handler should: deployed with a worker of the tests' own.

Each call is noted in a file, since a process that is killed tells nothing else.
"""

import json
import os
import signal
import time
from typing import Any

from onthedot import Job, handler


@handler("deadly.kills")
def kills(job: Job) -> Any:
    """Kill the own process, in every attempt but those that are meant to live."""
    note(job)
    if job.attempt < job.payload.get("lives_at", 1_000):
        os.kill(os.getpid(), signal.SIGKILL)
    return job.attempt


@handler("deadly.waits")
def waits(job: Job) -> Any:
    """Wait for a while, in the first attempt."""
    note(job)
    if job.attempt == 1:
        time.sleep(job.payload["seconds"])
    return job.attempt


def note(job: Job) -> None:
    """Note who runs a job, and when."""
    line = {"attempt": job.attempt, "pid": os.getpid(), "at": time.time()}
    with open(job.payload["path"], "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
