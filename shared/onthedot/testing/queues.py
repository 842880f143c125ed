"""The queues of a lab by the names that the functions have for them, and what its workers wait for."""

from datetime import datetime, timedelta

from onthedot import wiring
from onthedot.messages import read_job
from onthedot.rules.agenda import rest_of
from onthedot.testing import inside


def queue_id(name: str) -> str:
    """Return the logical id of a queue that the functions know by this name."""
    return wiring.settings().queue_urls[name].rpartition("/")[2]


def put_off_early(queue: str, now: datetime) -> None:
    """Show a message for whose time its worker would wait at that time, and not before.

    A lab runs one function after the other: a worker that waited in it would keep all others waiting.
    """
    timing = wiring.settings().timing
    if not timing.worker_wait or queue != queue_id("job"):
        return

    def rest(text: str) -> timedelta:
        entry = read_job(text)
        return rest_of(entry, now, timing) if entry else timedelta(0)

    inside.put_off(queue, now, rest)
