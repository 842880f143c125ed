"""A change while planning lags settles what is due first: each slot until then has a job, or a reason to have none."""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.support.handlers import SCRIPT, ran
from tests.support.interleavings import Meets, play_all
from tests.support.jobs import message
from tests.support.lab import Lab
from tests.support.schedules import delete, hold, look, minutes, put, row, skipped, slots_of
from tests.support.worlds import Died, Holds, Runner, Skewed, die, skewed, with_clock

from onthedot import wiring
from onthedot.rules.errors import Unavailable
from onthedot.rules.instants import from_text, shown
from onthedot.rules.jobs import State
from onthedot.steps.manage import cancel
from onthedot.steps.work import work

MINUTE = timedelta(minutes=1)


def edit(name: str, **fields: Any) -> Any:
    return put(name, '"new"', **fields)


def retime(name: str, **fields: Any) -> Any:
    return put(name, cron="0 3 * * *", **fields)


def accounted(lab: Lab, name: str) -> dict[str, int]:
    """Return how often each slot is told of: by a job, or in a range of skipped ones."""
    found = dict.fromkeys(slots_of(name), 1)
    for first, _, count, _ in skipped(lab, name):
        for slot in minutes(from_text(first.replace("Z", ".000Z")), count):
            found[slot] = found.get(slot, 0) + 1
    return found


def assert_settled(lab: Lab, name: str, born_at: datetime) -> None:
    """Look whether each slot until now is told of, once."""
    first = born_at.replace(second=0, microsecond=0) + MINUTE
    expected = minutes(first, (lab.now() - first) // MINUTE + 1)
    found = accounted(lab, name)
    assert {slot: found.get(slot, 0) for slot in expected} == dict.fromkeys(expected, 1)


CHANGES = [hold, edit, retime, delete]


@pytest.mark.parametrize("missed", ["catch_up", "latest", "skip"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_in_an_outage(lab: Lab, change: Callable[..., Any], missed: str) -> None:
    """A8: people edit in incidents, and the slots of the twenty minutes before had no outcome."""
    born_at = put("s", missed=missed, catch_up_limit=5).created_at
    lab.time.shift(20 * MINUTE)
    change("s", **({"missed": missed, "catch_up_limit": 5} if change in (edit, retime) else {}))
    assert_settled(lab, "s", born_at)


@pytest.mark.parametrize("change", [hold, edit, delete])
def test_a_change_that_dies_at_any_call(lab: Lab, change: Callable[..., Any]) -> None:
    """A8: whatever a process has done when it ends, the next one goes on from there."""

    def story(name: str, meets: Meets) -> None:
        born_at = put(name, missed="latest").created_at
        lab.time.shift(20 * MINUTE)

        def dies() -> None:
            with suppress(Died):
                change(name)

        with suppress(Died):
            meets(dies, die)
        there = wiring.world().schedules.get(name)
        if there is not None:
            look(there)
            change(name)
        assert_settled(lab, name, born_at)

    assert play_all(story) >= 4


class Hasty(Skewed):
    """A clock by which a request is soon out of time."""

    def now(self) -> datetime:
        """Return the time, a second and a half after the last one."""
        self.ahead += timedelta(milliseconds=1_500)
        return super().now()


@pytest.mark.parametrize("change", [edit, delete])
def test_a_change_without_time_for_all_changes_nothing(lab: Lab, change: Callable[..., Any]) -> None:
    """A8: hours of missed minutes may take longer than a request; what is planned stays so, and the next goes on."""
    before = put("s", catch_up_limit=10_000)
    lab.time.shift(timedelta(hours=5))
    with pytest.raises(Unavailable):
        change("s", world=with_clock(Hasty()))
    now = row("s")
    assert (now.version, now.state, now.fields, now.payload) == (1, before.state, before.fields, before.payload)
    assert 10 < len(slots_of("s")) < 300
    with suppress(Unavailable):
        change("s", world=with_clock(Hasty()))
    with suppress(Unavailable):
        change("s", world=with_clock(Hasty()))
    change("s")
    assert_settled(lab, "s", before.created_at)


def test_slots_that_have_an_outcome_are_left_out_and_the_schedule_goes_on(lab: Lab) -> None:
    """A6: the transaction of an edited schedule met a job that was there, each minute anew, and it never ran again."""
    put("s")
    [first, second, *_] = slots_of("s").values()
    assert cancel(wiring.world(), *second.key)
    lab.advance(seconds=40)
    edit("s")
    states = {slot: (job.version, job.state) for slot, job in slots_of("s").items()}
    assert list(states.values())[:3] == [(1, State.SUCCEEDED), (1, State.CANCELLED), (2, State.SCHEDULED)]
    assert len(states) == 11
    lab.advance(minutes=3)
    assert [job.rpartition(":")[0][-2:] for job in ran()] == ["01", "03", "04"]
    assert first.version == 1


@pytest.mark.usefixtures("lab")
def test_an_edit_overwrites_what_was_planned() -> None:
    """A7: the planner met the old version's job, took it for the slot's own, and nothing ran there."""
    put("s", '"old"', cron="*/5 * * * *")
    edit("s", cron="*/5 * * * *")
    assert [(job.version, job.payload.text) for job in slots_of("s").values()] == [(2, '"new"')] * 2


def test_a_running_job_of_an_older_version_keeps_its_slot_until_it_ends(lab: Lab) -> None:
    """A7: planned over, it ran a second time beside itself. Its worker's clock is ahead of the editor's."""
    put("s", '"old"', handler="test.meanwhile")
    [first, *_] = slots_of("s").values()
    lab.time.shift(25)
    seen: list[Any] = []

    def meanwhile() -> None:
        edit("s", handler="test.meanwhile")
        seen.extend([look(row("s")), look(row("s")), dict(slots_of("s")), row("s").next_at])

    SCRIPT.meanwhile = meanwhile
    assert work(skewed(10), message(first), Runner(), Holds()).acknowledged
    slot = from_text(first.slot)
    assert seen[:2] == [[], []]
    assert {job.state for job in seen[2].values()} == {State.RUNNING}, "nothing is planned beyond it"
    assert seen[3] == slot
    SCRIPT.meanwhile = lambda: None
    look(row("s"))
    jobs = slots_of("s")
    assert [job.version for job in jobs.values()] == [1] + [2] * 9
    assert jobs[shown(slot)].state is State.SUCCEEDED
    lab.advance(minutes=3)
    assert len(ran()) == len(set(ran())) == 3


NEVER_SOON: dict[str, Any] = {"cron": "0 4 * * *"}


@pytest.mark.parametrize("change", [retime, delete, hold])
def test_a_change_by_a_slow_clock_after_one_by_a_fast_one(lab: Lab, change: Callable[..., Any]) -> None:
    """It came before the edit that it ended, took back a slot of the version before, and nobody had it any more."""
    put("s")
    lab.advance(seconds=29)
    put("s", world=skewed(2), **NEVER_SOON)
    change("s", world=skewed(-2))
    [slot] = slots_of("s")
    assert slot == shown(lab.now() + timedelta(seconds=1))


@pytest.mark.usefixtures("lab")
def test_an_edit_by_a_clock_that_is_far_ahead_holds_up_no_other() -> None:
    put("s", world=skewed(3_600))
    assert put("s", **NEVER_SOON).since < wiring.world().clock.now() + MINUTE
