"""A worker that dies with its job is replaced when its lease is over, by whoever gets a message, and not for ever."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.faults.failing import install, refused
from tests.support.handlers import RAN, SCRIPT, ran
from tests.support.interleavings import Meets, play_all
from tests.support.jobs import create, entry, job, message
from tests.support.lab import Lab
from tests.support.worlds import Died, Holds, Runner, die, stalling

from onthedot import wiring
from onthedot.attempt import Attempts
from onthedot.handler import Job as Given
from onthedot.rules.jobs import Retry, State
from onthedot.steps.finish import Ending, Failure, Success, finish
from onthedot.steps.heartbeat import Beat, Pulse
from onthedot.steps.manage import Changed, stop
from onthedot.steps.rescue import rescue
from onthedot.steps.start import Attempt, Drop, Wait, start
from onthedot.steps.work import work

SECOND = timedelta(seconds=1)
POLICIES = Runner(3).policies()
RUN = Attempts.run


@pytest.fixture
def deadly(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[datetime]]:
    """Have each handler of the real worker kill its process when it is done; return when."""
    deaths: list[datetime] = []

    def run(attempts: Attempts, *given: Any) -> Ending:
        RUN(attempts, *given)
        deaths.append(wiring.world().clock.now())
        raise Died

    monkeypatch.setattr(Attempts, "run", run)
    yield deaths
    monkeypatch.setattr(Attempts, "run", RUN)


def pass_time(lab: Lab, seconds: float) -> None:
    """Let time pass, however many workers die in it."""
    end = lab.now() + seconds * SECOND
    while lab.now() < end:
        with suppress(Died):
            lab.advance(seconds=(end - lab.now()).total_seconds())


def begun(name: str) -> Attempt:
    attempt = start(wiring.world(), entry(job(name)), POLICIES)
    assert isinstance(attempt, Attempt)
    return attempt


@pytest.mark.parametrize("visibility", [30, 180, 960, 43_200])
@pytest.mark.parametrize("beats", [0, 3])
def test_it_is_replaced_within_35_s_whatever_the_queues_visibility(
    lab: Lab, deadly: list[datetime], visibility: int, beats: int
) -> None:
    """The message was seen again when the queue said so: with a function of 15 minutes, after as long."""
    attributes: Any = {"VisibilityTimeout": str(visibility)}
    lab.sqs.set_queue_attributes(QueueUrl=lab.urls["JobQueue"], Attributes=attributes)

    def does(given: Given) -> None:
        for _ in range(beats if given.attempt == 1 else 0):
            lab.time.shift(4)
            given.heartbeat()

    SCRIPT.with_job = does
    create("j1", handler="test.given", timeout=5)
    pass_time(lab, 60)
    assert [call.attempt for call in RAN[:2]] == [1, 2]
    waited = RAN[1].at - deadly[0]
    assert 20 * SECOND < waited < 27 * SECOND, "its timeout, the margin, two skews and a second"


def test_so_it_is_where_only_its_handler_says_how_long_it_may_take(lab: Lab, deadly: list[datetime]) -> None:
    """A start cannot know that word: with one handler of 800 s, every job's lease was that long."""
    create("j1", handler="test.quick")
    pass_time(lab, 60)
    assert [call.attempt for call in RAN[:2]] == [1, 2]
    assert 20 * SECOND < RAN[1].at - deadly[0] < 27 * SECOND


@pytest.mark.usefixtures("deadly")
@pytest.mark.parametrize("most", [1, 3, 5])
def test_one_that_kills_its_worker_each_time_ends_dead(lab: Lab, most: int) -> None:
    """A4: it was taken over until SQS gave up on its message, and each time it took a worker with it."""
    create("j1", handler="test.given", timeout=5, retry=Retry(max_attempts=most))
    pass_time(lab, 27 * most)
    shown = lab.job("j1")
    assert (shown["state"], shown["outcome"]) == ("dead", {"kind": "dead", "reason": "worker died"})
    assert [call.attempt for call in RAN] == list(range(1, most + 1))
    assert [attempt["number"] for attempt in shown["attempts"]] == list(range(1, most + 1))
    assert {attempt["error"] for attempt in shown["attempts"]} == {"worker died"}
    pass_time(lab, 3_600)
    assert (len(RAN), lab.messages()) == (most, [])


