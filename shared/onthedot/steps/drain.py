"""Drain: hand over what wakes soon, page by page, and note how far that went.

The watermark moves after each page, so a dispatcher that is stopped repeats one page and not all; and never past an
entry that SQS did not accept, so nothing is left behind.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from onthedot.rules.agenda import Entry, arrives_at, horizon, resume_after
from onthedot.rules.events import Event
from onthedot.steps.ports import Index, Refusal, Shard, World

PAGE = 500
"""Entries read and sent between two moves of the watermark."""


@dataclass(frozen=True, slots=True)
class Drained:
    """What a drain did; `left` tells that it stopped for time, and that going on at once would help."""

    sent: int
    refused: int
    left: bool


def drain(world: World, shard: Shard, has_time: Callable[[], bool]) -> Drained:
    """Hand over the entries from the watermark to the horizon, while there is time and the lease is ours."""
    now = world.clock.now()
    after, until = resume_after(shard.watermark, now, world.timing), horizon(now, world.timing)
    sent = refused = 0
    more = True
    while more and not refused and has_time():
        page = read_page(world, shard, after, until)
        refusals = send_page(world, page)
        sent, refused = sent + len(page) - len(refusals), len(refusals)
        more = len(page) == PAGE
        after = _reached(page, refusals, after, until)
        if not world.shards.move(shard, after):
            more = False
    world.journal.shard(Event.SHARD_DRAINED, shard.name, sent, refused)
    return Drained(sent, refused, left=more and not refused)


def read_page(world: World, shard: Shard, after: str, until: str) -> list[Entry]:
    """Return the next entries of the shard's agenda; fewer than a page mean that there are no more."""
    return [Entry.parse(text) for text in world.indexes.page(Index.AGENDA, shard.name, after, until, PAGE)]


def send_page(world: World, page: Sequence[Entry]) -> list[Refusal]:
    """Send a message for each entry, to arrive when it wakes; return those that may be accepted later.

    One that SQS will never accept would hold back all behind it, so it goes to the strays with the reason.
    """
    refusals = world.queue.send(page, lambda entry: arrives_at(entry.wake, world.timing))
    for refusal in refusals:
        if refusal.vain:
            world.strays.keep(str(refusal.entry), refusal.reason)
    return [refusal for refusal in refusals if not refusal.vain]


def _reached(page: Sequence[Entry], refusals: Sequence[Refusal], after: str, until: str) -> str:
    if refusals:
        accepted = page[: min(page.index(refusal.entry) for refusal in refusals)]
        return str(accepted[-1]) if accepted else after
    return str(page[-1]) if len(page) == PAGE else max(after, until)
