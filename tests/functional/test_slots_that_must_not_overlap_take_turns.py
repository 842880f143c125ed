"""Slots of a schedule with `overlap` `skip` or `wait` never run at once, in whatever order their workers' calls come.

A9: each of two slots that started together read that the other was not running, and both ran.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from itertools import count
from typing import Any

import pytest
from tests.support.batons import Worker, in_every_order, pass_on, play
from tests.support.handlers import RAN, SCRIPT, once
from tests.support.jobs import message
from tests.support.lab import Lab
from tests.support.schedules import put, ran_slots, row, slots_of
from tests.support.worlds import Holds, Runner

from onthedot import wiring
from onthedot.rules.agenda import Entry
from onthedot.rules.jobs import Job, State
from onthedot.steps import trigger as by_hand
from onthedot.steps.manage import Created
from onthedot.steps.work import work

HELD = (State.SKIPPED, "an earlier slot still runs")
QUEUED = (State.SKIPPED, "an earlier slot still runs, and another waits for it")
DONE = (State.SUCCEEDED, None)
NAMES = map("s{}".format, count())
LEASE, MINUTE = timedelta(seconds=60 + 15 + 2 * 2), timedelta(minutes=1)
"""The timeout of a job, the margin, and twice what clocks are apart: then nobody takes the dead one for alive."""


@dataclass(slots=True)
class Inside:
    """Counts the handlers that run at once."""

    now: int = 0
    most: int = 0

    def __call__(self) -> None:
        """Run until another has gone on."""
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            pass_on()
        finally:
            self.now -= 1


@pytest.fixture(name="inside")
def _inside() -> Inside:
    inside = SCRIPT.meanwhile = Inside()
    return inside


def due(lab: Lab, overlap: str, slots: int, **fields: Any) -> list[Job]:
    """Return the jobs of slots that are all due now, at a time when a schedule of five minutes has no other."""
    lab.purge()
    lab.time.move_to(lab.now().replace(minute=lab.now().minute // 5 * 5, second=1) + timedelta(minutes=5))
    name = next(NAMES)
    put(name, overlap=overlap, handler="test.meanwhile", **{"cron": "*/5 * * * *"} | fields)
    lab.time.shift(600 if slots == 2 else 300)
    lab.purge()
    return list(slots_of(name).values())[:slots]


def works(job: Job, dies_at: int | None = None) -> Worker:
    """Return a worker who got the job's message."""
    return Worker(lambda: work(wiring.world(), message(job), Runner(), Holds()), dies_at)


def now(job: Job) -> Job:
    """Return a job as it is now."""
    found = wiring.world().jobs.get(*job.key)
    assert found is not None, f"{job.id} is gone"
    return found


def outcomes(jobs: list[Job]) -> list[tuple[State, str | None]]:
    return [(job.state, job.reason) for job in map(now, jobs)]


def name_of(job: Job) -> str:
    return job.id.partition("@")[0]


def test_of_two_that_start_together_one_runs_and_the_other_is_skipped(lab: Lab, inside: Inside) -> None:
    seen = set()

    def plays(changes: list[int]) -> bool:
        jobs = due(lab, "skip", 2)
        reached = play([works(job) for job in jobs], changes)
        seen.add(tuple(outcomes(jobs)))
        assert row(name_of(jobs[0])).busy is None
        return reached

    assert in_every_order(plays) > 20
    assert seen == {(DONE, DONE), (DONE, HELD), (HELD, DONE)}
    assert inside.most == 1


def test_of_two_that_start_together_one_waits_and_is_sent_when_the_other_ends(lab: Lab, inside: Inside) -> None:
    """The turn was given back between the waiter's mark and its return to the agenda, and it waited for a minute."""

    def plays(changes: list[int]) -> bool:
        jobs = due(lab, "wait", 2)
        reached = play([works(job) for job in jobs], changes)
        lab.time.shift(1)
        lab.settle()
        assert outcomes(jobs) == [DONE, DONE]
        assert {job.attempt for job in map(now, jobs)} == {1}, "waiting is no attempt"
        schedule = row(name_of(jobs[0]))
        assert (schedule.busy, schedule.waiting) == (None, None)
        return reached

    assert in_every_order(plays) > 20
    assert inside.most == 1


def delivered(lab: Lab, job: Job) -> dict[str, Any]:
    """Return a message of the job as the queue gives it to a worker; who does not delete it gets it again."""
    assert job.wake is not None
    assert wiring.world().queue.send([Entry(job.wake, *job.key)], lambda _: lab.now()) == []
    [found] = lab.receive("JobQueue")
    return found


def works_on(lab: Lab, delivery: dict[str, Any], dies_at: int | None = None) -> Worker:
    """Return a worker who hides the message for as long as it has the job, and deletes it when all is done."""
    receipt = delivery["ReceiptHandle"]

    def does() -> None:
        worked = work(wiring.world(), delivery["Body"], Runner(), partial(wiring.held("job").hold, receipt))
        if worked.acknowledged:
            lab.sqs.delete_message(QueueUrl=lab.urls["JobQueue"], ReceiptHandle=receipt)

    return Worker(does, dies_at)


