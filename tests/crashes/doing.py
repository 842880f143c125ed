"""What flows are made of: what is done, and how it is seen what became of it."""

from collections.abc import Callable, Iterator
from typing import Any

from tests.crashes.clients import Client
from tests.support.journal import JOURNAL
from tests.support.lab import START, Lab

from onthedot import wiring
from onthedot.rules.jobs import key_of

HOUR = 3_600
LARGE = {"text": "x" * 2_000}
GONE = "gone"

Doing = Callable[[Client], Any]
Wants = Callable[[Client], Iterator[str]]


def create(client: Client, name: str = "a", **fields: Any) -> None:
    """Ask for a job."""
    client("POST", "/jobs", {"id": name, "handler": "journal.work", "payload": {}} | fields)


def creating(**fields: Any) -> Doing:
    return lambda client: create(client, **fields)


def calling(method: str, path: str, body: Any = None) -> Doing:
    return lambda client: client(method, path, body)


def deliver(client: Client) -> None:
    """Give workers what is in the queue."""
    client.lab.deliver("JobQueue")


def tick(client: Client) -> None:
    """Have the timer fire."""
    client.lab.tick()


def at(lab: Lab, clock: str) -> None:
    """Go to a time of the lab's first day."""
    hour, minute = map(int, clock.split(":"))
    lab.time.move_to(START.replace(hour=hour, minute=minute, second=0))


def state(job_id: str) -> str:
    """Return what became of a job."""
    key = key_of(job_id)
    assert key is not None, job_id
    job = wiring.world().jobs.get(*key)
    return GONE if job is None else job.state.value


def calls_of(job_id: str) -> list[Any]:
    """Return the payloads with which a job's handler was called."""
    return [call.payload for call in JOURNAL.calls if call.id == job_id]


def became(job_id: str, *allowed: str) -> Iterator[str]:
    """Tell if a job came to something else."""
    if state(job_id) not in allowed:
        yield f"{job_id} is {state(job_id)}, and should be {' or '.join(allowed)}"


def ends(job_id: str, *states: str) -> Wants:
    """Return that a job came to one of these, whatever befell."""
    return lambda _: became(job_id, *states)


def held(job_id: str, if_held: str, otherwise: str) -> Wants:
    """Return that a job came to the one if its client was told so, and perhaps to the other if they cannot tell."""
    return lambda client: became(job_id, if_held, *([otherwise] if client.unknown else []))
