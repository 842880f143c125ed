"""What the jobs of `lateness` do in both systems: nothing, and a line before and after it.

Imports no more than the standard library, since it runs in the environments of both.
"""

import os
import time
from secrets import token_hex

from tests.races.journal import note


def run(job: str, waits: float) -> None:
    """Note that the job has begun and ended; the one whose worker is killed waits in between."""
    call = token_hex(6)
    note("begin", job=job, call=call, parent=os.getppid())
    if waits:
        time.sleep(waits)
    note("end", job=job, call=call)
