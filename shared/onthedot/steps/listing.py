"""Listing: pages of jobs from an index that is spread over partitions, merged by its entries.

    partition 0:  a . . d . .          the page reads a, b, c, d in order, asks each job what it is now,
    partition 1:  . b c . . f   ---->  and ends at the last entry that it looked at: the next one starts after it
        |                              (not after the last job shown: one left out would be looked at again for ever)

An index is late and names candidates; the job decides. A page looks at a bounded number of them, so it may be short.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from heapq import merge
from itertools import islice

from onthedot.rules.agenda import Entry, group_partitions
from onthedot.rules.instants import MILLISECOND, to_text
from onthedot.rules.jobs import PENDING, Job, State
from onthedot.rules.timing import INDEX_LAG, WRITE
from onthedot.steps.ports import Index, World
from onthedot.steps.shards import shard_names

MOST_LOOKED_AT = 1_000
READ_AT_ONCE = 100
LEAST_AT_ONCE = 25
SIZE_WITHOUT = 600
"""About what a job's view takes without payload and result. Units: bytes."""
START, END = "", "~"
"""Before and after every entry: entries start with a digit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which jobs are asked for; `due_from` and `due_to` bound their `run_at`, the second one outside."""

    group: str | None = None
    schedule: str | None = None
    handler: str | None = None
    state: State | None = None
    due_from: datetime | None = None
    due_to: datetime | None = None

    @property
    def listable(self) -> bool:
        """Whether an index knows them: those with an outcome are known by group, by schedule, or when dead."""
        return bool(self.group or self.schedule) or self.state in {None, State.DEAD, *PENDING}

    def takes(self, job: Job, now: datetime) -> bool:
        """Tell whether a job, as it is now, is asked for."""
        return (
            not job.has_expired(now)
            and self._takes_state(job)
            and self.group in {None, job.group}
            and self.schedule in {None, job.schedule.removeprefix("schedule#")}
            and self.handler in {None, job.handler}
            and (self.due_from is None or self.due_from <= job.run_at)
            and (self.due_to is None or job.run_at < self.due_to)
        )

    def _takes_state(self, job: Job) -> bool:
        if self.state is not None:
            return job.state is self.state
        return job.pending or bool(self.group or self.schedule)


@dataclass(frozen=True, slots=True)
class Found:
    """A job, and the position after which the next one is looked for."""

    position: str
    job: Job


@dataclass(frozen=True, slots=True)
class Page:
    """Some jobs in the index's order, and where the next page starts; nowhere when this is the last one."""

    found: list[Found]
    next: str | None


Looked = Iterator[tuple[str, Job | None]]


def page_of(world: World, wanted: Wanted, after: str, limit: int, room: int) -> Page:
    """Return the page after a position: at most `limit` jobs, whose texts take about `room` bytes."""
    now, found, position = world.clock.now(), dict[tuple[str, str], Found](), after
    for count, (entry, job) in enumerate(_candidates(world, wanted, after, min(limit + 1, READ_AT_ONCE))):
        if len(found) == limit or count == MOST_LOOKED_AT or room <= 0:
            return Page(list(found.values()), position)
        position = entry
        if job is not None and job.key not in found and wanted.takes(job, now):
            found[job.key] = Found(position, job)
            room -= job.payload.size + len(job.result or "") + SIZE_WITHOUT
    return Page(list(found.values()), None)


def _candidates(world: World, wanted: Wanted, after: str, at_once: int) -> Looked:
    at_once = max(at_once, LEAST_AT_ONCE)
    if wanted.group is None and wanted.schedule is not None:
        return _of_schedule(world, f"schedule#{wanted.schedule}", after, at_once)
    if wanted.group is not None:
        return _of_index(world, Index.GROUPS, group_partitions(wanted.group), (after, END), at_once)
    partitions = shard_names(world.shards.all(), world.shard_count)
    if wanted.state is State.DEAD:
        return _of_index(world, Index.DEAD, partitions, (after, END), at_once, wanted.handler)
    return _of_index(world, Index.AGENDA, partitions, _due_bounds(world, wanted, after), at_once)


