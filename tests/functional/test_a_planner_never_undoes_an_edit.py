"""What a planner has read may be old: it never undoes an edit; and of two who edit what they have seen, one is told."""

from datetime import timedelta
from typing import Any

import pytest
from tests.support.interleavings import Meets, at_call, play_all
from tests.support.lab import Lab
from tests.support.schedules import delete, hold, look, minutes, put, ran_slots, row, slots_of

from onthedot import wiring
from onthedot.rules.instants import from_text, to_text
from onthedot.rules.schedules import ScheduleState
from onthedot.steps.delete import remove
from onthedot.steps.edit import Mismatch

NIGHTLY = "0 3 * * *"
THREE = from_text("2027-01-05T03:00:00.000Z")


@pytest.mark.parametrize("planner_first", [True, False])
@pytest.mark.parametrize("fields", [{"cron": NIGHTLY}, {"cron": "* * * * *", "group": "g"}])
def test_an_edit_and_a_planner_at_every_call_of_each_other(lab: Lab, planner_first: bool, fields: Any) -> None:
    """R03: the planner saved every column of its cached row, and the new cron and the switch were gone."""

    def story(name: str, meets: Meets) -> None:
        put(name)
        lab.time.shift(290)
        read = row(name)
        if planner_first:
            meets(lambda: look(read), lambda: put(name, **fields))
        else:
            meets(lambda: put(name, **fields), lambda: look(read))
        after = row(name)
        assert (after.version, after.fields) == (2, {"handler": "test.record", **fields})
        ahead = {slot: job for slot, job in slots_of(name).items() if job.slot > to_text(after.since)}
        if fields["cron"] == NIGHTLY:
            assert after.next_at == THREE, "it belongs to the new cron"
            assert ahead == {}
        else:
            assert list(ahead) == minutes(lab.now().replace(second=0) + timedelta(minutes=1), 10)
            assert {(job.version, job.group) for job in ahead.values()} == {(2, "g")}

    assert play_all(story) >= 3


def test_the_very_timeline(lab: Lab) -> None:
    """R03: read at .000, edited and switched off at .050, claimed at .090."""
    put("s1", cron="0 * * * *")
    lab.time.move_to(from_text("2027-01-04T10:00:00.000Z"))
    read = row("s1")

    def user() -> None:
        lab.time.shift(0.05)
        put("s1", cron=NIGHTLY)
        hold("s1")

    with at_call(0, user):
        look(read)
    after = row("s1")
    assert (after.fields["cron"], after.state, after.version) == (NIGHTLY, ScheduleState.PAUSED, 2)
    lab.advance(hours=1, minutes=5)
    assert ran_slots("s1") == [], "10:00 was due, and skipped by the pause; nothing at 11:00"
    assert [job.slot for job in slots_of("s1").values() if job.slot > to_text(after.since)] == []


@pytest.mark.usefixtures("lab")
def test_of_two_who_have_seen_one_version_one_is_told() -> None:
    """R03: the later of two edits won, and the earlier was gone without a word."""

    def story(name: str, meets: Meets) -> None:
        put(name, cron=NIGHTLY)
        answers: list[Any] = []
        meets(
            lambda: answers.append(put(name, "1", cron=NIGHTLY, seen=1)),
            lambda: answers.append(put(name, "2", cron=NIGHTLY, seen=1)),
        )
        [lost] = [answer for answer in answers if isinstance(answer, Mismatch)]
        [won] = [answer for answer in answers if not isinstance(answer, Mismatch)]
        assert lost.schedule is not None
        assert (won.version, row(name).version, row(name).payload) == (2, 2, won.payload)

    assert play_all(story) >= 4
    put("s", "1")
    delete("s")
    assert put("s", "2", seen=1) == Mismatch(None), "nor is one made anew that was deleted meanwhile"


@pytest.mark.usefixtures("lab")
def test_who_has_seen_a_former_life_overwrites_no_later_one() -> None:
    """Each life began at version 1: who had seen the old schedule deleted or overwrote the new one, unseen."""
    put("s", "1")
    put("s", "2")
    delete("s")
    anew = put("s", "3")
    assert anew.version == 3
    for seen in (1, 2):
        assert put("s", "4", seen=seen) == Mismatch(anew)
        assert remove(wiring.world(), "s", seen) == Mismatch(anew)
    for version in range(4, 9):
        delete("s")
        assert put("s").version == version


def test_what_changes_nothing_is_no_edit(lab: Lab) -> None:
    """A deployment that writes its schedules again each time would begin a new version each time."""
    before = put("s", "1", group="g")
    lab.time.shift(10)
    assert put("s", "1", group="g") == before == row("s")
