"""A failed attempt is followed by another, after a growing wait, until one succeeds or none is left."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from tests.support import schedules
from tests.support.handlers import RAN, SCRIPT, ran
from tests.support.interleavings import Meets, play_all
from tests.support.jobs import create, entry, job, message
from tests.support.lab import Lab
from tests.support.worlds import Died

from onthedot import Discard, RetryAfter, wiring
from onthedot.clock import SystemClock
from onthedot.rules.jobs import Job, Retry, State
from onthedot.steps.finish import Failure, Success, finish
from onthedot.steps.start import Attempt, start

SECOND = timedelta(seconds=1)
LARGE = f'"{"x" * 3_000}"'


@pytest.fixture
def longest_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have chance choose the longest wait each time."""
    monkeypatch.setattr(SystemClock, "chance", lambda _: 0.999_999)


def waits() -> list[float]:
    """Return how long each attempt came after the one before. Units: seconds."""
    return [round((later.at - earlier.at) / SECOND) for earlier, later in pairwise(RAN)]


def begun(name: str) -> Attempt:
    """Return an attempt of a job that is due."""
    attempt = start(wiring.world(), entry(job(name)), wiring.policies())
    assert isinstance(attempt, Attempt)
    return attempt


@pytest.mark.usefixtures("longest_waits")
def test_it_waits_longer_each_time_and_ends_dead_after_five(lab: Lab) -> None:
    create("j1", handler="test.flaky")
    lab.advance(minutes=10)
    assert [call.attempt for call in RAN] == [1, 2, 3, 4, 5]
    assert waits() == [10, 20, 40, 80]
    assert len({call.key for call in RAN}) == 1, "the idempotency key is the same for all attempts"
    dead = job("j1")
    assert (dead.state, dead.reason, dead.error) == (State.DEAD, "failed", "RuntimeError: boom 5")
    assert lab.messages() == []


def test_it_succeeds_when_an_attempt_does(lab: Lab) -> None:
    SCRIPT.succeeds_at = 3
    create("j1", handler="test.flaky")
    lab.advance(minutes=5)
    shown = lab.job("j1")
    assert (shown["state"], shown["result"], shown["attempt"]) == ("succeeded", 3, 3)
    errors = [attempt.get("error") for attempt in shown["attempts"]]
    assert errors == ["RuntimeError: boom 1", "RuntimeError: boom 2", None]
    assert shown["last_error"] == "RuntimeError: boom 2"


@pytest.mark.usefixtures("longest_waits")
def test_every_attempt_is_shown_with_its_times_and_its_error(lab: Lab) -> None:
    create("j1", handler="test.flaky", retry=Retry(max_attempts=3))
    lab.settle()
    waiting = lab.job("j1")
    assert (waiting["state"], waiting["run_at"], waiting["attempt"]) == ("scheduled", "2027-01-04T08:00:39.999Z", 1)
    assert "started_at" not in waiting
    assert "late_seconds" not in waiting
    lab.advance(minutes=5)
    attempts = lab.job("j1")["attempts"]
    assert [attempt["number"] for attempt in attempts] == [1, 2, 3]
    assert [attempt["error"] for attempt in attempts] == [f"RuntimeError: boom {number}" for number in (1, 2, 3)]
    assert all(attempt["started_at"] <= attempt["finished_at"] for attempt in attempts)


def test_the_next_attempt_never_comes_early_and_is_spread_by_chance(lab: Lab) -> None:
    for number in range(40):
        create(f"j{number}", handler="test.flaky", retry=Retry(max_attempts=2, first=100))
    lab.settle()
    due = {f"j{number}": job(f"j{number}").run_at for number in range(40)}
    lab.advance(minutes=5)
    second = {call.id: call.at for call in RAN if call.attempt == 2}
    assert len(second) == 40
    assert all(second[name] >= due[name] for name in due)
    spread = sorted((at - lab.now()).total_seconds() for at in due.values())
    assert spread[-1] - spread[0] > 50, "all in one place: those that failed together would come back together"


