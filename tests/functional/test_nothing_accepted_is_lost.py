"""Never lost: every accepted job reaches an outcome, wherever a process dies and whatever the queue forgets."""

from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

import pytest
from botocore.exceptions import EndpointConnectionError
from tests.support.handlers import RAN, SCRIPT, ran
from tests.support.jobs import create, entry, job, message, new
from tests.support.lab import Lab
from tests.support.worlds import (
    Died,
    Holds,
    Interrupted,
    Runner,
    Skewed,
    client_of,
    die,
    raising,
    with_client,
    with_clock,
)

import worker
from onthedot import wiring
from onthedot.rules.jobs import State
from onthedot.steps.manage import create_all, reschedule
from onthedot.steps.ports import Queue
from onthedot.steps.start import Attempt, Start, start
from onthedot.steps.work import Worked, work

DOWN = EndpointConnectionError(endpoint_url="https://aws")
MINUTE = timedelta(minutes=1)
SLACK = timedelta(seconds=3)


class Nothing:
    """A queue at which the process dies before anything is sent."""

    def send(self, *_: Any) -> Any:
        """Die."""
        return die()


def dying() -> Any:
    return replace(wiring.world(), queue=cast(Queue, Nothing()))


def test_a_writer_that_dies_between_the_write_and_the_send(lab: Lab) -> None:
    """Written and not handed over: the entry on the agenda waits for exactly this."""
    with pytest.raises(Died):
        create_all(dying(), [new("j1", 600)])
    assert lab.messages() == []
    lab.advance(minutes=20)
    assert ran() == ["j1"]
    assert RAN[0].at - job("j1").run_at <= 5 * MINUTE + SLACK


def test_a_mover_that_dies_between_the_write_and_the_send(lab: Lab) -> None:
    """The old message is stale, the new one was never sent."""
    made = create("j1", 3_600)
    with pytest.raises(Died):
        reschedule(dying(), *made.key, made.created_at + 10 * MINUTE, None)
    lab.advance(minutes=20)
    assert ran() == ["j1"]


def test_a_queue_that_refuses_the_writer_is_no_failure_of_the_request(lab: Lab) -> None:
    """The job is stored, so it is accepted; to answer 500 would make the caller create another."""
    world = with_clock(Skewed())
    sqs = Interrupted(client_of(world, "queue"), "send_message_batch", [raising(DOWN)] * 3)
    create("j1", 60, world=with_client(world, "queue", sqs))
    assert lab.messages() == []
    lab.advance(minutes=8)
    assert ran() == ["j1"]


@pytest.mark.parametrize("delay", [600, 3_600])
def test_a_message_lost_on_its_way_costs_a_recheck_or_a_sweep(lab: Lab, delay: float) -> None:
    """A queue was purged by hand in an incident. The writer's message is watched by drain, drain's by the sweep."""
    made = create("j1", delay)
    lab.advance(seconds=delay - 10)
    assert len(lab.messages()) == 1
    lab.purge()
    lab.rhythm = 5 * MINUTE
    lab.advance(minutes=90)
    assert ran() == ["j1"]
    assert RAN[0].at - made.run_at <= 75 * MINUTE + lab.rhythm


def test_a_running_job_whose_worker_and_message_are_gone(lab: Lab) -> None:
    """L05, A1: a running job had left the agenda, so with its last message it was running for ever."""
    create("j1")
    start(wiring.world(), entry(job("j1")), Runner().policies())
    lab.purge()
    lab.advance(minutes=10)
    assert [call.attempt for call in RAN] == [2]
    assert job("j1").state is State.SUCCEEDED


