"""`DELETE /jobs/{id}?stop=true`: no further attempt is made, and the handler is told at its next heartbeat."""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from tests.support import schedules
from tests.support.handlers import RAN, SCRIPT, ran
from tests.support.interleavings import Meets, play_all
from tests.support.jobs import create, entry, job, message
from tests.support.lab import Answer, Lab
from tests.support.worlds import Died, Holds, Repeating, Runner, client_of, die, stalling, with_client

from onthedot import Discard, RetryAfter, Stopped, handler, wiring
from onthedot.handler import Job as Given
from onthedot.rules.instants import to_text
from onthedot.rules.jobs import Job, Retry, State
from onthedot.steps.finish import Failure, Success, finish
from onthedot.steps.heartbeat import Beat, Pulse
from onthedot.steps.manage import Changed, Created, Stopping, TooLate, cancel, stop
from onthedot.steps.rescue import rescue
from onthedot.steps.start import Attempt, start
from onthedot.steps.trigger import Wish, trigger
from onthedot.steps.work import work

STOPPED = {"kind": "cancelled", "reason": "stopped"}
POLICIES = Runner(3).policies()


def asked(lab: Lab, name: str = "j1") -> Answer:
    return lab.call("DELETE", f"/jobs/{name}", stop="true")


def stops(name: str, answers: list[Any] | None = None) -> Callable[[], Any]:
    """Return somebody who asks a job to stop, and notes the answer."""
    return lambda: (answers if answers is not None else []).append(stop(wiring.world(), f"job#{name}", "-"))


def begun(name: str) -> Attempt:
    attempt = start(wiring.world(), entry(job(name)), POLICIES)
    assert isinstance(attempt, Attempt)
    return attempt


def works(name: str) -> Any:
    """Work on a job's message; there is none once the job has an outcome."""
    now = job(name)
    return work(wiring.world(), message(now), Runner(3), Holds()) if now.pending else None


def running(lab: Lab, does: Callable[[Given], Any], name: str = "j1", **said: Any) -> None:
    SCRIPT.with_job = does
    create(name, handler="test.given", **said)
    lab.settle()


def raising(error: BaseException) -> Any:
    raise error


def test_it_is_told_at_its_next_heartbeat_and_tried_no_more(lab: Lab) -> None:
    told: list[str] = []

    def does(given: Given) -> None:
        given.heartbeat()
        answers = [asked(lab), asked(lab)]
        assert [(answer.status, answer.body["state"]) for answer in answers] == [(202, "running")] * 2
        for _ in range(2):
            with pytest.raises(Stopped):
                given.heartbeat()
            told.append("stopped")
        given.heartbeat()

    running(lab, does)
    assert told == ["stopped"] * 2, job("j1").error
    shown = lab.job("j1")
    assert (shown["state"], shown["outcome"]) == ("cancelled", STOPPED)
    assert shown["last_error"] == "Stopped: somebody asked for it"
    assert [attempt["error"] for attempt in shown["attempts"]] == [shown["last_error"]]
    lab.advance(hours=2)
    assert (ran(), lab.messages()) == (["j1"], [])
    assert asked(lab).status == 200, "what is cancelled stays so"


@pytest.mark.parametrize(
    ("ends", "state", "error"),
    [
        (lambda: 7, "succeeded", None),
        (lambda: raising(ValueError("boom")), "cancelled", "ValueError: boom"),
        (lambda: raising(RetryAfter(5)), "cancelled", "RetryAfter: retry after 5 s"),
        (lambda: raising(Discard("gone")), "cancelled", "gone"),
    ],
    ids=["success", "error", "retry after", "discard"],
)
def test_how_it_ends_after_that(lab: Lab, ends: Callable[[], Any], state: str, error: str | None) -> None:
    """Whether it listens or not: what was done is done, and what failed is not tried again."""
    running(lab, lambda _: (asked(lab), ends())[1])
    shown = lab.job("j1")
    assert (shown["state"], shown.get("last_error")) == (state, error)
    assert shown["outcome"] == (STOPPED if error else {"kind": "succeeded"})
    lab.advance(hours=2)
    assert ran() == ["j1"]