@pytest.mark.parametrize("overlap", ["skip", "wait"])
def test_a_worker_that_dies_at_any_call_stops_nobody_for_longer_than_its_lease_and_a_minute(
    lab: Lab, inside: Inside, overlap: str
) -> None:
    """After its start, with the turn, the message hidden, after its handler, with the outcome, the turn given back.

    One that died when it had called the waiter back, and had not sent it, left it waiting for five minutes.
    """
    reached, dies_at = True, 0
    while reached:
        dies_at += 1
        jobs = due(lab, overlap, 2)
        holder = works_on(lab, delivered(lab, jobs[0]), dies_at)
        play([holder, works_on(lab, delivered(lab, jobs[1]))], [3] if dies_at > 2 else [])
        reached = holder.calls == dies_at
        lab.advance(seconds=(LEASE + MINUTE).total_seconds())
        assert [job.id for job in map(now, jobs) if job.pending] == [], dies_at
        if overlap == "wait":
            assert now(jobs[1]).state is State.SUCCEEDED, dies_at
        third = trigger(name_of(jobs[0]), "third")
        lab.settle()
        assert outcomes([third]) == [DONE], (dies_at, "whoever comes then has the turn")
        assert row(name_of(jobs[0])).busy is None
        hold_off(name_of(jobs[0]))
    assert dies_at >= 6
    assert inside.most == 1


def hold_off(name: str) -> None:
    put(name, cron="0 0 1 1 *")


def running(lab: Lab, overlap: str, meanwhile: Callable[[list[Job]], Any], **fields: Any) -> list[Job]:
    """Run the first of two due slots, and let something happen while its handler runs."""
    jobs = due(lab, overlap, 2, **fields)
    once(lambda: meanwhile(jobs))
    works(jobs[0]).does()
    assert now(jobs[0]).state is State.SUCCEEDED, now(jobs[0]).error
    return jobs


def start(job: Job) -> None:
    work(wiring.world(), message(now(job)), Runner(), Holds())


def trigger(name: str, job_id: str) -> Job:
    made = by_hand.trigger(wiring.world(), name, by_hand.Wish(job_id, job_id, None))
    assert isinstance(made, Created)
    return made.job


def test_a_third_is_skipped_while_another_waits(lab: Lab) -> None:
    third: list[Job] = []

    def meanwhile(jobs: list[Job]) -> None:
        start(jobs[1])
        third.append(trigger(name_of(jobs[0]), "third"))
        start(third[0])

    jobs = running(lab, "wait", meanwhile)
    lab.settle()
    assert outcomes(jobs + third) == [DONE, DONE, QUEUED]


def test_who_does_not_wait_overtakes_nobody_who_does(lab: Lab) -> None:
    """The turn was free for a moment, and whoever came first had it: a waiter could wait for ever."""
    third: list[Job] = []
    jobs = running(lab, "wait", lambda jobs: start(jobs[1]))
    third.append(trigger(name_of(jobs[0]), "third"))
    start(third[0])
    assert outcomes(jobs + third) == [DONE, (State.SCHEDULED, None), QUEUED]
    lab.settle()
    assert outcomes(jobs) == [DONE, DONE]


@pytest.mark.parametrize("overlap", ["skip", "wait"])
def test_a_job_by_hand_takes_turns_too(lab: Lab, overlap: str) -> None:
    found: list[Job] = []

    def meanwhile(jobs: list[Job]) -> None:
        found.append(trigger(name_of(jobs[0]), "now"))
        start(found[0])
        assert [call.id for call in RAN] == [jobs[0].id]

    running(lab, overlap, meanwhile)
    lab.settle()
    assert outcomes(found) == [HELD if overlap == "skip" else DONE]


def test_the_second_attempt_keeps_the_turn_though_another_waits(lab: Lab) -> None:
    """Its worker died, and the attempt that took over was skipped, since another waited: for that very job."""
    jobs = due(lab, "wait", 2)
    SCRIPT.meanwhile = pass_on
    holder = works(jobs[0], dies_at=3)
    play([holder, works(jobs[1])], [])
    assert [job.state for job in map(now, jobs)] == [State.RUNNING, State.SCHEDULED]
    lab.time.shift(140)
    work(wiring.world(), message(jobs[0]), Runner(), Holds())
    assert (now(jobs[0]).state, now(jobs[0]).attempt) == (State.SUCCEEDED, 2)
    lab.settle()
    assert outcomes(jobs) == [DONE, DONE]


def test_ten_slots_that_were_missed_run_one_after_the_other(lab: Lab, inside: Inside) -> None:
    for overlap in ("skip", "wait"):
        name = next(NAMES)
        put(name, overlap=overlap, handler="test.meanwhile")
        lab.off = {"tick"}
        lab.purge()
        lab.time.shift(1210)
        lab.off = set()
        lab.advance(minutes=3)
        assert inside.most == 1
        passed = list(slots_of(name).values())[:20]
        assert {job.state for job in passed} == {State.SUCCEEDED}, "each ends before the next comes"
        assert len(ran_slots(name)) == len(set(ran_slots(name)))
        hold_off(name)