def test_one_that_is_found_too_late_is_not_tried_again(lab: Lab) -> None:
    create("j1", timeout=5, start_within=20)
    begun("j1")
    lab.time.shift(25)
    lab.settle()
    shown = lab.job("j1")
    assert (shown["outcome"], shown["last_error"]) == ({"kind": "skipped", "reason": "late"}, "worker died")
    assert ran() == []


def test_sent_again_by_hand_it_begins_anew(lab: Lab, monkeypatch: pytest.MonkeyPatch, deadly: list[datetime]) -> None:
    create("j1", handler="test.given", timeout=5, retry=Retry(max_attempts=2))
    pass_time(lab, 60)
    assert (job("j1").state, len(deadly)) == (State.DEAD, 2)
    monkeypatch.setattr(Attempts, "run", RUN)
    again = lab.call("POST", "/jobs/j1/retry").body
    assert (again["state"], again["attempt"], again["attempts"]) == ("scheduled", 0, [])
    lab.settle()
    shown = lab.job("j1")
    assert (shown["state"], shown["attempt"], [each["number"] for each in shown["attempts"]]) == ("succeeded", 1, [1])


LATE: list[Ending] = [Success("7"), Failure("boom", "failed"), Failure("boom", "failed", final=True)]


@pytest.mark.parametrize("ending", LATE, ids=["success", "failure", "dead"])
@pytest.mark.parametrize("first", ["finish", "takeover"])
def test_a_takeover_and_a_late_finish_at_once_leave_one_truth(lab: Lab, ending: Ending, first: str) -> None:
    seen = set()

    def story(name: str, meets: Meets) -> None:
        create(name)
        late, done, starts = begun(name), list[bool](), list[Any]()
        lab.time.shift(80)
        entry_of_it = entry(job(name))
        both = [
            lambda: done.append(finish(wiring.world(), late, ending)),
            lambda: starts.append(start(wiring.world(), entry_of_it, POLICIES)),
        ]
        meets(*both) if first == "finish" else meets(*reversed(both))
        [is_done], [taken], now = done, starts, job(name)
        seen.add(is_done)
        assert is_done != isinstance(taken, Attempt)
        if is_done:
            assert now.attempt == 1
            assert now.state is not State.RUNNING
        else:
            assert now == taken.job
            assert (now.attempt, [past.error for past in now.past]) == (2, ["worker died"])

    assert play_all(story) >= 3
    assert seen == {True, False}