@pytest.mark.parametrize(("seconds", "late"), [(30, 0), (899.5, 0.5), (901, 0), (172_800, 0), (0, 0), (-5, 0)])
def test_a_handler_chooses_the_wait(lab: Lab, seconds: float, late: float) -> None:
    """A near attempt rides SQS, a far one waits on the agenda; neither is early."""
    SCRIPT.meanwhile = lambda: raising(RetryAfter(seconds))
    create("j1", handler="test.meanwhile", retry=Retry(max_attempts=2))
    lab.settle()
    far = seconds > 900
    assert len(lab.messages()) == (0 if far or seconds <= 0 else 1)
    assert (job("j1").wake == job("j1").run_at) == far or seconds <= 0
    lab.advance(days=3)
    assert (RAN[1].at - RAN[0].at - timedelta(seconds=max(0, seconds))).total_seconds() == pytest.approx(late, abs=1)
    assert RAN[1].at - RAN[0].at >= timedelta(seconds=seconds)
    assert job("j1").state is State.DEAD


def raising(error: Exception) -> None:
    raise error


def kept_until(lab: Lab, job: Job) -> datetime | None:
    """Return when the item that holds a job's payload expires."""
    [item] = [item for item in lab.items() if item["slot"]["S"] == job.payload.stored_as]
    return datetime.fromtimestamp(int(item["expires_at"]["N"]), UTC) if "expires_at" in item else None


@pytest.mark.parametrize(("days", "copied"), [(1, False), (300, False), (800, True)])
def test_its_payload_lasts_as_long_as_it_waits(lab: Lab, days: int, copied: bool) -> None:
    """A handler asked for an attempt in two years; the payload had expired by then, and the job was dead."""
    SCRIPT.meanwhile = lambda: raising(RetryAfter(days * 86_400))
    made = create("j1", handler="test.meanwhile", payload=LARGE)
    lab.settle()
    waits = job("j1")
    assert (waits.payload.stored_as != made.payload.stored_as) == copied
    end = kept_until(lab, waits)
    assert end is not None
    assert end >= waits.run_at + timedelta(days=30)


def test_a_deleted_schedule_leaves_no_job_that_waits_for_its_next_attempt(lab: Lab) -> None:
    """It was cancelled when that time came: until then, perhaps for years, it stood among those that run."""
    SCRIPT.meanwhile = lambda: raising(RetryAfter(100 * 86_400))
    schedules.put("s", handler="test.meanwhile", cron="5 8 4 1 *")
    lab.advance(minutes=5)
    schedules.delete("s")
    [ended] = schedules.slots_of("s").values()
    assert (ended.state, ended.reason, ended.attempt) == (State.CANCELLED, "its schedule was deleted", 1)


@pytest.mark.parametrize(("days", "copied"), [(1, False), (300, False), (800, True)])
def test_the_payload_of_a_schedule_lasts_as_long_too(lab: Lab, days: int, copied: bool) -> None:
    """It is copied only where it would expire: that the schedule names another by then is no rare thing."""
    SCRIPT.meanwhile = lambda: raising(RetryAfter(days * 86_400))
    schedules.put("s", LARGE, handler="test.meanwhile", cron="5 8 4 1 *")
    lab.advance(minutes=5)
    schedules.put("s", handler="test.meanwhile", cron="5 8 4 1 *")
    [waits] = schedules.slots_of("s").values()
    end = kept_until(lab, waits)
    assert end is not None
    assert end >= waits.run_at + timedelta(days=30)
    assert (waits.payload.kept_until is not None) == copied


def test_a_handler_that_gives_up_ends_the_job_at_once(lab: Lab) -> None:
    SCRIPT.meanwhile = lambda: raising(Discard("the link is gone"))
    create("j1", handler="test.meanwhile", retry=Retry(max_attempts=8))
    lab.advance(minutes=10)
    assert len(RAN) == 1
    assert (job("j1").state, job("j1").reason, job("j1").error) == (State.DEAD, "discarded", "the link is gone")


def test_a_name_that_no_handler_has_is_tried_again(lab: Lab) -> None:
    """A deploy may be under way: the function that knows it comes in seconds."""
    create("j1", handler="not.yet")
    lab.settle()
    assert job("j1").state is State.SCHEDULED
    lab.advance(minutes=10)
    dead = job("j1")
    assert (dead.state, dead.reason, dead.attempt) == (State.DEAD, "no such handler", 5)
    assert "known: " in (dead.error or "")