def test_one_that_runs_is_left_alone_without_the_word(lab: Lab) -> None:
    answers: list[int] = []

    def does(given: Given) -> None:
        answers.append(lab.call("DELETE", "/jobs/j1").status)
        answers.append(lab.call("DELETE", "/jobs/j1", stop="false").status)
        given.heartbeat()

    running(lab, does)
    assert (answers, job("j1").state) == ([409, 409], State.SUCCEEDED)


def test_one_that_waits_is_cancelled_be_it_for_its_next_attempt(lab: Lab) -> None:
    create("later", 600)
    create("again", handler="test.flaky", retry=Retry(first=600))
    lab.settle()
    for name in ("later", "again"):
        answer = asked(lab, name)
        assert (answer.status, answer.body["state"], answer.body["outcome"]) == (
            200,
            "cancelled",
            {"kind": "cancelled"},
        )
    assert lab.job("again")["last_error"] == "RuntimeError: boom 1"
    lab.advance(hours=2)
    assert ran() == ["again"]


@pytest.mark.parametrize("name", ["test.record", "test.discard"])
def test_one_that_has_an_outcome_is_told_so(lab: Lab, name: str) -> None:
    create("j1", handler=name)
    lab.settle()
    before = job("j1")
    assert asked(lab).status == 409
    assert job("j1") == before
    assert asked(lab, "nobody").status == 404


def by_takeover(lab: Lab) -> None:
    work(wiring.world(), message(job("j1")), Runner(3), Holds())
    assert lab.now()


def by_dead_letters(lab: Lab) -> None:
    assert rescue(wiring.world(), message(job("j1")), POLICIES, Holds())
    assert lab.now()


def by_sweep(lab: Lab) -> None:
    lab.purge()
    lab.advance(minutes=76)


@pytest.mark.parametrize("found", [by_takeover, by_dead_letters, by_sweep])
def test_its_worker_dies_after_that(lab: Lab, found: Callable[[Lab], None]) -> None:
    """It was taken over as if nobody had asked."""
    create("j1", timeout=5)
    begun("j1")
    lab.time.shift(3)
    assert asked(lab).status == 202
    lab.time.shift(22)
    found(lab)
    shown = lab.job("j1")
    assert (shown["outcome"], shown["last_error"], shown["attempt"]) == (STOPPED, "worker died", 1)
    assert ran() == []


def test_its_lease_is_waited_for_before_it_is_called_dead(lab: Lab) -> None:
    create("j1", timeout=5)
    attempt = begun("j1")
    asked(lab)
    lab.time.shift(20)
    works("j1")
    assert job("j1").state is State.RUNNING
    assert finish(wiring.world(), attempt, Success("7"))


def fails(attempt: Attempt, seconds: float) -> bool:
    wait = timedelta(seconds=seconds)
    return finish(wiring.world(), attempt, Failure("boom", "failed", wait=wait))


@pytest.mark.parametrize("first", ["finish", "stop"])
@pytest.mark.parametrize("wait", [30, 7_200], ids=["near", "far"])
def test_a_stop_and_a_failure_at_once_leave_no_attempt(lab: Lab, first: str, wait: float) -> None:
    """The finish that had not seen the wish put the job back on the agenda, and it ran once more."""
    seen = set()

    def story(name: str, meets: Meets) -> None:
        create(name)
        attempt, answers = begun(name), list[Any]()
        both = [lambda: fails(attempt, wait), stops(name, answers)]
        meets(*both) if first == "finish" else meets(*reversed(both))
        now = job(name)
        seen.add(type(answers[0]))
        assert now.state is State.CANCELLED
        if isinstance(answers[0], Stopping):
            assert (now.reason, now.error, now.attempt) == ("stopped", "boom", 1)
        else:
            assert [past.error for past in now.past] == ["boom"]

    assert play_all(story) >= 3
    assert seen == {Stopping, Changed}
    lab.advance(hours=3)
    assert ran() == []


@pytest.mark.parametrize("first", ["beat", "stop"])
def test_a_stop_and_a_heartbeat_at_once_are_heard_at_the_next(lab: Lab, first: str) -> None:
    def story(name: str, meets: Meets) -> None:
        create(name)
        pulse, answers, beats = Pulse(wiring.world(), begun(name), Holds()), list[Any](), list[Beat]()
        lab.time.shift(5)

        def beat() -> None:
            beats.append(pulse(lab.now() + timedelta(seconds=60)))

        both = [beat, stops(name, answers)]
        meets(*both) if first == "beat" else meets(*reversed(both))
        assert isinstance(answers[0], Stopping)
        beat()
        assert beats in ([Beat.GO_ON, Beat.STOP], [Beat.STOP, Beat.STOP])

    assert play_all(story) >= 3


