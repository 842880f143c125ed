"""More than the workers can do: jobs are late, and that is all. None is lost, none runs twice, none is dead untried.

`make prove-overload` plays it with 2,000 jobs; `pytest -s` prints how many messages were sent for each.
"""

from collections import Counter
from datetime import timedelta

import pytest
from tests.support.event_source import event_source
from tests.support.handlers import RAN, ran
from tests.support.jobs import job
from tests.support.lab import Lab
from tests.support.proving import IN_FULL

from onthedot.messages import read_job
from onthedot.rules.jobs import State
from onthedot.steps.rescue import WAIT

JOBS, WORKERS, SECONDS = (2_000, 5, 2) if IN_FULL else (36, 3, 60)
"""Either way they are done after 800 s."""


def names(count: int) -> list[str]:
    return [f"j{number:04}" for number in range(count)]


def due_at_once(lab: Lab, count: int, delay: float) -> list[str]:
    """Create jobs that are due at one instant, as the API does for a batch."""
    at = (lab.now() + timedelta(seconds=delay)).isoformat()
    for start in range(0, count, 100):
        batch = [{"id": name, "handler": "test.meanwhile", "run_at": at} for name in names(count)[start : start + 100]]
        assert lab.call("POST", "/jobs/batch", {"jobs": batch}).status == 200
    return names(count)


def messages_sent(lab: Lab) -> Counter[str]:
    """Count the messages of each job."""
    bodies = [entry["MessageBody"] for call in lab.called("SendMessageBatch") for entry in call["Entries"]]
    entries = [entry for entry in map(read_job, bodies) if entry is not None]
    return Counter(entry.schedule.removeprefix("job#") for entry in entries)


@pytest.mark.parametrize(("delay", "extra"), [(60, 1), (1_800, 0)], ids=["near", "far"])
def test_jobs_due_at_once_on_slow_workers(lab: Lab, delay: float, extra: int) -> None:
    """What still waits when drain comes to its entry is sent once more; nothing else is, however long the queue is."""
    jobs = due_at_once(lab, JOBS, delay)
    due_at = job(jobs[0]).run_at
    with event_source(lab, WORKERS, SECONDS) as source:
        source.advance(seconds=delay + JOBS / WORKERS * SECONDS + 60)
    assert source.most == WORKERS
    assert sorted(ran()) == jobs, "each once"
    assert {(job(name).state, job(name).attempt) for name in jobs} == {(State.SUCCEEDED, 1)}
    sent = messages_sent(lab)
    mean = sum(sent.values()) / len(jobs) - 1
    print(f"\n{len(jobs)} jobs, {WORKERS} workers: the last {(RAN[-1].at - due_at).total_seconds():.0f} s late;")
    print(f"extra messages for each job: {max(sent.values()) - 1} at most, {mean:.2f} on average")
    assert max(sent.values()) <= 1 + extra
    lab.advance(hours=2)
    assert sorted(ran()) == jobs
    assert lab.messages() == lab.messages("JobDeadLetterQueue") == []


THROTTLED, CONCURRENCY = (500, 10) if IN_FULL else (24, 4)


@pytest.mark.parametrize(("receives", "some_are_rescued"), [(100, False), (3, True)], ids=["template", "three"])
def test_l06_throttled_workers_that_burn_receives(lab: Lab, receives: int, some_are_rescued: bool) -> None:
    """L06: pollers took more than the workers could, each throttle was a receive, and jobs were dead unseen."""
    lab.give_up_after(receives)
    jobs = due_at_once(lab, THROTTLED, 10)
    due_at = job(jobs[0]).run_at
    with event_source(lab, CONCURRENCY, 2, greedy=True) as source:
        while len(ran()) < len(jobs) and lab.now() < due_at + timedelta(days=1):
            source.advance(minutes=1)
        source.advance(minutes=4)
    print(f"\n{len(jobs)} jobs: {source.throttled} receives without a worker, the last {RAN[-1].at - due_at} late")
    assert source.throttled > len(jobs)
    assert sorted(ran()) == jobs, "each once"
    assert {(job(name).state, job(name).attempt) for name in jobs} == {(State.SUCCEEDED, 1)}
    assert any(job(name).run_at >= due_at + WAIT for name in jobs) == some_are_rescued
    assert lab.messages("JobDeadLetterQueue") == []
