"""R07, second case: cancel and start within the same moment, in two hundred scripted orders."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from tests.support.handlers import RAN, SCRIPT
from tests.support.jobs import job, message, new
from tests.support.worlds import Holds, Interrupted, Runner, client_of, stalling, with_client

from onthedot import wiring
from onthedot.rules.jobs import Job, State
from onthedot.steps.manage import Changed, TooLate, cancel
from onthedot.steps.payloads import place
from onthedot.steps.ports import World
from onthedot.steps.put import write_with_wake
from onthedot.steps.work import Worked, work

ROUNDS = 200


def before_write(world: World, happening: Callable[[], Any]) -> World:
    """Return a world in which something happens just before the first update of a job."""
    return with_client(world, "jobs", Interrupted(client_of(world, "jobs"), "update_item", [happening]))


def one_round(random: Random, made: Job) -> Any:
    """Deliver the message once or twice, cancel somewhere in between, and return what the cancel was answered."""
    world, text, answers = wiring.world(), message(made), list[Any]()

    def cancels() -> None:
        answers.append(cancel(world, *made.key))

    def works() -> Worked:
        return work(world, text, Runner(1), Holds())

    SCRIPT.meanwhile = lambda: None
    match random.randrange(6):
        case 0:
            cancels()
            works()
        case 1:  # the worker is in the middle of the cancellation
            answers.append(cancel(before_write(world, works), *made.key))
        case 2:  # the cancellation is between receive and start
            work(before_write(world, cancels), text, Runner(1), Holds())
        case 3:  # between the start that won and the handler
            work(stalling(world, cancels), text, Runner(1), Holds())
        case 4:  # while it runs
            SCRIPT.meanwhile = cancels
            works()
        case 5:
            works()
            cancels()
    if random.random() < 0.5:
        works()
    [answer] = answers
    return answer


@pytest.mark.usefixtures("lab")
def test_of_a_cancel_and_a_start_at_once_one_wins() -> None:
    """Check-then-set let a worker start in between, and the final state said cancelled while side effects went on."""
    random, seen = Random(7), set[str]()
    for number in range(ROUNDS):
        RAN.clear()
        made = store(f"j{number}")
        match one_round(random, made), len(RAN), job(made.id).state:
            case Changed(), 0, State.CANCELLED:
                seen.add("cancelled")
            case TooLate(Job(state=State.RUNNING | State.SUCCEEDED)), 1, State.SUCCEEDED:
                seen.add("too late")
            case outcome:
                raise AssertionError(f"round {number}: {outcome}")
    assert seen == {"cancelled", "too late"}


def store(name: str) -> Job:
    """Write a job that is due; the test itself is its queue."""
    world = wiring.world()
    written = write_with_wake(
        world,
        place(world, new(name, handler="test.meanwhile").draft, "null"),
        lambda draft: world.jobs.add(draft, world.clock.now()),
    )
    assert written.job is not None
    return written.job
