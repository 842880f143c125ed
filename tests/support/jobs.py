"""Makes jobs as the API does, and messages as the queue holds them."""

from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from onthedot import wiring
from onthedot.messages import job_text
from onthedot.rules.agenda import Entry
from onthedot.rules.instants import MILLISECOND
from onthedot.rules.jobs import ONE_SLOT, Job, Payload, Retry, State
from onthedot.steps.manage import Created, Exists, NewJob, create_all
from onthedot.steps.ports import World


def new(
    name: str,
    delay: float = 0,
    *,
    handler: str = "test.record",
    payload: str = "null",
    group: str | None = None,
    timeout: float | None = None,
    start_within: float | None = None,
    retry: Retry | None = None,
    world: World | None = None,
) -> NewJob:
    """Return the job that a request asks for. Units: seconds; `payload` is JSON text."""
    clock = (world or wiring.world()).clock
    run_at = clock.now() + round(delay * 1000) * MILLISECOND
    draft = Job(
        schedule=f"job#{name}",
        slot=ONE_SLOT,
        state=State.SCHEDULED,
        handler=handler,
        run_at=run_at,
        wake=None,
        payload=Payload(len(payload.encode())),
        request=sha256(f"{name} {delay} {handler} {payload}".encode()).hexdigest()[:32],
        created_at=clock.now(),
        owner=clock.token(),
        group=group,
        retry=retry,
        timeout=None if timeout is None else timedelta(seconds=timeout),
        start_within=None if start_within is None else timedelta(seconds=start_within),
        start_before=None if start_within is None else run_at + timedelta(seconds=start_within),
    )
    return NewJob(draft, payload)


def create(name: str, delay: float = 0, *, world: World | None = None, **said: Any) -> Job:
    """Create a job as the API does, and return it."""
    world = world or wiring.world()
    match create_all(world, [new(name, delay, world=world, **said)]):
        case [Created(job) | Exists(job)]:
            return job
        case [error]:
            raise AssertionError(f"not created: {error}")
    raise AssertionError("one request has one answer")


def job(name: str) -> Job:
    """Return a job as it is now."""
    found = there(name)
    assert found is not None, f"{name} is gone"
    return found


def there(name: str) -> Job | None:
    """Return a job as it is now, `None` when there is none."""
    return wiring.world().jobs.get(f"job#{name}", ONE_SLOT)


def entry(job: Job) -> Entry:
    """Return the job's place on the agenda, which is what its message says."""
    assert job.wake is not None, f"{job.id} has an outcome"
    return Entry(job.wake, job.schedule, job.slot)


def message(job: Job) -> str:
    """Return the text of the message that wakes a job."""
    return job_text(entry(job))


def wake_at(job: Job) -> datetime:
    """Return when the dispatcher must look at the job."""
    return entry(job).wake
