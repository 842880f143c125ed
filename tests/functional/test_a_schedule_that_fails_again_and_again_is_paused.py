"""`pause_after`: when so many jobs have died in a row, their schedule is paused, with the reason in view."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.support.handlers import SCRIPT, note, ran
from tests.support.interleavings import Meets, play_all
from tests.support.jobs import entry, message
from tests.support.lab import Lab
from tests.support.schedules import delete, hold, put, resume, row, slots_of, told
from tests.support.worlds import Holds, Runner

from onthedot import handler, wiring
from onthedot.handler import Job
from onthedot.rules.events import Event
from onthedot.rules.jobs import Job as Stored
from onthedot.rules.jobs import State
from onthedot.rules.schedules import ScheduleState
from onthedot.steps.manage import cancel
from onthedot.steps.work import work

THREE = "3 dead in a row (pause_after)"


@handler("test.as_told", max_attempts=1)
def as_told(job: Job) -> None:
    """Fail, unless the test says that this time it shall not."""
    note(job)
    if SCRIPT.meanwhile():
        raise RuntimeError("boom")


def failing(*fails: bool) -> None:
    """Let the runs from now on fail or not, as listed, and the last one again and again."""
    left = list(fails)
    SCRIPT.meanwhile = lambda: left.pop(0) if len(left) > 1 else left[0]


def put_failing(name: str = "s", most: int = 3, **fields: Any) -> None:
    put(name, handler="test.as_told", pause_after=most, **fields)


def is_paused(name: str = "s") -> bool:
    return row(name).state is ScheduleState.PAUSED


def start(job: Stored) -> None:
    work(wiring.world(), message(job), Runner(1), Holds())


def test_three_dead_in_a_row_pause_it_and_the_reason_is_in_view(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = told(monkeypatch)
    failing(True)
    put_failing()
    lab.advance(minutes=5)
    assert len(ran()) == 3, "what was planned ahead is taken back"
    shown = lab.call("GET", "/schedules/s").body
    assert shown["state"] == "paused"
    assert (shown["paused"]["reason"], shown["paused"]["by"]) == (THREE, "onthedot")
    assert [(event, reason) for event, _, _, reason in notes if event is Event.SCHEDULE_PAUSED] == [
        (Event.SCHEDULE_PAUSED, THREE)
    ]
    resume("s")
    lab.advance(minutes=2)
    assert len(ran()) == 5, "a resume forgives: two more are not three"
    assert not is_paused()
    lab.advance(minutes=5)
    assert len(ran()) == 6
    assert is_paused()


@pytest.mark.parametrize(("most", "runs"), [(1, 1), (2, 2)])
def test_one_is_a_row_too(lab: Lab, most: int, runs: int) -> None:
    failing(True)
    put_failing(most=most)
    lab.advance(minutes=5)
    assert len(ran()) == runs


def test_a_success_begins_the_row_anew(lab: Lab) -> None:
    failing(True, True, False, True, True, False, True)
    put_failing()
    lab.advance(minutes=8, seconds=45)
    assert (len(ran()), is_paused()) == (9, True)


def test_an_edit_forgives(lab: Lab) -> None:
    failing(True)
    put_failing()
    lab.advance(minutes=2)
    put_failing(payload='"mended"')
    lab.advance(minutes=2)
    assert (len(ran()), is_paused()) == (4, False)
    lab.advance(minutes=1)
    assert is_paused()


def test_what_was_cancelled_or_skipped_is_looked_past(lab: Lab) -> None:
    """A schedule of each minute whose jobs take hours skips some hundred slots for each that dies."""
    failing(True)
    put_failing(cron="* * * * *", missed="latest")
    for _ in range(2):
        lab.advance(minutes=1)
        [soon] = [job for job in slots_of("s").values() if timedelta(0) < job.run_at - lab.now() < timedelta(minutes=1)]
        cancel(wiring.world(), *soon.key)
        lab.advance(minutes=1)
    assert (len(ran()), is_paused()) == (2, False)
    lab.advance(minutes=1)
    assert is_paused()


def test_hundreds_of_skipped_slots_are_looked_past(lab: Lab) -> None:
    failing(True)
    put_failing(most=2, missed="catch_up", catch_up_limit=1000, catch_up_rate=1000)
    lab.advance(minutes=1)
    world = wiring.world()
    [first] = [job for job in slots_of("s").values() if job.state is State.DEAD]
    for number in range(250):
        slot = f"2027-01-04T12:{number // 60:02}:{number % 60:02}.000Z"
        world.jobs.add(replace(first, slot=slot, state=State.SKIPPED), lab.now())
    lab.advance(minutes=1)
    assert is_paused()


def test_a_worker_that_dies_counts_as_its_job_does(lab: Lab) -> None:
    """Only a handler's error counted; one that kills its process each time never paused anything."""
    put_failing(most=1)
    lab.time.shift(60)
    first = next(iter(slots_of("s").values()))
    wiring.world().jobs.start(entry(first), "died", lab.now(), timedelta(seconds=60))
    lab.time.shift(140)
    start(first)
    assert slots_of("s")[first.id.partition("@")[2]].reason == "worker died"
    assert is_paused()


