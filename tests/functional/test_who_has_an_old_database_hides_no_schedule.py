"""A function that is warm with the old time zone database may write after all was retimed; no slot is late for it.

Who it is, when it writes and for how long it lives play no part: an index says by which database each row is timed.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from tests.support.databases import NEW, OLD, ZONE, new_database, old_database
from tests.support.handlers import RAN
from tests.support.lab import Lab
from tests.support.schedules import hold, put, ran_slots, resume, row

from onthedot.rules.instants import shown
from onthedot.rules.schedules import ScheduleState

CRON = "0 9 * * *"
AT_NINE = "2027-01-04T16:00:00Z"
"""When it is nine there by the new database; by the old one it is an hour later."""


def nothing(_: str) -> None:
    """Write nothing."""


def made(name: str) -> None:
    put(name, zone=ZONE, cron=CRON)


def made_and_paused(name: str) -> None:
    made(name)
    hold(name)


def made_with_another_time(name: str) -> None:
    put(name, zone=ZONE, cron="0 11 * * *")


def made_to_end_soon(name: str) -> None:
    put(name, zone=ZONE, cron=CRON, ends_at="2027-01-04T00:02:00")


def paused_for_an_hour(name: str) -> None:
    hold(name, until=datetime.now(UTC) + timedelta(hours=1))


def edited_payload(name: str) -> None:
    put(name, '{"team":7}', zone=ZONE, cron=CRON)


WRITES: dict[str, tuple[Callable[[str], object], Callable[[str], object]]] = {
    "a creation": (nothing, made),
    "an edit": (made, edited_payload),
    "an edit of the timetable": (made_with_another_time, made),
    "a pause that ends": (made, paused_for_an_hour),
    "a resume": (made_and_paused, resume),
    "an edit of one that had ended": (made_to_end_soon, made),
}


def tick_at(lab: Lab, hour: int, minute: int) -> None:
    """Look at all shards at a time, as after hours in which no look was worth it."""
    lab.time.move_to(datetime(2027, 1, 4, hour, minute, 30, tzinfo=UTC))
    lab.tick()
    lab.next_tick = lab.now().replace(second=0) + timedelta(minutes=1)


@pytest.mark.parametrize("write", WRITES)
def test_a_slot_is_on_time_though_an_old_function_wrote_its_schedule_last(lab: Lab, write: str) -> None:
    """A slot of 16:00 ran at 16:50: its shard was noted as retimed, and nobody looked before the old rules said so."""
    before, by_the_old_one = WRITES[write]
    with old_database():
        before("s")
        lab.advance(minutes=5)
    with new_database():
        tick_at(lab, 9, 30)
        tick_at(lab, 9, 31)
    with old_database():
        by_the_old_one("s")
        assert row("s").tzdata == OLD
    with new_database():
        tick_at(lab, 9, 32)
        assert row("s").tzdata == NEW
        lab.advance(hours=8)
    assert [shown(call.at.replace(microsecond=0)) for call in RAN] == [AT_NINE]
    assert ran_slots("s") == [AT_NINE]


def test_an_old_worker_runs_what_was_planned_beside_new_ones(lab: Lab) -> None:
    """Its job says when it runs and which local time it stands for; the worker's own zones are not asked."""
    with new_database():
        made("s")
        tick_at(lab, 15, 55)
        lab.time.move_to(datetime(2027, 1, 4, 16, tzinfo=UTC))
    with old_database():
        lab.settle()
    assert [(shown(call.at), call.local_slot) for call in RAN] == [(AT_NINE, "2027-01-04T09:00:00-07:00")]
    assert row("s").tzdata == NEW


def test_what_an_old_worker_plans_before_it_pauses_is_retimed(lab: Lab) -> None:
    """A death may pause its schedule, which is settled before; the slots after the resume are those of the new one."""
    with new_database():
        put("s", zone=ZONE, cron=CRON, handler="test.fail", pause_after=1)
        tick_at(lab, 15, 55)
        lab.time.move_to(datetime(2027, 1, 4, 16, tzinfo=UTC))
    with old_database():
        lab.settle()
        assert row("s").state is ScheduleState.PAUSED
    with new_database():
        tick_at(lab, 16, 2)
        assert row("s").tzdata == NEW
        put("s", zone=ZONE, cron=CRON)
        resume("s")
        lab.advance(days=1)
    assert ran_slots("s") == [AT_NINE, AT_NINE.replace("04T", "05T")]


def test_a_deployment_that_is_rolled_back_times_all_by_the_old_database_again(lab: Lab) -> None:
    """There is no older and newer: what another database has timed is looked at, wherever its version sorts."""
    with new_database():
        made("s")
        tick_at(lab, 9, 30)
    with old_database():
        tick_at(lab, 9, 31)
        assert row("s").tzdata == OLD
    with new_database():
        tick_at(lab, 9, 32)
        assert row("s").tzdata == NEW
