"""Bulk: one change of many jobs, some side by side, at most so many in a call and for no longer than a caller waits.

A call looks for jobs until it has done its share, there are no more, or its time is over. It looks past what it cannot
change, so that a loop of calls comes to its end.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import count, islice

from onthedot.rules.errors import Unavailable
from onthedot.rules.jobs import Job
from onthedot.steps.ports import World
from onthedot.steps.settle import deadline

MOST = 500
"""Jobs, or slots, of one call."""
AT_ONCE = 50
"""Jobs that are changed before what became of them counts."""

Change = Callable[[Job, int], Job | None]
"""Changes a job, the so manieth of its call, and returns it; `None` when it was no more to be changed."""
Looked = Iterable[Job | None]
"""The jobs to change; `None` for each that was looked past, so that the time can be looked at meanwhile."""


@dataclass(frozen=True, slots=True)
class Bulk:
    """How many were done, or would be, and whether there may be more."""

    count: int
    more: bool


def count_all(world: World, found: Looked) -> Bulk:
    """Count jobs, each once, and change nothing."""
    give_up_at, seen = deadline(world), set[tuple[str, str]]()
    for job in _in_time(world, found, give_up_at):
        if len(seen) == MOST and job.key not in seen:
            return Bulk(MOST, more=True)
        seen.add(job.key)
    return _ended(world, len(seen), give_up_at)


def change_all(world: World, found: Looked, change: Change, then: Callable[[Sequence[Job]], None]) -> Bulk:
    """Change jobs, and do `then` with those that were changed, part by part.

    Raises: Unavailable when AWS failed, or the time was over, before anything was done; later, what was done is told.
    """
    give_up_at, done, numbers = deadline(world), 0, count()
    jobs = _in_time(world, found, give_up_at)
    try:
        while done < MOST:
            part = [(job, next(numbers)) for job in islice(jobs, min(AT_ONCE, MOST - done))]
            if not part:
                return _ended(world, done, give_up_at)
            results = world.side_by_side(lambda one: _changed(world, give_up_at, change, *one), part)
            changed = [result for result in results if isinstance(result, Job)]
            then(changed)
            done += len(changed)
            _raise_first(results)
        return Bulk(done, more=next(jobs, None) is not None or world.clock.now() > give_up_at)
    except Unavailable:
        if not done:
            raise
        return Bulk(done, more=True)


def _in_time(world: World, found: Looked, give_up_at: datetime) -> Iterator[Job]:
    for job in found:
        if world.clock.now() > give_up_at:
            return
        if job is not None:
            yield job


def _ended(world: World, done: int, give_up_at: datetime) -> Bulk:
    """Return what a call has done that has found no more, or had no more time to."""
    is_over = world.clock.now() > give_up_at
    if is_over and not done:
        raise Unavailable("nothing to be done was found in time, among too much else")
    return Bulk(done, more=is_over)


def _changed(world: World, give_up_at: datetime, change: Change, job: Job, number: int) -> Job | Unavailable | None:
    try:
        return None if world.clock.now() > give_up_at else change(job, number)
    except Unavailable as error:
        return error


def _raise_first(results: Sequence[Job | Unavailable | None]) -> None:
    for result in results:
        if isinstance(result, Unavailable):
            raise result
