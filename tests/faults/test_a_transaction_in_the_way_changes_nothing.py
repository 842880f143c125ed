"""A plain write of an item that a transaction holds is rejected, not made to wait; no SDK retries it (aws-traps 1)."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from tests.faults.failing import Faults, refused
from tests.support import jobs
from tests.support.handlers import ran
from tests.support.lab import Lab

from onthedot import wiring
from onthedot.adapters.aws import CONFLICTS_BORNE
from onthedot.messages import ShardMessage, read_job
from onthedot.rules.errors import Unavailable
from onthedot.rules.jobs import State
from onthedot.steps.dispatch import Looked, dispatch
from onthedot.steps.finish import Success, finish
from onthedot.steps.manage import Changed, cancel, reschedule
from onthedot.steps.start import Attempt, start

CONFLICT = "TransactionConflictException"
FAR = 3_600


def conflicts(number: int) -> list[Exception]:
    return [refused(CONFLICT) for _ in range(number)]


def begin() -> Attempt:
    entry = read_job(jobs.message(jobs.job("a")))
    assert entry is not None
    begun = start(wiring.world(), entry, wiring.policies())
    assert isinstance(begun, Attempt)
    return begun


def make() -> bool:
    return jobs.create("b").state is State.SCHEDULED


def take() -> bool:
    return begin().job.attempt == 1 and jobs.job("a").state is State.RUNNING


def take_back() -> bool:
    return isinstance(cancel(wiring.world(), *jobs.job("a").key), Changed) and jobs.job("a").state is State.CANCELLED


def move() -> bool:
    run_at = wiring.world().clock.now() + timedelta(days=1)
    done = reschedule(wiring.world(), *jobs.job("a").key, run_at, None)
    return isinstance(done, Changed) and jobs.job("a").run_at == run_at


def look() -> bool:
    return isinstance(dispatch(wiring.world(), ShardMessage("0", wiring.world().clock.now()), lambda: True), Looked)


STEPS: dict[str, tuple[str, Callable[[], bool]]] = {
    "create": ("PutItem", make),
    "start": ("UpdateItem", take),
    "cancel": ("UpdateItem", take_back),
    "reschedule": ("UpdateItem", move),
    "a shard's lease": ("UpdateItem", look),
}


@pytest.mark.usefixtures("lab")
@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("name", STEPS)
def test_a_step_is_done_as_if_there_had_been_none(faults: Faults, name: str, times: int) -> None:
    jobs.create("a")
    operation, step = STEPS[name]
    faults.on(operation, *conflicts(times))
    assert step()


@pytest.mark.usefixtures("lab")
@pytest.mark.parametrize("times", [1, 2])
def test_an_attempt_is_finished_as_if_there_had_been_none(faults: Faults, times: int) -> None:
    jobs.create("a")
    attempt = begin()
    faults.on("UpdateItem", *conflicts(times))
    assert finish(wiring.world(), attempt, Success("1"))
    assert jobs.job("a").state is State.SUCCEEDED


@pytest.mark.usefixtures("lab")
@pytest.mark.parametrize("call", range(1, 5))
def test_a_shard_keeps_its_watermark_whichever_call_meets_it(faults: Faults, call: int) -> None:
    """Take the lease, move the watermark, claim the sweep, give the lease back."""
    faults.on("UpdateItem", *[None] * (call - 1), *conflicts(2))
    assert look()
    assert faults.count("UpdateItem") == 4 + 2
    (row,) = wiring.world().shards.all()
    assert row.watermark is not None
    assert look(), "the lease was not given back"


@pytest.mark.usefixtures("lab")
@pytest.mark.parametrize("name", sorted(STEPS.keys() - {"create"}))
def test_it_gives_up_after_some_tries(faults: Faults, name: str) -> None:
    jobs.create("a", FAR)
    before = jobs.job("a")
    operation, step = STEPS[name]
    faults.on(operation, *conflicts(100))
    with pytest.raises(Unavailable):
        step()
    assert faults.count(operation) == CONFLICTS_BORNE
    assert jobs.job("a") == before


def test_a_creation_that_gave_up_left_nothing(lab: Lab, faults: Faults) -> None:
    faults.on("PutItem", *conflicts(100))
    with pytest.raises(AssertionError, match="a transaction holds the item"):
        make()
    assert not lab.items()
    assert not lab.messages()


def test_a_worker_runs_its_job_once_all_the_same(lab: Lab, faults: Faults) -> None:
    jobs.create("a")
    faults.on("UpdateItem", *conflicts(2), None, *conflicts(2))
    lab.settle()
    assert ran() == ["a"]
    assert jobs.job("a").state is State.SUCCEEDED