def dead_before(world: World, handler: str | None, before: datetime | None) -> Iterator[Job | None]:
    """Return the dead jobs, of one handler or of all, that died before an instant; `None` for each that was another's.

    Those that went again since the search began, and have died anew, are left out. One that just died is found, also
    when its worker's clock is ahead.
    Order: the oldest death first.
    """
    wanted, now = Wanted(handler=handler, state=State.DEAD), world.clock.now()
    until = to_text(before) if before else END
    partitions = shard_names(world.shards.all(), world.shard_count)
    for _, job in _of_index(world, Index.DEAD, partitions, (START, until), READ_AT_ONCE, handler):
        is_meant = job is not None and wanted.takes(job, now) and (job.revived_at is None or job.revived_at < now)
        yield job if is_meant else None


def pending_of_group(world: World, group: str) -> Iterator[Job | None]:
    """Return the scheduled jobs of a group, some perhaps twice; `None` for each that was another.

    Its index holds all jobs of the group that are kept, and the agenda all that wait of whatever group. Either names
    those that are asked for, so that both are read by turns until one ends: neither a group of many finished jobs nor
    many jobs of others keep the few that wait from being found.
    """
    wanted, now = Wanted(group=group, state=State.SCHEDULED), world.clock.now()
    grouped = _of_index(world, Index.GROUPS, group_partitions(group), (START, END), READ_AT_ONCE)
    for job in _until_one_ends(grouped, _agenda(world)):
        yield job if job is not None and wanted.takes(job, now) else None


def _agenda(world: World) -> Looked:
    """Return all that waits; nothing is read before the first is asked for."""
    partitions = shard_names(world.shards.all(), world.shard_count)
    yield from _of_index(world, Index.AGENDA, partitions, (START, END), READ_AT_ONCE)


def _until_one_ends(*sources: Looked) -> Iterator[Job | None]:
    while True:
        for source in sources:
            batch = list(islice(source, READ_AT_ONCE))
            yield from (job for _, job in batch)
            if len(batch) < READ_AT_ONCE:
                return


def _due_bounds(world: World, wanted: Wanted, after: str) -> tuple[str, str]:
    """Return between which entries the jobs must lie.

    A job's wake is its `run_at`, or up to RECHECK after it and after the write, which comes later than the request.
    """
    least = to_text(wanted.due_from) if wanted.due_from else START
    if wanted.due_to is None:
        return max(after, least), END
    try:
        return max(after, least), to_text(wanted.due_to + world.timing.recheck + WRITE + INDEX_LAG + MILLISECOND)
    except OverflowError:
        return max(after, least), END


def _of_schedule(world: World, schedule: str, after: str, at_once: int) -> Looked:
    while True:
        jobs = world.indexes.of_schedule(schedule, after, at_once)
        yield from ((job.slot, job) for job in jobs)
        if len(jobs) < at_once:
            return
        after = jobs[-1].slot


def _of_index(
    world: World,
    index: Index,
    partitions: list[str],
    bounds: tuple[str, str],
    at_once: int,
    handler: str | None = None,
) -> Looked:
    after, until = bounds
    share = max(LEAST_AT_ONCE, 2 * at_once // len(partitions))

    def read(partition: str, position: str) -> list[str]:
        return world.indexes.page(index, partition, position, until, share, handler)

    first = world.side_by_side(lambda partition: read(partition, after), partitions)
    entries = merge(*(_entries(partial(read, name), page, share) for name, page in zip(partitions, first, strict=True)))
    while batch := list(islice(entries, at_once)):
        yield from _as_they_are(world, index, batch)


def _entries(read: Callable[[str], list[str]], page: list[str], share: int) -> Iterable[str]:
    while True:
        yield from page
        if len(page) < share:
            return
        page = read(page[-1])


def _as_they_are(world: World, index: Index, entries: list[str]) -> Looked:
    """Yield each entry's job, where it still has that entry: one that moved is found, once, where it is now."""
    keys = [(place.schedule, place.slot) for place in map(Entry.parse, entries)]
    jobs = {job.key: job for job in world.indexes.read(list(dict.fromkeys(keys)))}
    for entry, key in zip(entries, keys, strict=True):
        job = jobs.get(key)
        yield entry, job if job is not None and _entry_of(index, job) == entry else None


def _entry_of(index: Index, job: Job) -> str | None:
    match index:
        case Index.AGENDA:
            return job.entry
        case Index.GROUPS:
            return str(Entry(job.created_at, job.schedule, job.slot))
        case Index.DEAD:
            return str(Entry(job.finished_at, job.schedule, job.slot)) if job.finished_at else None