@pytest.mark.parametrize(
    ("handler", "said", "attempts"),
    [
        ("test.flaky", None, 5),
        ("test.fail", None, 1),
        ("test.flaky", Retry(max_attempts=2), 2),
        ("test.fail", Retry(max_attempts=3), 3),
        ("test.fail", Retry(first=1), 1),
    ],
)
def test_the_jobs_word_goes_before_its_handlers(lab: Lab, handler: str, said: Retry | None, attempts: int) -> None:
    create("j1", handler=handler, retry=said)
    lab.advance(minutes=20)
    assert len(RAN) == attempts
    assert job("j1").state is State.DEAD


@pytest.mark.usefixtures("longest_waits")
def test_what_a_job_leaves_open_is_the_default(lab: Lab) -> None:
    create("j1", handler="test.flaky", retry=Retry(first=1, max_attempts=4))
    lab.advance(minutes=20)
    assert waits() == [1, 2, 4]


@pytest.mark.usefixtures("longest_waits")
def test_a_schedules_word_governs_its_slots(lab: Lab) -> None:
    schedules.put("s", cron="0 9 * * *", handler="test.flaky", retry={"max_attempts": 3, "first": 7, "factor": 1})
    lab.advance(hours=2)
    assert [call.attempt for call in RAN] == [1, 2, 3]
    assert waits() == [7, 7]


def test_errors_of_many_attempts_have_bounded_room(lab: Lab) -> None:
    """Every write of a job costs a unit for each KB of its item."""
    SCRIPT.meanwhile = lambda: raising(ValueError("x" * 5_000))
    create("j1", handler="test.meanwhile", retry=Retry(max_attempts=50, first=1, factor=1))
    lab.advance(hours=1)
    shown = lab.job("j1")
    assert len(shown["attempts"]) == 50
    assert all(attempt["error"].startswith("ValueError: x") for attempt in shown["attempts"])
    assert sum(len(attempt["error"]) for attempt in shown["attempts"]) <= 2_400


@pytest.mark.usefixtures("longest_waits")
def test_the_bound_of_its_start_moves_with_its_time(lab: Lab) -> None:
    """It bounds how late an attempt may be, not how long a job may be tried."""
    create("j1", handler="test.flaky", start_within=5)
    lab.advance(minutes=10)
    assert len(RAN) == 5


@pytest.mark.usefixtures("longest_waits")
def test_an_attempt_that_would_start_too_late_is_not_made(lab: Lab) -> None:
    create("j1", handler="test.flaky", start_within=5)
    lab.settle()
    lab.off |= {"JobQueue"}
    lab.advance(minutes=1)
    lab.off.clear()
    lab.advance(minutes=10)
    assert len(RAN) == 1
    shown = lab.job("j1")
    assert (shown["state"], shown["outcome"]) == ("skipped", {"kind": "skipped", "reason": "late"})
    assert shown["last_error"] == "RuntimeError: boom 1"


def test_r08_a_late_finish_of_the_first_attempt_changes_nothing(lab: Lab) -> None:
    """A worker that woke up after its lease overwrote the success of the attempt that had taken over."""
    create("j1", handler="test.record")
    first = begun("j1")
    lab.time.shift(80)
    second = begun("j1")
    assert (second.job.attempt, [past.error for past in second.job.past]) == (2, ["worker died"])
    assert finish(wiring.world(), second, Success("7"))
    before = job("j1")
    for ending in (Failure("late", "failed"), Success("0"), Failure("late", "failed", final=True)):
        assert not finish(wiring.world(), first, ending)
    assert job("j1") == before
    assert (before.state, before.attempt) == (State.SUCCEEDED, 2)


@pytest.mark.usefixtures("lab")
def test_a_late_failure_does_not_end_the_next_attempt() -> None:
    """Numbers restart when a dead job is retried; the owner is the fence."""
    create("j1", handler="test.record")
    first = begun("j1")
    assert finish(wiring.world(), first, Failure("boom", "failed", wait=timedelta(0)))
    second = begun("j1")
    assert not finish(wiring.world(), first, Failure("boom", "failed", wait=timedelta(0)))
    assert job("j1") == second.job


