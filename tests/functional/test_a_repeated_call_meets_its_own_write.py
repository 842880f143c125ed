"""A refusal is no proof of a lost race: the SDK repeats a call whose answer was lost, and meets its own write.

In each story every first answer is lost, so what the caller gets is the answer to the repeat.
"""

from datetime import timedelta

import pytest
from botocore.exceptions import ClientError
from tests.support.handlers import ran
from tests.support.jobs import create, entry, job, new
from tests.support.lab import Lab
from tests.support.worlds import (
    Interrupted,
    Repeating,
    Runner,
    Skewed,
    client_of,
    raising,
    with_client,
    with_clock,
)

from onthedot import wiring
from onthedot.rules.errors import Unavailable
from onthedot.rules.jobs import State
from onthedot.steps.dispatch import LEASE
from onthedot.steps.finish import Success, finish
from onthedot.steps.manage import Changed, Created, Exists, cancel, create_all, reschedule
from onthedot.steps.ports import World
from onthedot.steps.start import Attempt, Wait, start

POLICIES = Runner(3).policies()


def losing_answers(part: str = "jobs") -> World:
    """Return the world in which every first answer of a part is lost."""
    world = wiring.world()
    return with_client(world, part, Repeating(client_of(world, part)))


def test_a_new_job_is_created_and_handed_over(lab: Lab) -> None:
    """R02: the writer thought that somebody else had won, and nobody sent the message."""
    [created] = create_all(losing_answers(), [new("j1", 60)])
    assert isinstance(created, Created)
    assert len(lab.messages()) == 1
    lab.advance(seconds=62)
    assert ran() == ["j1"]


@pytest.mark.usefixtures("lab")
def test_the_same_request_of_another_client_is_told_apart() -> None:
    """Two equal requests in one millisecond differ in nothing but their tokens: one made the job, one found it."""
    world = wiring.world()
    first, second = create_all(world, [new("j1", 60), new("j1", 60)])
    assert {type(first), type(second)} == {Created, Exists}


def test_a_start_that_won_runs(lab: Lab) -> None:
    """The worker read back its own start as somebody else's, and waited for itself until the lease was over."""
    create("j1")
    begun = start(losing_answers(), entry(job("j1")), POLICIES)
    assert isinstance(begun, Attempt)
    assert begun.job == job("j1")
    assert begun.job.attempt == 1
    assert begun.begun_at == lab.now()


@pytest.mark.usefixtures("lab")
def test_the_start_of_a_twin_is_not_taken_for_ones_own() -> None:
    """Two copies of one message: B's start read back "running, by this message" and ran the job beside A (A3)."""
    made = create("j1")
    assert isinstance(start(losing_answers(), entry(made), POLICIES), Attempt)
    assert isinstance(start(losing_answers(), entry(made), POLICIES), Wait)


def test_a_takeover_that_won_runs(lab: Lab) -> None:
    """The next attempt, too, is written once and read back."""
    made = create("j1")
    start(wiring.world(), entry(made), POLICIES)
    lab.time.shift(100)
    begun = start(losing_answers(), entry(made), POLICIES)
    assert isinstance(begun, Attempt)
    assert begun.job == job("j1")
    assert begun.job.attempt == 2


@pytest.mark.usefixtures("lab")
def test_a_finish_that_won_is_acknowledged() -> None:
    """A finisher that thinks it lost does not acknowledge, and the message of a finished job comes back."""
    begun = start(wiring.world(), entry(create("j1")), POLICIES)
    assert isinstance(begun, Attempt)
    assert finish(losing_answers(), begun, Success("7"))
    assert job("j1").result == "7"


@pytest.mark.usefixtures("lab")
def test_a_cancellation_that_won_says_so() -> None:
    """The caller was told "too late" of a job that it had just taken back itself."""
    made = create("j1", 60)
    assert isinstance(cancel(losing_answers(), *made.key), Changed)
    assert job("j1").state is State.CANCELLED


def test_a_reschedule_that_won_is_handed_over(lab: Lab) -> None:
    """Read as lost, the move was decided a second time, or its message was never sent."""
    made = create("j1", 60)
    lab.purge()
    done = reschedule(losing_answers(), *made.key, made.run_at + timedelta(seconds=60), '"other"')
    assert done == Changed(job("j1"))
    assert len(lab.messages()) == 1
    lab.advance(seconds=122)
    assert job("j1").result == '"other"'


@pytest.mark.usefixtures("lab")
def test_a_reschedule_that_another_overtook_is_decided_again() -> None:
    """Between the write and its repeat a second caller moved the job on; the last word is one of the two, whole."""
    made, world = create("j1", 60), wiring.world()
    later = made.run_at + timedelta(hours=1)
    moves = [lambda: reschedule(world, *made.key, later, '"second"')]
    client = Repeating(client_of(world, "jobs"), meanwhile=lambda: moves and moves.pop()())
    done = reschedule(with_client(world, "jobs", client), *made.key, made.run_at + timedelta(seconds=60), '"first"')
    assert done == Changed(job("j1"))
    assert job("j1").payload.text == '"first"'


def test_a_lease_that_was_won_is_held(lab: Lab) -> None:
    """A dispatcher that took its own lease for another's left its shard alone for a minute."""
    world, now = losing_answers("shards"), lab.now()
    shard = world.shards.acquire("0", "mine", None, now, now, now + LEASE)
    assert shard is not None
    assert wiring.world().shards.acquire("0", "other", None, now, now, now + LEASE) is None
    assert world.shards.move(shard, "2027")
    assert [row.watermark for row in world.shards.all()] == ["2027"]
    assert world.shards.claim_sweep(shard, now)
    world.shards.release(shard)
    assert world.shards.acquire("0", "other", None, now, now, now + LEASE) is not None


@pytest.mark.usefixtures("lab")
def test_a_conflict_with_a_transaction_is_not_a_lost_race() -> None:
    """A transaction holds an item for milliseconds, and AWS refuses plain writes meanwhile; no SDK repeats those."""
    world, near, far = with_clock(Skewed()), create("j1"), create("j2", 60)
    assert isinstance(start(with_client(world, "jobs", conflicting(world, 2)), entry(near), POLICIES), Attempt)
    with pytest.raises(Unavailable):
        cancel(with_client(world, "jobs", conflicting(world, 100)), *far.key)
    assert job("j2") == far


def conflicting(world: World, times: int) -> Interrupted:
    """Return a client whose updates meet a transaction so many times."""
    refusal = ClientError({"Error": {"Code": "TransactionConflictException", "Message": ""}}, "UpdateItem")
    return Interrupted(client_of(world, "jobs"), "update_item", [raising(refusal)] * times)