@pytest.mark.parametrize("first", ["finish", "stop"])
@pytest.mark.usefixtures("lab")
def test_a_stop_and_a_success_at_once_are_a_success(first: str) -> None:
    seen = set()

    def story(name: str, meets: Meets) -> None:
        create(name)
        attempt, answers = begun(name), list[Any]()
        both = [lambda: finish(wiring.world(), attempt, Success("7")), stops(name, answers)]
        meets(*both) if first == "finish" else meets(*reversed(both))
        seen.add(type(answers[0]))
        assert (job(name).state, job(name).result) == (State.SUCCEEDED, "7")

    assert play_all(story) >= 3
    assert seen == {Stopping, TooLate}


@pytest.mark.parametrize("by", [stop, cancel])
@pytest.mark.usefixtures("lab")
def test_r07_of_a_stop_and_a_start_at_once_the_answer_is_true(by: Any) -> None:
    """Who was told that it is taken back must see no run; who was told that it runs, no more than that one."""
    seen = set()

    def story(name: str, meets: Meets) -> None:
        made, answers = create(name), list[Any]()
        meets(lambda: works(name), lambda: answers.append(by(wiring.world(), *made.key)))
        runs, now = ran().count(name), job(name)
        seen.add((type(answers[0]), now.state, runs))

    assert play_all(story) >= 5
    assert (Changed, State.CANCELLED, 0) in seen
    late = TooLate if by is cancel else Stopping
    assert seen <= {(Changed, State.CANCELLED, 0), (TooLate, State.SUCCEEDED, 1), (late, State.SUCCEEDED, 1)}


def test_whoever_dies_while_asking_leaves_the_job_whole(lab: Lab) -> None:
    def story(name: str, meets: Meets) -> None:
        create(name, timeout=5)
        attempt = begun(name)
        with suppress(Died):
            meets(stops(name), die)
        asked_for = job(name).stop
        assert fails(attempt, 0)
        lab.settle()
        assert job(name).state is (State.CANCELLED if asked_for else State.SUCCEEDED)
        assert ran().count(name) == (0 if asked_for else 1)

    assert play_all(story) >= 5


def test_one_whose_start_was_too_slow_ends_at_once(lab: Lab) -> None:
    """Its wish refused the return to the agenda, and it ran on, without a handler, until its lease ended."""

    def story(name: str, meets: Meets) -> None:
        made, answers = create(name), list[Any]()
        slow = stalling(wiring.world(), lambda: lab.time.shift(15.001))
        meets(lambda: work(slow, message(made), Runner(), Holds()), stops(name, answers))
        now = job(name)
        assert (now.state, now.attempt, now.started_at) == (State.CANCELLED, 0, None), answers
        assert isinstance(answers[0], Changed) or now.reason == "stopped"

    assert play_all(story) >= 5
    assert ran() == []


def test_a_repeated_start_that_meets_the_wish_calls_no_handler(lab: Lab) -> None:
    """The SDK lost the start's answer; the handler was called with the wish already there, and no heartbeat told it."""
    made = create("j1")
    world = wiring.world()
    lossy = with_client(world, "jobs", Repeating(client_of(world, "jobs"), lambda: asked(lab)))
    assert work(lossy, message(made), Runner(), Holds()).acknowledged
    assert (ran(), job("j1").state, job("j1").reason, job("j1").attempt) == ([], State.CANCELLED, "stopped", 0)


