"""Where a payload lies: inside its job's item while that stays under one write unit, else in an item of its own.

Every write of an item costs a unit for each KB of it, so a large payload inside would be paid at every change of state.
An item of its own is written once, before the job that names it. If the job is then not written, the orphan expires.
"""

from dataclasses import replace
from datetime import datetime, timedelta

from onthedot.rules.instants import up_to_second
from onthedot.rules.jobs import Job, Payload
from onthedot.steps.ports import World

SLACK = timedelta(days=400)
"""How long past a job's time its payload is kept, beyond the retention: for the longest outage, and for moves."""
UNADOPTED = timedelta(days=1)
LEAST_SLACK = timedelta(days=60)


def place(world: World, job: Job, text: str) -> Job:
    """Return the job with its payload placed, and stored if it has an item of its own."""
    size = len(text.encode())
    with_text = replace(job, payload=Payload(size, text=text))
    if world.payloads.fits(with_text):
        return with_text
    name, kept_until = f"payload#{world.clock.token()}", up_to_second(_needed_until(world, job.run_at) + SLACK)
    world.payloads.store(job.schedule, name, text, kept_until)
    return replace(job, payload=Payload(size, stored_as=name, kept_until=kept_until))


def place_for_all(world: World, some_job: Job, text: str) -> Payload:
    """Return the payload of all jobs of a schedule, placed as one of them needs it, and stored if it lies apart.

    One that lies apart is stored once, for all of them. It expires tomorrow, unless a schedule is written that names
    it: then only when that gives it up.
    """
    size = len(text.encode())
    inside = Payload(size, text=text)
    if world.payloads.fits(replace(some_job, payload=inside)):
        return inside
    name = f"payload#{world.clock.token()}"
    world.payloads.store(some_job.schedule, name, text, up_to_second(world.clock.now() + UNADOPTED))
    return Payload(size, stored_as=name)


def keep_for(world: World, job: Job) -> Job:
    """Return the job, moved to another time, with a payload that will still be there then.

    One that belongs to a schedule is kept for as long as this after the schedule gives it up.
    """
    if job.payload.stored_as is None:
        return job
    kept_until = job.payload.kept_until or job.created_at + world.timing.retention + SLACK
    if kept_until >= _needed_until(world, job.run_at) + LEAST_SLACK:
        return job
    [text] = world.payloads.texts([job.placed])
    return job if text is None else place(world, job, text)


def _needed_until(world: World, run_at: datetime) -> datetime:
    return max(run_at, world.clock.now()) + world.timing.retention
