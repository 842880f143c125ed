"""Trigger: a job of a schedule that somebody asks for now, outside its timetable."""

from dataclasses import dataclass, replace
from hashlib import sha256

from onthedot.rules.errors import Unavailable
from onthedot.rules.planning import manual_job
from onthedot.steps.manage import Created, Exists, NewJob, create_all
from onthedot.steps.ports import World
from onthedot.steps.readable import Impossible, Readable, readable


@dataclass(frozen=True, slots=True)
class Wish:
    """What somebody asks for: the job's id, the text of the request, and a payload if it has its own."""

    id: str
    request: str
    payload: str | None


def trigger(world: World, name: str, wish: Wish) -> Created | Exists | Impossible | None:
    """Make a job of a schedule that runs now, also in a pause; `None` when there is no such schedule.

    Raises: Unavailable.
    """
    found = readable(world, name)
    if not isinstance(found, Readable):
        return found
    schedule, definition = found.schedule, found.definition
    request = sha256(f"{schedule.generation}{wish.request}".encode()).hexdigest()[:32]
    draft = manual_job(schedule, definition, wish.id, world.clock.now())
    [result] = create_all(world, [NewJob(replace(draft, request=request, owner=world.clock.token()), wish.payload)])
    if isinstance(result, Unavailable):
        raise result
    return result
