"""Two who change a schedule at once, at every call of each other: no slot is lost, and none is of a former version."""

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from tests.support.interleavings import Meets, play_all
from tests.support.lab import Lab
from tests.support.schedules import delete, hold, minutes, put, resume, row, slots_of

from onthedot.rules.schedules import ScheduleState

NUMBERS = count()


def edit(name: str) -> Any:
    """Give a schedule a payload that it never had."""
    return put(name, str(next(NUMBERS)), cron="*/3 * * * *")


def recreate(name: str) -> Any:
    delete(name)
    return edit(name)


def assert_whole(lab: Lab, name: str) -> None:
    """Look whether every slot that is planned has a job of the schedule as it is now."""
    schedule, there = row(name), slots_of(name)
    slots = {slot for slot in minutes(lab.now().replace(second=0), 11)[1:] if int(slot[14:16]) % 3 == 0}
    assert slots <= set(there)
    made_by = {(job.generation, job.version, job.payload.text) for slot, job in there.items() if slot in slots}
    assert made_by == {(schedule.generation, schedule.version, schedule.payload.text)}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        *((hold, resume), (hold, edit), (hold, recreate)),
        *((resume, hold), (resume, resume), (resume, edit)),
        *((edit, hold), (edit, edit), (edit, recreate)),
        (recreate, edit),
    ],
)
def test_at_every_call_of_each_other(lab: Lab, first: Callable[[str], Any], second: Callable[[str], Any]) -> None:
    """A pause still took back what was planned when a resume found it there, and deleted the resumed schedule's jobs.

    An edit that stood still took back the jobs of any other version, also of a later one or of another schedule.
    """

    def story(name: str, meets: Meets) -> None:
        edit(name)
        if first is resume or second is resume:
            hold(name)
        meets(lambda: first(name), lambda: second(name))
        if row(name).paused:
            assert slots_of(name) == {}
            resume(name)
        assert row(name).state is ScheduleState.ACTIVE
        assert_whole(lab, name)

    assert play_all(story) >= 4
