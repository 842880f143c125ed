"""Marks of who runs and who waits, when their answers get lost and transactions are in their way."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from tests.faults.failing import Faults, refused
from tests.support.handlers import once, ran
from tests.support.jobs import message
from tests.support.lab import Lab
from tests.support.schedules import put, row, slots_of
from tests.support.worlds import Holds, Repeating, Runner, Skewed, client_of, with_client, with_clock

from onthedot import wiring
from onthedot.rules.errors import Unavailable
from onthedot.rules.jobs import Job, State
from onthedot.steps.ports import World
from onthedot.steps.work import work

CONFLICT = refused("TransactionConflictException")
OUTAGE = refused("InternalServerError", 500)


@pytest.fixture(name="two")
def _two(lab: Lab) -> list[Job]:
    """Two slots that are due, and no message of them."""
    put("s", overlap="wait", handler="test.meanwhile", cron="*/5 * * * *")
    lab.time.shift(600)
    lab.purge()
    return list(slots_of("s").values())[:2]


def start(job: Job, world: World | None = None) -> bool:
    return work(world or with_clock(Skewed()), message(job), Runner(), Holds()).acknowledged


def states(jobs: list[Job]) -> list[State]:
    return [slots_of("s")[job.id.partition("@")[2]].state for job in jobs]


def repeating(meanwhile: Callable[[], Any] = lambda: None) -> World:
    world = wiring.world()
    return with_client(world, "schedules", Repeating(client_of(world, "schedules"), meanwhile))


def test_every_mark_whose_answer_is_lost_meets_itself(lab: Lab, two: list[Job]) -> None:
    once(lambda: start(two[1], repeating()))
    assert start(two[0], repeating())
    assert states(two) == [State.SUCCEEDED, State.SCHEDULED]
    lab.settle()
    assert ran() == [job.id for job in two]
    assert (row("s").busy, row("s").waiting) == (None, None)


def test_one_that_took_its_turn_unheard_keeps_it_though_another_waits_by_now(lab: Lab, two: list[Job]) -> None:
    """The repeated call was refused for who waited, and the slot that had the turn was skipped."""
    others = [two[1]]

    def meanwhile() -> None:
        if others:
            start(others.pop())

    assert start(two[0], repeating(meanwhile))
    assert states(two) == [State.SUCCEEDED, State.SCHEDULED]
    lab.settle()
    assert ran() == [job.id for job in two]


@pytest.mark.parametrize("number", range(8))
def test_a_planners_transaction_is_waited_for(lab: Lab, faults: Faults, two: list[Job], number: int) -> None:
    """Trap 1: a transaction holds the schedule's row, and each plain write to it is refused meanwhile."""
    once(lambda: start(two[1]))
    faults.on("UpdateItem", *[None] * number, CONFLICT)
    assert start(two[0])
    lab.settle()
    assert ran() == [job.id for job in two]


@pytest.mark.parametrize("number", range(1, 9))
def test_an_outage_at_any_mark_ends_by_itself(lab: Lab, faults: Faults, two: list[Job], number: int) -> None:
    def other() -> None:
        with suppress(Unavailable):  # as the worker does
            start(two[1])

    once(other)
    faults.on("UpdateItem", *[None] * number, OUTAGE)
    start(two[0])
    lab.advance(minutes=8)
    assert states(two) == [State.SUCCEEDED, State.SUCCEEDED]
    assert [ran().count(job.id) for job in two] == [1, 1]
    assert (row("s").busy, row("s").waiting) == (None, None)
