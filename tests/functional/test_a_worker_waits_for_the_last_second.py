"""Where workers wait, a job starts at its very time: rounding costs it nothing, and no promise weakens."""

import os
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from random import Random
from statistics import quantiles

import pytest
from tests.support.event_source import event_source
from tests.support.handlers import RAN, SCRIPT, ran
from tests.support.jobs import create, job, new
from tests.support.lab import Lab, forget
from tests.support.proving import OFTEN
from tests.support.worlds import skewed

from onthedot.clock import SystemClock
from onthedot.steps.manage import create_all

SECOND, NONE = timedelta(seconds=1), timedelta(0)
FRACTIONS = 20 * OFTEN
WORKERS, IN_A_SECOND = 5, 16 * OFTEN


@pytest.fixture
def waiting() -> Iterator[Lab]:
    """Return a deployment whose workers wait for a second."""
    with Lab(WorkerWaitMilliseconds=1_000) as lab:
        yield lab


def late() -> list[timedelta]:
    """Return how late each job has started that ran, and forget them."""
    found = [call.at - job(call.id).run_at for call in RAN]
    RAN.clear()
    return found


def at_fractions(milliseconds: int) -> tuple[list[timedelta], Counter[str]]:
    """Let jobs run whose times have all kinds of fractions, near and far, by workers that wait for so long.

    Returns: how late they started, and the calls that were made.
    """
    random = Random(7)
    with Lab(Shards=1, WorkerWaitMilliseconds=milliseconds) as lab:
        for number in range(FRACTIONS):
            create(f"j{number}", random.uniform(0, 5) + 950 * (number % 2))
        lab.advance(seconds=960)
        calls = Counter(call.operation for call in lab.calls if call.operation != "ReceiveMessage")
        found = late()
    assert len(found) == FRACTIONS
    return found, calls


def test_no_job_is_late_whose_worker_waits_and_none_costs_a_call_more() -> None:
    """By default rounding costs up to a second.

    A worker that learnt from a refused write how early it was, and started again then, cost a write unit for each job.
    """
    rounded, calls = at_fractions(0)
    assert NONE <= min(rounded) <= SECOND / 4
    assert SECOND * 3 / 4 < max(rounded) < SECOND
    punctual, as_many = at_fractions(1_000)
    p99 = quantiles([span.total_seconds() for span in punctual], n=100, method="inclusive")[98]
    assert (min(punctual), p99, max(punctual)) == (NONE, 0, NONE)
    assert as_many == calls


@pytest.mark.parametrize("chance", [0, 0.02, 0.11, 0.999])
def test_what_is_tried_again_is_waited_for_too(waiting: Lab, monkeypatch: pytest.MonkeyPatch, chance: float) -> None:
    """Of a wait below a second the message comes at once."""
    monkeypatch.setattr(SystemClock, "chance", lambda _: chance)
    create("j1", handler="test.flaky")
    SCRIPT.succeeds_at = 2
    waiting.settle()
    again_at = job("j1").run_at
    waiting.advance_to(again_at)
    assert [call.at for call in RAN[1:]] == [again_at]


def test_a_slot_with_a_spread_starts_at_its_very_time(waiting: Lab) -> None:
    waiting.schedule("s", cron="*/5 * * * *", handler="test.record", spread=60)
    waiting.advance(minutes=16)
    jobs = waiting.ask("GET", "/schedules/s/jobs")["items"]
    run_at = {made["id"]: datetime.fromisoformat(made["run_at"]) for made in jobs}
    assert len(RAN) == 3
    assert [call.at for call in RAN] == [run_at[call.id] for call in RAN]


@pytest.mark.parametrize("ahead", [0.2, 2, 30])
def test_what_a_fast_clock_has_sent_is_not_early(waiting: Lab, ahead: float) -> None:
    """Nor is it waited for where it is far too early: the message goes back, and comes again."""
    create_all(skewed(ahead), [new("j1", 600.25)])
    waiting.advance(seconds=604)
    assert ran() == ["j1"]
    assert NONE <= min(late()) <= SECOND


def test_a_message_of_before_is_worked_on_after_the_setting_was_changed() -> None:
    """What was rounded up needs no wait, and what was rounded down goes back, by whoever does not wait."""
    for before, after in ((0, "1000"), (1_000, "0")):
        with Lab(WorkerWaitMilliseconds=before) as lab:
            create("j1", 600.25)
            os.environ["ONTHEDOT_WORKER_WAIT_MILLISECONDS"] = after  # the lab takes it back
            forget()
            lab.advance(seconds=603)
            assert NONE <= min(late()) <= 2 * SECOND


def test_workers_that_wait_hold_up_nobody_for_longer_than_that(waiting: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """More jobs in a second than workers: what finds none free is late by less than rounding would have made it."""
    random = Random(3)
    for number in range(IN_A_SECOND):
        create(f"j{number}", 5 + random.uniform(0, OFTEN))
    with event_source(waiting, WORKERS, 0) as source:
        monkeypatch.setattr(SystemClock, "wait", lambda _, span: source.stand(span))
        source.advance(seconds=7 + OFTEN)
    found = late()
    assert len(found) == IN_A_SECOND
    assert source.most == WORKERS
    assert NONE <= min(found) <= max(found) < SECOND
