"""Never early: whatever the clocks say, a job's time is asked of the table, not of the message that came."""

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.support.handlers import RAN, ran
from tests.support.jobs import create, entry, job, new
from tests.support.lab import Lab
from tests.support.worlds import Runner, skewed

from onthedot import wiring
from onthedot.rules.jobs import State
from onthedot.steps.manage import create_all
from onthedot.steps.start import Wait, start


@pytest.mark.parametrize("ahead", [0.4, 2, 30, 3600])
def test_a_message_that_comes_early_waits_for_the_rest(lab: Lab, ahead: float) -> None:
    """A sender whose clock was ahead shortened the delay, the message came early, and the job ran then."""
    create_all(skewed(ahead), [new("j1", 600)])
    run_at = job("j1").run_at
    lab.advance(seconds=599.9)
    assert ran() == []
    assert len(lab.messages()) == 1, "the message waits, it is not acknowledged"
    lab.advance(seconds=3)
    assert ran() == ["j1"]
    assert run_at <= RAN[0].at <= run_at + timedelta(seconds=2)


def test_an_early_message_is_hidden_for_the_rest_rounded_up(lab: Lab) -> None:
    """Sending again by a slow clock made eleven messages of two; hiding the one message makes no other."""
    world, early = wiring.world(), create("j1", 100.25)
    assert start(world, entry(early), Runner().policies()) == Wait(timedelta(seconds=100.25))
    [message] = lab.messages()
    message.delayed_until = 0
    assert lab.deliver("JobQueue") == 1
    assert lab.messages() == [message]
    assert message.visible_at / 1000 == lab.now().timestamp() + 101
    assert job("j1").attempt == 0


def test_a_job_moved_back_is_not_run_by_the_message_of_its_old_time(lab: Lab) -> None:
    """Both times can have the same wake: then only `run_at` tells that the message is early."""
    world, near = wiring.world(), create("j1", 600)
    later = replace(near, run_at=near.run_at + timedelta(seconds=300))
    assert world.jobs.change(near, later).won
    assert entry(later) == entry(near)
    lab.advance(seconds=899)
    assert ran() == []
    lab.advance(seconds=3)
    assert ran() == ["j1"]
    assert job("j1").state is State.SUCCEEDED
