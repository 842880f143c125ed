"""Spread: a stable offset of a schedule's slots, so that those who all wrote `0 9 * * *` do not all start at once.

    slot          run_at                 next slot
    |-------------|----------------------|
     fraction(name) * min(spread, until the next slot)

It is never negative and never reaches the next slot. The slot keeps its identity: only `run_at` moves.
"""

from datetime import datetime, timedelta
from hashlib import sha256

from onthedot.rules.instants import MILLISECOND
from onthedot.rules.slots import Timetable, next_slots

PARTS = 2**64


def run_at(timetable: Timetable, slot: datetime) -> datetime:
    """Return when the job of a slot may start."""
    if not timetable.spread:
        return slot
    following = next_slots(timetable, slot, 1)
    return slot + offset_of(timetable, following[0].instant - slot if following else None)


def offset_of(timetable: Timetable, until_next: timedelta | None) -> timedelta:
    """Return the offset of a slot with this long until the next, or `None` when it is the last."""
    span = timetable.spread if until_next is None else min(timetable.spread, until_next)
    fraction = int.from_bytes(sha256(timetable.name.encode()).digest()[8:16])
    return span // MILLISECOND * fraction // PARTS * MILLISECOND