def due(lab: Lab, name: str = "s", **fields: Any) -> list[Job]:
    """Return the jobs of two slots that are due, and no message of them."""
    lab.purge()
    lab.time.move_to(lab.now().replace(minute=lab.now().minute // 5 * 5, second=1) + timedelta(minutes=5))
    schedules.put(name, handler="test.given", **{"cron": "*/5 * * * *", "overlap": "wait"} | fields)
    lab.time.shift(600)
    lab.purge()
    return list(schedules.slots_of(name).values())[:2]


def now(made: Job) -> Job:
    found = wiring.world().jobs.get(*made.key)
    assert found is not None, f"{made.id} is gone"
    return found


def test_one_whose_slot_an_edit_took_back_ends_all_the_same(lab: Lab) -> None:
    """Its start is void and its job deleted, unless somebody has asked for its end by then."""

    def story(name: str, meets: Meets) -> None:
        schedule = name.replace("-", "")
        slot = due(lab, schedule, overlap="allow")[1]
        schedules.change(lab, schedule, version={"N": "9"}, since={"S": to_text(lab.now() - timedelta(hours=1))})
        meets(lambda: work(wiring.world(), message(slot), Runner(), Holds()), lambda: stop(wiring.world(), *slot.key))
        left = wiring.world().jobs.get(*slot.key)
        assert left is None or not left.pending
        assert slot.id not in ran()

    lab.loses_slots = True  # the edit is written by hand, so that nobody plans after it
    assert play_all(story) >= 5


def test_the_turn_of_one_that_was_stopped_is_passed_on(lab: Lab) -> None:
    first, second = due(lab)

    def does(given: Given) -> None:
        SCRIPT.with_job = lambda _: None
        work(wiring.world(), message(second), Runner(), Holds())
        assert asked(lab, first.id).status == 202
        given.heartbeat()

    SCRIPT.with_job = does
    work(wiring.world(), message(first), Runner(), Holds())
    assert (now(first).state, now(first).reason) == (State.CANCELLED, "stopped")
    lab.settle()
    assert ran() == [first.id, second.id]
    assert (schedules.row("s").busy, schedules.row("s").waiting) == (None, None)


def test_one_that_is_about_to_wait_for_its_turn_ends_at_once(lab: Lab) -> None:
    """It had won its start and found that it was not its turn: then its way back was refused for the wish."""

    def story(name: str, meets: Meets) -> None:
        first, second = due(lab, name.replace("-", ""))

        def does(_: Given) -> None:
            asks = lambda: stop(wiring.world(), *second.key)  # noqa: E731
            meets(lambda: work(wiring.world(), message(second), Runner(), Holds()), asks)
            assert now(second).state is State.CANCELLED

        SCRIPT.with_job = does
        work(wiring.world(), message(first), Runner(), Holds())
        assert now(first).state is State.SUCCEEDED, now(first).error
        SCRIPT.with_job = lambda _: None
        third = trigger(wiring.world(), name.replace("-", ""), Wish("third", "third", None))
        assert isinstance(third, Created)
        work(wiring.world(), message(third.job), Runner(), Holds())
        assert now(third.job).state is State.SUCCEEDED, "nobody blocks it"
        assert second.id not in ran()
        schedules.put(name.replace("-", ""), cron="0 0 1 1 *")

    assert play_all(story) >= 9


@handler("test.stopped_or_dead", max_attempts=1)
def stopped_or_dead(given: Given) -> None:
    """Fail, after what the test wants to happen."""
    SCRIPT.with_job(given)
    raise RuntimeError("boom")


def test_one_that_was_stopped_is_no_dead_one(lab: Lab) -> None:
    """`pause_after` looks past it: its owner stopped it, so nothing is told of its handler."""
    schedules.put("s", handler="test.stopped_or_dead", pause_after=2)
    asks: list[bool] = [False, True, True, False]
    SCRIPT.with_job = lambda given: asks.pop(0) and asked(lab, given.id)
    states = []
    for _ in range(4):
        lab.advance(minutes=1)
        states.append(schedules.row("s").state)
    assert [state.value for state in states] == ["active"] * 3 + ["paused"]


def test_sent_again_by_hand_it_runs_as_if_nobody_had_asked(lab: Lab) -> None:
    """The wish was still there, and its new life ended at the first failure."""

    def first_life(given: Given) -> None:
        asked(lab)
        given.heartbeat()

    def second_life(given: Given) -> int:
        given.heartbeat()
        return 7 if given.attempt == 2 else raising(ValueError("boom"))

    running(lab, first_life)
    assert job("j1").state is State.CANCELLED
    SCRIPT.with_job = second_life
    assert lab.call("POST", "/jobs/j1/retry").status == 200
    lab.advance(minutes=5)
    shown = lab.job("j1")
    assert (shown["state"], shown["result"], shown["attempt"], len(shown["attempts"])) == ("succeeded", 7, 2, 2)
    assert [call.attempt for call in RAN] == [1, 1, 2]