def test_a_message_of_an_earlier_attempt_starts_nothing(lab: Lab) -> None:
    """The queue delivers at least once: the copy of the first message came when the second attempt was not yet due."""
    create("j1", handler="test.flaky", retry=Retry(first=600, max_attempts=2))
    copy = message(job("j1"))
    lab.settle()
    lab.sqs.send_message(QueueUrl=lab.urls["JobQueue"], MessageBody=copy)
    lab.settle()
    assert len(RAN) == 1


def test_its_retry_budget_is_the_jobs_attempt_and_not_the_queues_count(lab: Lab) -> None:
    """L06: throttled polls raise the receive count; a job that was never tried was dead."""
    lab.off |= {"JobQueue"}
    create("j1", handler="test.flaky", retry=Retry(max_attempts=3))
    for _ in range(8):
        assert lab.receive("JobQueue")
        lab.time.shift(200)
    lab.off.clear()
    lab.advance(minutes=20)
    assert [call.attempt for call in RAN] == [1, 2, 3]


@pytest.mark.parametrize(
    ("happens", "state", "reason"),
    [
        (lambda: schedules.delete("s"), State.CANCELLED, "its schedule was deleted"),
        (lambda: schedules.hold("s"), State.SKIPPED, "its schedule is paused"),
        (lambda: schedules.put("s", cron="0 9 * * *", handler="test.record"), State.DEAD, "failed"),
    ],
    ids=["delete", "pause", "edit"],
)
def test_what_happens_to_its_schedule_while_it_waits(lab: Lab, happens: Any, state: State, reason: str) -> None:
    """A delete and a pause hold until the next attempt; an edit is for later slots."""
    schedules.put("s", cron="0 9 * * *", handler="test.flaky", retry={"max_attempts": 3, "first": 60, "factor": 1})
    lab.advance(minutes=59, seconds=31)
    happens()
    lab.advance(minutes=10)
    [ended] = schedules.slots_of("s").values()
    assert (ended.state, ended.reason) == (state, reason)
    assert len(RAN) == (3 if state is State.DEAD else 1)


def test_a_job_that_waits_for_its_next_attempt_can_be_moved_and_taken_back(lab: Lab) -> None:
    for name in ("moved", "gone"):
        create(name, handler="test.flaky", retry=Retry(first=600, max_attempts=2))
    lab.settle()
    assert lab.call("PATCH", "/jobs/moved", {"delay": 5}).body["attempt"] == 1
    assert lab.call("DELETE", "/jobs/gone").body["state"] == "cancelled"
    lab.advance(seconds=10)
    assert [(call.id, call.attempt) for call in RAN] == [("moved", 1), ("gone", 1), ("moved", 2)]
    lab.advance(hours=1)
    assert len(RAN) == 3


def fail(attempt: Attempt) -> bool:
    return finish(wiring.world(), attempt, Failure("boom", "failed", wait=timedelta(seconds=30)))


def test_whatever_call_the_finisher_dies_at_the_job_goes_on(lab: Lab) -> None:
    """X01, X02: a death after the write and before the send left nothing that would wake the job."""

    def die() -> None:
        raise Died

    def story(name: str, meets: Meets) -> None:
        create(name, handler="test.record")
        attempt = begun(name)
        with suppress(Died):
            meets(lambda: fail(attempt), die)
        lab.advance(minutes=8)
        assert (job(name).state, job(name).attempt) == (State.SUCCEEDED, 2)
        assert ran().count(name) == 1

    assert play_all(story) >= 5


def test_a_finish_whose_answer_is_lost_is_met_again(lab: Lab) -> None:
    """The second call met the first one's write, and must not take it for somebody else's."""
    create("j1", handler="test.record")
    attempt = begun("j1")
    assert fail(attempt)
    waiting = job("j1")
    assert fail(attempt)
    assert job("j1") == waiting
    lab.time.shift(1)
    assert not fail(attempt), "decided anew it is another ending, and late"
    assert job("j1") == waiting


def test_nobody_waits_for_the_next_attempt_but_its_message(lab: Lab) -> None:
    """A worker that slept through a wait was paid for it, and died with the job."""
    create("j1", handler="test.flaky", retry=Retry(first=600))
    lab.settle()
    assert (job("j1").state, job("j1").lease_until) == (State.SCHEDULED, None)
    assert len(lab.messages()) == 1
