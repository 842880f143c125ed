"""Another time zone database reaches every schedule of a shard: whoever dies, stops or races, and each moves once.

What nobody is to move stays: one-off jobs, and schedules that have ended or cannot be read.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import pytest
from tests.support.databases import NEW, OLD, ZONE, new_database, old_database
from tests.support.handlers import RAN
from tests.support.lab import Lab
from tests.support.ledgers import assert_nothing_is_missing
from tests.support.schedules import (
    change,
    look,
    put,
    ran_slots,
    row,
    same_shard,
    skipped,
    slots_of,
    told,
)
from tests.support.worlds import Died, Interrupted, client_of, die, time_for, with_client

from onthedot import wiring
from onthedot.messages import ShardMessage
from onthedot.rules.agenda import shard_of
from onthedot.rules.events import Event
from onthedot.rules.instants import shown, to_text
from onthedot.rules.schedules import Schedule, ScheduleState
from onthedot.rules.zones import database_version
from onthedot.steps.dispatch import dispatch
from onthedot.steps.plan import plan_shard
from onthedot.steps.ports import Shard, World

A = TypeVar("A")
B = TypeVar("B")
FRIDAYS: dict[str, Any] = {"zone": ZONE, "cron": "0 9 * * FRI"}
DAILY: dict[str, Any] = {"zone": ZONE, "cron": "0 9 * * *"}
BEFORE, AFTER = "2027-01-08T17:00:00Z", "2027-01-08T16:00:00Z"
"""When it is Friday 09:00 there by the old database, and by the new one."""


def move_to(lab: Lab, text: str) -> None:
    """Begin anew at an instant, as after a time in which nobody looked."""
    lab.time.move_to(datetime.fromisoformat(text).replace(tzinfo=UTC))
    lab.next_tick = lab.now().replace(second=0) + timedelta(minutes=1)


def put_old(names: list[str], **fields: Any) -> list[str]:
    """Make schedules by the old database, and return their names."""
    with old_database():
        for name in names:
            put(name, **fields)
    return names


def timed(names: list[str]) -> Counter[tuple[str | None, str]]:
    """Return by which databases schedules are timed, and when they come next."""
    rows = [row(name) for name in names]
    return Counter((found.tzdata, shown(found.next_at) if found.next_at else "never") for found in rows)


def left_to_retime() -> int:
    """Return how many schedules another database than the one in use has timed, as the index says."""
    pages = (wiring.world().schedules.timed_otherwise(each, database_version()) for each in ("0", "1"))
    return sum(len(names) for found in pages for names in found)


def shard(lab: Lab) -> Shard:
    """Return shard 0 under a lease of its own."""
    world = wiring.world()
    found = world.shards.acquire("0", world.clock.token(), None, lab.now(), lab.now(), lab.now() + timedelta(seconds=1))
    assert found is not None
    return found


def one_by_one(do: Callable[[A], B], things: Iterable[A]) -> list[B]:
    """Do one after the other."""
    return [do(thing) for thing in things]


def interrupted(*happenings: Callable[[], Any]) -> World:
    """Return a world in which these happen before its next writes of schedules, one before each; it has one thread."""
    world = replace(wiring.world(), side_by_side=one_by_one)
    client = Interrupted(client_of(world, "schedules"), "transact_write_items", list(happenings))
    return with_client(world, "schedules", client)


def moved(notes: list[tuple[Event, str, int, str | None]]) -> Counter[str]:
    """Return how often it was told of each schedule that it moved."""
    return Counter(name for event, name, *_ in notes if event is Event.SCHEDULE_MOVED)


def nothing() -> None:
    """Let nothing happen."""


def test_a_one_off_job_given_as_a_local_time_never_moves(lab: Lab) -> None:
    """Its instant was answered when it was accepted, and is what its sender was told."""
    with old_database():
        said = {"id": "once", "handler": "test.record", "run_at": "2027-01-04T09:00:00", "zone": ZONE}
        answer = lab.call("POST", "/jobs", said)
        assert answer.status == 201, answer.body
        lab.tick()
        before = lab.job("once")
    with new_database():
        lab.tick()
        assert lab.job("once") == before
        lab.advance(hours=10)
    assert [(call.id, shown(call.at.replace(microsecond=0))) for call in RAN] == [("once", "2027-01-04T17:00:00Z")]


def test_one_tick_retimes_sixty_schedules_and_the_next_writes_none(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    names = put_old([f"s{number:02}" for number in range(60)], **FRIDAYS)
    assert {shard_of(f"schedule#{name}", 2) for name in names} == {"0", "1"}
    with old_database():
        lab.tick()
        assert timed(names) == {(OLD, BEFORE): 60}
        assert left_to_retime() == 0
    notes = told(monkeypatch)
    with new_database():
        lab.tick()
        assert timed(names) == {(NEW, AFTER): 60}
        assert left_to_retime() == 0
        stamps = [row(name).stamp for name in names]
        lab.calls.clear()
        lab.time.shift(60)
        lab.tick()
    assert [row(name).stamp for name in names] == stamps
    assert lab.called("TransactWriteItems") == []
    assert moved(notes) == dict.fromkeys(names, 1)


@pytest.mark.parametrize("write", [1, 2, 7, 20])
def test_what_a_dispatcher_that_died_has_left_is_retimed_at_the_next_tick(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, write: int
) -> None:
    names, notes = put_old(same_shard(0, 20), **FRIDAYS), told(monkeypatch)
    with new_database():
        dying = interrupted(*[nothing] * (write - 1), *[die] * len(names))
        with pytest.raises(Died):
            dispatch(dying, ShardMessage("0", lab.now()), lambda: True)
        assert timed(names) == Counter({(NEW, AFTER): write - 1, (OLD, BEFORE): 21 - write})
        assert left_to_retime() == 21 - write
        lab.time.shift(60)
        lab.tick()
        assert timed(names) == {(NEW, AFTER): 20}
        assert left_to_retime() == 0
    assert moved(notes) == dict.fromkeys(names, 1)


@pytest.mark.parametrize("looks", [4, 6, 9])
def test_one_whose_time_is_over_goes_on_tick_by_tick(lab: Lab, monkeypatch: pytest.MonkeyPatch, looks: int) -> None:
    """A shard too big for one look began anew with the same schedules each minute, and never got to the last ones."""
    names, notes, ticks = put_old(same_shard(0, 12), **FRIDAYS), told(monkeypatch), 0
    with new_database():
        left = [12]
        while timed(names)[NEW, AFTER] < 12:
            ticks += 1
            assert ticks < 20, left
            looked = dispatch(wiring.world(), ShardMessage("0", lab.now()), time_for(looks))
            assert looked is not None
            assert looked.again is None, "nothing was planned, and the next tick comes anyway"
            left.append(timed(names)[OLD, BEFORE])
            lab.time.shift(60)
        assert left == sorted(left, reverse=True)
        assert len(left) > 2, "it stopped at least once"
    assert moved(notes) == dict.fromkeys(names, 1)


@pytest.mark.parametrize("before", [0, 1, 4, 9, 12, 17])
def test_two_dispatchers_that_race_move_each_schedule_once(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, before: int
) -> None:
    """Both see it due in minutes: whoever is second finds the row changed, and plans none of its slots again."""
    names, notes = put_old(same_shard(0, 10), **DAILY), told(monkeypatch)
    move_to(lab, "2027-01-04T15:55:30")
    with new_database():

        def other() -> None:
            lab.time.shift(2)
            plan_shard(wiring.world(), shard(lab), lambda: True)

        plan_shard(interrupted(*[nothing] * before, other), shard(lab), lambda: True)
        assert moved(notes) == dict.fromkeys(names, 1)
        for name in names:
            assert list(slots_of(name)) == ["2027-01-04T16:00:00Z"]
        lab.advance(hours=3)
        for name in names:
            assert ran_slots(name) == ["2027-01-04T16:00:00Z"]
        assert timed(names) == {(NEW, "2027-01-05T16:00:00Z"): 10}


@pytest.mark.parametrize("before", [0, 1, 3, 5])
@pytest.mark.parametrize("start", ["2027-01-04T15:55:30", "2027-01-04T16:52:30"])
def test_an_old_planner_in_the_midst_of_a_new_one_gives_no_local_time_two_jobs(
    lab: Lab, start: str, before: int
) -> None:
    names = put_old(same_shard(0, 4), **DAILY)
    move_to(lab, start)
    with new_database():

        def old() -> None:
            lab.time.shift(2)
            with old_database():
                plan_shard(wiring.world(), shard(lab), lambda: True)

        plan_shard(interrupted(*[nothing] * before, old), shard(lab), lambda: True)
        lab.time.shift(60)
        lab.tick()
        assert {row(name).tzdata for name in names} == {NEW}
        assert left_to_retime() == 0
        lab.advance(hours=3)
        for name in names:
            assert len(ran_slots(name)) == 1, slots_of(name)
        assert timed(names) == {(NEW, "2027-01-05T16:00:00Z"): 4}


@pytest.mark.parametrize("times", [1, 2, 5])
def test_old_and_new_dispatchers_in_turns_end_with_the_new_one(lab: Lab, times: int) -> None:
    """A deployment goes from function to function: for a minute, each looks at what the other has written."""
    names = put_old(same_shard(0, 4), **DAILY)
    move_to(lab, "2027-01-04T15:55:30")
    for _ in range(times):
        for which in (new_database, old_database):
            with which():
                lab.time.shift(15)
                lab.tick()
    with new_database():
        lab.tick()
        assert {row(name).tzdata for name in names} == {NEW}
        lab.advance(hours=3)
        for name in names:
            assert len(ran_slots(name)) == 1, slots_of(name)
        assert timed(names) == {(NEW, "2027-01-05T16:00:00Z"): 4}


def test_one_who_read_a_schedule_before_it_moved_plans_nothing_by_the_old_database(lab: Lab) -> None:
    put_old(["s"], **DAILY)
    move_to(lab, "2027-01-04T15:55:30")
    read = row("s")
    with new_database():
        lab.tick()
    with old_database():
        lab.time.move_to(datetime(2027, 1, 4, 15, 56, tzinfo=UTC))
        look(read)
    assert (row("s").tzdata, list(slots_of("s"))) == (NEW, ["2027-01-04T16:00:00Z"])


def test_a_schedule_that_has_ended_or_is_broken_stays_as_it_is(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    put_old(["broken", "gone"], **FRIDAYS)
    with old_database():
        put("ended", zone=ZONE, rrule="FREQ=DAILY;COUNT=1", starts_at="2027-01-04T00:05:00")
        change(
            lab,
            "broken",
            fields={"S": '{"cron":"0 9 * * FRI","zone":"Mars/Olympus"}'},
            next_at={"S": to_text(lab.now())},
        )
        lab.advance(minutes=30)
    before: dict[str, Schedule] = {name: row(name) for name in ("ended", "broken")}
    assert [each.state for each in before.values()] == [ScheduleState.ENDED, ScheduleState.BROKEN]
    jobs, notes = slots_of("ended"), told(monkeypatch)
    with new_database():
        lab.tick()
        assert left_to_retime() == 0, "each look would read them again, for ever"
        for name, schedule in before.items():
            look(schedule)
            assert row(name) == schedule
        lab.advance(hours=20)
        assert {name: row(name) for name in before} == before
    assert slots_of("ended") == jobs
    assert len(ran_slots("ended")) == 1
    assert moved(notes) == {"gone": 1}


@pytest.mark.parametrize("minute", ["16:05", "16:45", "16:55"])
@pytest.mark.parametrize("missed", ["skip", "latest", "catch_up"])
def test_a_slot_that_has_passed_by_the_new_rules_has_an_outcome(lab: Lab, missed: str, minute: str) -> None:
    """It is an hour late or close to it when the database comes: it runs, or it is skipped and the ledger says so."""
    put_old(["s"], missed=missed, **DAILY)
    with old_database():
        move_to(lab, f"2027-01-04T{minute}:30")
        lab.tick()
    with new_database():
        lab.tick()
        lab.advance(hours=3)
        planned = {slot: job.state.value for slot, job in slots_of("s").items()}
        gone = [each for each in skipped(lab, "s") if each[0] == AFTER.replace("08T", "04T")]
        assert len(ran_slots("s")) + len(gone) == 1, (planned, gone)
        assert len(ran_slots("s")) == (missed != "skip")
        assert_nothing_is_missing(lab)
        assert timed(["s"]) == {(NEW, "2027-01-05T16:00:00Z"): 1}
