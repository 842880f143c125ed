"""Put: write a job, then hand it over if it is near.

In this order, so that what a caller is told of is in the table. Whoever dies in between has left an entry on the
agenda, and drain finds it there.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from onthedot.rules.agenda import Entry, arrives_at, is_near, wake_at
from onthedot.rules.events import Event
from onthedot.rules.jobs import Job
from onthedot.steps.ports import World, Written


def put(world: World, draft: Job, write: Callable[[Job], Written]) -> Written:
    """Write `draft` with its wake, and hand it over if it is near.

    Raises: Unavailable when it may not be written; never when it is written and only the hand-over failed.
    """
    written = write_with_wake(world, draft, write)
    if written.won and written.job is not None:
        hand_over(world, [written.job])
    return written


def write_with_wake(world: World, draft: Job, write: Callable[[Job], Written]) -> Written:
    """Write `draft` with the wake that the time of this very write demands."""
    return write(replace(draft, wake=wake_at(draft.run_at, world.clock.now(), world.timing)))


def hand_over(world: World, jobs: Sequence[Job]) -> None:
    """Send the near ones of `jobs` to the queue; what SQS does not take is left to drain.

    What was written as near is near, also by a clock that was set back since: its entry counts on this.
    """
    now = world.clock.now()
    near = {entry_of(job): job for job in jobs if job.wake != job.run_at or is_near(job.run_at, now)}
    if not near:
        return
    for refusal in world.queue.send(list(near), lambda entry: arrives_at(near[entry].run_at, world.timing)):
        world.journal.job(Event.JOB_NOT_HANDED_OVER, near[refusal.entry])


def entry_of(job: Job) -> Entry:
    """Return the job's place on the agenda."""
    assert job.wake is not None, f"{job.id} has an outcome and no place on the agenda"
    return Entry(job.wake, job.schedule, job.slot)