def test_a_stalled_finisher_leaves_the_message_to_the_one_that_took_over(lab: Lab) -> None:
    """A1: A stalls past its lease, B takes over, A is fenced out and acknowledges, B dies: no message was left."""
    made, world = create("j1", handler="test.meanwhile"), wiring.world()
    taken: list[Start] = []

    def a_stalls_and_b_takes_over() -> None:
        if not taken:
            lab.time.shift(80)
            taken.append(start(world, entry(made), Runner().policies()))

    SCRIPT.meanwhile = a_stalls_and_b_takes_over
    [copy] = lab.receive("JobQueue")
    assert lab.invoke("JobQueue", [copy]) == {copy["Body"]}, "A lost, so it does not acknowledge"
    [b] = taken
    assert isinstance(b, Attempt)
    assert job("j1") == b.job
    lab.advance(minutes=5)
    assert [call.attempt for call in RAN] == [1, 3]
    assert job("j1").state is State.SUCCEEDED


def test_the_taker_is_found_again_even_without_any_message(lab: Lab) -> None:
    """The same, and the message is lost as well: the entry on the agenda brings it back."""
    made, world = create("j1"), wiring.world()
    for _ in range(2):
        assert isinstance(start(world, entry(made), Runner().policies()), Attempt)
        lab.time.shift(80)
    lab.purge()
    lab.advance(minutes=10)
    assert [call.attempt for call in RAN] == [3]
    assert job("j1").state is State.SUCCEEDED


def test_workers_that_are_down_for_longer_than_the_queue_remembers(lab: Lab) -> None:
    """A2: the watermark was past the old jobs, and the rewind waited for an empty queue that new jobs kept filling."""
    lab.off.add("JobQueue")
    names = [create(f"before-{n}", n * 60).id for n in range(5)]
    lab.tick()
    for half_day in range(10):
        lab.time.shift(timedelta(hours=12))
        names.append(create(f"while-{half_day}", 30).id)
    lab.expire()
    assert not any("before-" in kept.body for kept in lab.messages()), "the queue has forgotten them"
    lab.off.clear()
    back, lab.rhythm = lab.now(), 5 * MINUTE
    lab.advance(minutes=80)
    assert sorted(ran()) == sorted(names)
    assert max(call.at for call in RAN) - back <= 75 * MINUTE + lab.rhythm


def test_a_process_that_dies_after_its_start(lab: Lab) -> None:
    """Out of memory: no outcome, no acknowledgement. The message comes back when the lease is over."""
    made, world = create("j1"), wiring.world()
    [copy] = lab.receive("JobQueue")
    dies = Interrupted(client_of(world, "jobs"), "update_item", [lambda: None, raising(Died())])
    deaf = with_client(world, "jobs", dies)
    with pytest.raises(Died):
        work(deaf, copy["Body"], Runner(), Holds())
    assert ran() == ["j1"], "its handler ran, its finish was never written"
    assert job("j1").state is State.RUNNING
    assert job("j1").wake == made.wake
    lab.advance(minutes=4)
    assert [call.attempt for call in RAN] == [1, 2]
    assert RAN[0].key == RAN[1].key, "the idempotency key is the same for every attempt"


def test_an_outage_of_the_table_is_not_an_outcome(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A start that AWS did not answer was acknowledged, and the job was gone with its message."""
    create("j1")
    [copy] = lab.receive("JobQueue")
    down = Interrupted(client_of(wiring.world(), "jobs"), "update_item", [raising(DOWN)])
    broken = with_client(wiring.world(), "jobs", down)
    monkeypatch.setattr(worker, "world", lambda: broken)
    assert lab.invoke("JobQueue", [copy]) == {copy["Body"]}
    lab.advance(minutes=4)
    assert ran() == ["j1"]


def test_copies_of_one_message_at_once_and_two_hours_later(lab: Lab) -> None:
    """L05: a standard queue delivers twice, also after a delete."""
    made = create("j1", handler="test.meanwhile")
    text, world, seen = message(made), wiring.world(), []
    SCRIPT.meanwhile = lambda: seen.append(work(world, text, Runner(), Holds()))
    assert work(world, text, Runner(), Holds()) == Worked(acknowledged=True)
    assert seen == [Worked(acknowledged=False)], "B must not delete its copy: A may still crash"
    lab.time.shift(7_200)
    assert work(world, text, Runner(), Holds()) == Worked(acknowledged=True)
    assert ran() == ["j1"]
    assert job("j1").attempt == 1