def test_a_death_of_a_former_generation_pauses_nothing(lab: Lab) -> None:
    put("s", handler="test.as_told", pause_after=1)
    lab.time.shift(60)

    def meanwhile() -> bool:
        delete("s")
        put_failing(most=1)
        lab.time.shift(1)
        return True

    SCRIPT.meanwhile = meanwhile
    start(next(iter(slots_of("s").values())))
    assert len(ran()) == 1
    assert not is_paused()


def deaths(lab: Lab, name: str, most: int, count: int) -> list[Callable[[], None]]:
    """Return what workers do who have got the messages of so many jobs that will fail."""
    lab.purge()
    lab.time.move_to(lab.now().replace(second=1) + timedelta(minutes=1))
    put_failing(name, most)
    lab.time.shift(60 * count)
    return [lambda job=job: start(job) for job in list(slots_of(name).values())[:count]]  # type: ignore[misc]


def test_two_that_die_at_once_pause_it_once(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = told(monkeypatch)
    failing(True)

    def story(name: str, meets: Meets) -> None:
        one, other = deaths(lab, name, 2, 2)
        meets(one, other)
        assert is_paused(name), "whoever was second has seen both"
        assert [told_of for event, told_of, *_ in notes if event is Event.SCHEDULE_PAUSED].count(name) == 1

    assert play_all(story) >= 8


def test_a_pause_by_a_person_is_never_replaced(lab: Lab) -> None:
    """It had an end; the one in its place has none."""
    failing(True)

    def story(name: str, meets: Meets) -> None:
        [one] = deaths(lab, name, 1, 1)
        until = lab.now() + timedelta(hours=1)
        meets(one, lambda: hold(name, until=until))
        found = row(name).paused
        assert found is not None
        assert (found.by, found.until) == ("tester", until)

    assert play_all(story) >= 8


def test_who_waits_for_the_last_that_dies_does_not_slip_through(lab: Lab) -> None:
    """It was sent before its schedule was paused, and ran."""
    put_failing(most=1, overlap="wait", cron="*/5 * * * *")
    lab.time.shift(600)
    lab.purge()
    first, second = list(slots_of("s").values())[:2]

    def meanwhile() -> bool:
        start(second)
        lab.calls.clear()
        return True

    SCRIPT.meanwhile = meanwhile
    start(first)
    made = [call.operation for call in lab.calls]
    assert made.index("TransactWriteItems") < made.index("SendMessageBatch"), "paused, then sent"
    lab.settle()
    assert ran() == [first.id]
    assert slots_of("s")[second.id.partition("@")[2]].reason == "its schedule is paused"
