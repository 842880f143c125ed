"""One lab for many stories: emptied, and back at its first minute, with no chance in it and nobody who sleeps."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from moto.dynamodb.models import dynamodb_backends
from moto.sqs.models import sqs_backends
from tests.support.journal import JOURNAL
from tests.support.lab import ACCOUNT, REGION, START, Lab

from onthedot.clock import SystemClock

RHYTHM = timedelta(minutes=3)
"""Slower than the timer, as slow as the look-ahead bears, since life after a fault is cheaper."""


PAUSE_SECONDS = 0.05
LIKELY = 0.9
"""Waits of nine tenths of what they may be."""


@contextmanager
def steady_lab(patch: pytest.MonkeyPatch) -> Iterator[Lab]:
    """Return a lab in which a story is the same each time. It has one shard: two would play a dispatcher twice."""
    with Lab(Shards=1) as lab:
        patch.setattr(SystemClock, "chance", lambda _: LIKELY)
        patch.setattr(SystemClock, "pause", lambda _: lab.time.shift(PAUSE_SECONDS))
        yield lab


def renew(lab: Lab) -> None:
    """Empty tables and queues, forget what ran, and begin anew."""
    for table in dynamodb_backends[ACCOUNT][REGION].tables.values():
        table.items.clear()
    for queue in sqs_backends[ACCOUNT][REGION].queues.values():
        queue._messages.clear()
        queue._pending_messages.clear()
        queue.deleted_messages.clear()
    JOURNAL.clear()
    lab.calls.clear()
    lab.rhythm = RHYTHM
    lab.time.move_to(START)
    lab.next_tick = START.replace(second=0) + timedelta(minutes=1)
