"""A pause is a wish, no fault: what passes in it is not missed, unless its owner says so; it ends when it should."""

from datetime import datetime

import pytest
from tests.support.handlers import ran
from tests.support.interleavings import at_call
from tests.support.lab import Lab
from tests.support.schedules import history, hold, look, put, ran_slots, resume, row, skipped, slots_of

from onthedot.rules.instants import from_text
from onthedot.rules.schedules import OnResume, ScheduleState


def at(text: str) -> datetime:
    return from_text(f"2027-01-04T{text}.000Z" if "." not in text else f"2027-01-04T{text}Z")


TEN = "*/10 * * * *"


@pytest.mark.parametrize("missed", ["catch_up", "latest", "skip"])
def test_a_pause_of_three_hours(lab: Lab, missed: str) -> None:
    """R05: some ran eighteen jobs in a burst when a pause ended, some the last one, though it was meant to be over."""
    put("s", cron=TEN, missed=missed)
    lab.advance(hours=1, minutes=58)
    lab.time.move_to(at("10:00:00.010"))
    read = row("s")

    def somebody_pauses() -> None:
        lab.time.move_to(at("10:00:00.040"))
        hold("s")
        lab.time.move_to(at("10:00:00.070"))

    with at_call(0, somebody_pauses):
        look(read)
    lab.settle()
    assert slots_of("s")["2027-01-04T10:00:00Z"].reason == "its schedule is paused"
    lab.advance(minutes=5)
    lab.time.move_to(at("13:05:00"))
    after = resume("s")
    assert after.next_at == row("s").next_at
    assert skipped(lab, "s") == [], "a pause has missed nothing"
    lab.advance(minutes=6)
    assert [slot for slot in ran_slots("s") if slot >= "2027-01-04T10"] == ["2027-01-04T13:10:00Z"]
    [pause] = history(lab, "s", "pause")
    assert (pause["since"], pause["until"]) == ("2027-01-04T10:00:00.040Z", "2027-01-04T13:05:00.000Z")


@pytest.mark.parametrize(
    ("missed", "runs", "left_out"),
    [
        ("catch_up", [f"2027-01-04T{hour}:{ten}0:00Z" for hour in (10, 11, 12) for ten in range(6)][1:], 0),
        ("latest", [], 17),
        ("skip", [], 18),
    ],
)
def test_a_pause_whose_slots_are_missed(lab: Lab, missed: str, runs: list[str], left_out: int) -> None:
    """R05: 10:10 to 13:00 are eighteen slots, and if their owner wants them, the policy decides."""
    lab.time.move_to(at("10:00:30"))
    put("s", cron=TEN, missed=missed)
    hold("s", on_resume=OnResume.MISSED)
    assert slots_of("s") == {}, "taken back: they come after the pause, or not"
    lab.time.move_to(at("13:05:00"))
    resume("s")
    last = [] if missed == "skip" else ["2027-01-04T13:00:00Z"]
    assert list(slots_of("s")) == [*runs, *last, "2027-01-04T13:10:00Z"]
    assert sum(count for *_, count, _ in skipped(lab, "s")) == left_out


def test_a_pause_with_an_end_is_over_at_that_time(lab: Lab) -> None:
    """It ended at the tick after, and the slot right behind it was gone."""
    put("s")
    hold("s", until=at("08:10:30"))
    lab.advance(minutes=13)
    assert ran_slots("s") == ["2027-01-04T08:11:00Z", "2027-01-04T08:12:00Z", "2027-01-04T08:13:00Z"]
    assert row("s").state is ScheduleState.ACTIVE
    [pause] = history(lab, "s", "pause")
    assert pause["until"] == "2027-01-04T08:10:29.999Z"


def test_a_pause_that_ended_while_nobody_looked(lab: Lab) -> None:
    """What passed after its end was missed, what passed before was not, whenever the dispatcher comes back."""
    put("s", missed="latest")
    hold("s", until=at("08:20:30"))
    lab.time.move_to(at("08:40:30"))
    look(row("s"))
    assert skipped(lab, "s") == [("2027-01-04T08:21:00Z", "2027-01-04T08:39:00Z", 19, "not the latest")]
    assert next(iter(slots_of("s"))) == "2027-01-04T08:40:00Z"


def test_a_second_pause_replaces_the_first_but_for_its_start(lab: Lab) -> None:
    """It began anew, and the slots of the time before were missed all of a sudden."""
    put("s")
    hold("s", until=at("08:10:00"))
    lab.time.move_to(at("08:05:00"))
    hold("s", on_resume=OnResume.MISSED)
    lab.advance(minutes=30)
    assert ran() == []
    paused = row("s").paused
    assert paused is not None
    assert (paused.since, paused.until) == (at("08:00:30"), None)


def test_a_schedule_whose_last_slot_passed_in_a_pause_has_ended_after_it(lab: Lab) -> None:
    """Active for ever, with nothing to do."""
    put("s", cron="* * * * *", ends_at="2027-01-04T08:05:00Z")
    hold("s")
    lab.time.move_to(at("08:30:00"))
    assert resume("s").state is ScheduleState.ENDED
    assert row("s").next_at is None
