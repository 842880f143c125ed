"""Sweep: once an hour, send again what is long overdue.

A lost message, a purged queue or a restored table then costs an hour and not a job. The sweep is claimed before it
sends, so a dispatcher that dies in it does not make every tick sweep; the watermark stays where it is.
"""

from collections.abc import Callable
from datetime import datetime

from onthedot.rules.agenda import overdue_until
from onthedot.rules.events import Event
from onthedot.rules.timing import SWEEP_EVERY, Timing
from onthedot.steps.drain import PAGE, read_page, send_page
from onthedot.steps.ports import Shard, World


def sweep(world: World, shard: Shard, has_time: Callable[[], bool], after: str | None = None) -> str | None:
    """Send again every entry that should have been looked at a quarter of an hour ago, going on `after` one if given.

    Returns: the entry after which a next look goes on, when there was no time for all.
    """
    now = world.clock.now()
    if after is None and not _claimed(world, shard, now, has_time):
        return None
    reached: str | None = after or ""
    sent = refused = 0
    while reached is not None:
        page = read_page(world, shard, reached, overdue_until(now))
        refusals = send_page(world, page)
        sent, refused = sent + len(page) - len(refusals), refused + len(refusals)
        reached = str(page[-1]) if len(page) == PAGE else None
        if not has_time():
            break
    world.journal.shard(Event.SHARD_SWEPT, shard.name, sent, refused)
    return reached


def _claimed(world: World, shard: Shard, now: datetime, has_time: Callable[[], bool]) -> bool:
    return _is_due(shard, now, world.timing) and has_time() and world.shards.claim_sweep(shard, now)


def _is_due(shard: Shard, now: datetime, timing: Timing) -> bool:
    """Tell whether the last sweep is an hour ago; one from the future was noted by a fast clock: not believed."""
    since = now - shard.swept_at if shard.swept_at else SWEEP_EVERY
    return not -2 * timing.max_skew <= since < SWEEP_EVERY