def test_a_takeover_whose_answer_was_lost_costs_no_attempt(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """It had taken the job, nobody knew, and its lease ended without a call of the handler."""
    create("j1")
    begun("j1")
    lab.time.shift(80)
    faults = install(monkeypatch)

    def done_and_lost(asked: dict[str, Any]) -> dict[str, Any]:
        lab.dynamodb.update_item(**asked)
        raise refused("InternalServerError", 500)

    faults.on("UpdateItem", None, done_and_lost)
    lab.settle()
    assert (ran(), job("j1").state, job("j1").attempt) == (["j1"], State.SUCCEEDED, 2)


@pytest.mark.parametrize("most", [1, 3])
def test_one_that_beats_while_its_dead_letter_is_judged_keeps_its_letter(lab: Lab, most: int) -> None:
    """It was acknowledged, and when the worker died after all, only the hourly sweep was left to find the job."""
    seen = set()

    def story(name: str, meets: Meets) -> None:
        create(name, timeout=5, retry=Retry(max_attempts=most))
        attempt, kept, beats = begun(name), list[bool](), list[Beat]()
        text = message(job(name))
        lab.time.shift(25)
        pulse = Pulse(wiring.world(), attempt, Holds())
        meets(
            lambda: kept.append(not rescue(wiring.world(), text, POLICIES, Holds())),
            lambda: beats.append(pulse(lab.now() + 5 * SECOND)),
        )
        seen.add((beats[0], kept[0]))
        assert (job(name).state is State.RUNNING) == kept[0]

    assert play_all(story) >= 4
    assert seen == {(Beat.GO_ON, True), (Beat.LOST, False)}


@pytest.mark.parametrize("ending", LATE, ids=["success", "failure", "dead"])
@pytest.mark.parametrize("first", ["finish", "rescue"])
def test_a_rescue_and_a_late_finish_at_once_leave_one_truth(lab: Lab, ending: Ending, first: str) -> None:
    seen = set()

    def story(name: str, meets: Meets) -> None:
        create(name)
        late, done, text = begun(name), list[bool](), message(job(name))
        lab.time.shift(80)
        both = [
            lambda: done.append(finish(wiring.world(), late, ending)),
            lambda: rescue(wiring.world(), text, POLICIES, Holds()),
        ]
        meets(*both) if first == "finish" else meets(*reversed(both))
        now = job(name)
        seen.add(done[0])
        told = now.error or now.result or now.past[0].error
        assert told == ({Success: "7", Failure: "boom"}[type(ending)] if done[0] else "worker died")
        assert (now.attempt, now.state is State.RUNNING) == (1, False)

    assert play_all(story) >= 3
    assert seen == {True, False}


@pytest.mark.parametrize("wait", [30, 7_200], ids=["near", "far"])
def test_whoever_dies_while_putting_a_failed_attempt_back_is_replaced(lab: Lab, wait: float) -> None:
    """A near attempt rides SQS, a far one waits on the agenda; a death in between left neither."""

    def story(name: str, meets: Meets) -> None:
        create(name, timeout=5)
        attempt = begun(name)
        with suppress(Died):
            meets(lambda: finish(wiring.world(), attempt, Failure("boom", "failed", wait=wait * SECOND)), die)
        lab.advance(seconds=wait + 400)
        assert (job(name).state, job(name).attempt) == (State.SUCCEEDED, 2)
        assert ran().count(name) == 1

    assert play_all(story) >= 3


@pytest.mark.parametrize("most", [1, 3])
def test_whoever_dies_while_taking_over_is_replaced_in_turn(lab: Lab, most: int) -> None:
    """At each call of the takeover, and of the attempt that follows it."""

    def story(name: str, meets: Meets) -> None:
        create(name, timeout=5, retry=Retry(max_attempts=most))
        text = message(job(name))
        begun(name)
        lab.time.shift(25)
        with suppress(Died):
            meets(lambda: work(wiring.world(), text, Runner(most), Holds()), die)
        lab.advance(seconds=60)
        assert not job(name).pending
        assert job(name).state is (State.DEAD if most == 1 else State.SUCCEEDED)
        numbers = [call.attempt for call in RAN if call.id == name]
        assert numbers == sorted(set(numbers)), "each attempt is made once"

    assert play_all(story) >= 3


def test_one_that_woke_up_after_it_was_replaced_calls_no_handler(lab: Lab) -> None:
    """It had won its start, and stalled until another had taken over, and was stopped in the midst of it."""
    made = create("j1", timeout=5)

    def another_takes_over() -> None:
        lab.time.shift(25)
        assert isinstance(begun("j1"), Attempt)

    slow = stalling(wiring.world(), another_takes_over)
    assert not work(slow, message(made), Runner(3), Holds()).acknowledged
    assert (ran(), job("j1").attempt, job("j1").state) == ([], 2, State.RUNNING)


def test_a_stop_and_a_takeover_at_once_agree(lab: Lab) -> None:
    """Whoever was told that it is to stop sees no further failure tried again."""

    def story(name: str, meets: Meets) -> None:
        made = create(name)
        begun(name)
        lab.time.shift(80)
        starts, answers = list[Any](), list[Any]()
        meets(
            lambda: starts.append(start(wiring.world(), entry(job(name)), POLICIES)),
            lambda: answers.append(stop(wiring.world(), *made.key)),
        )
        [taken], now = starts, job(name)
        assert not isinstance(answers[0], Changed)
        if isinstance(taken, Attempt):
            assert finish(wiring.world(), taken, Failure("boom", "failed"))
        elif isinstance(taken, Wait):
            assert isinstance(start(wiring.world(), entry(now), POLICIES), Drop)
        assert (job(name).state, job(name).reason) == (State.CANCELLED, "stopped")

    assert play_all(story) >= 5
    assert ran() == []
