"""From the schedule to the ledger: every slot that should have been has its outcome, and why, whatever happened."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.support.lab import Lab
from tests.support.ledgers import assert_nothing_is_missing, line, rows, told
from tests.support.schedules import change, delete, history, hold, look, put, resume, row, slots_of
from tests.support.schedules import told as told_of

from onthedot import wiring
from onthedot.rules.events import Event
from onthedot.rules.history import VERSION
from onthedot.rules.instants import from_text
from onthedot.rules.schedules import OnResume
from onthedot.steps.ledger import ledger_page
from onthedot.steps.manage import cancel

NAME = "s"


def at(text: str) -> Any:
    return from_text(f"2027-01-04T{text}.000Z")


def until(lab: Lab, text: str) -> None:
    """Let time pass, and all happen, until then."""
    lab.advance(seconds=(at(text) - lab.now()).total_seconds())


def ran(*times: str) -> list[str]:
    return [f"{time} succeeded" for time in times]


def test_slots_that_ran(lab: Lab) -> None:
    put(NAME)
    until(lab, "08:03:30")
    assert rows(lab, NAME) == [
        {
            "slot": f"2027-01-04T08:0{minute}:00Z",
            "local_slot": f"2027-01-04T08:0{minute}:00+00:00",
            "outcome": {"kind": "succeeded"},
            "job": f"s@2027-01-04T08:0{minute}:00Z",
        }
        for minute in (1, 2, 3)
    ]


def test_what_is_on_its_way_has_a_row_with_its_job(lab: Lab) -> None:
    put(NAME)
    lab.time.move_to(at("08:02:30"))
    assert told(lab, NAME) == ["08:01 scheduled", "08:02 scheduled"], "nothing that is to come is told"


@pytest.mark.parametrize("payload", ["null", '"new"'])
def test_an_edit_of_something_else_leaves_each_slot_its_row(lab: Lab, payload: str) -> None:
    put(NAME)
    until(lab, "08:02:30")
    put(NAME, payload, missed="latest")
    until(lab, "08:04:30")
    assert told(lab, NAME) == ran("08:01", "08:02", "08:03", "08:04")


def test_an_edit_of_the_timetable_shows_each_versions_slots(lab: Lab) -> None:
    """The present rule was applied to the past, and what had run by the former one seemed never to have been wanted."""
    put(NAME)
    until(lab, "08:02:30")
    put(NAME, cron="*/5 * * * *")
    until(lab, "08:12:30")
    put(NAME, every=120, anchor="2027-01-04T08:00:00Z")
    until(lab, "08:16:30")
    assert told(lab, NAME) == ran("08:01", "08:02", "08:05", "08:10", "08:14", "08:16")


def test_a_pause_is_one_row(lab: Lab) -> None:
    put(NAME)
    until(lab, "08:02:30")
    hold(NAME)
    until(lab, "10:05:30")
    paused = [*ran("08:01", "08:02"), "08:03 to 10:05 (123) skipped: its schedule was paused"]
    assert told(lab, NAME) == paused, "while it lasts"
    resume(NAME)
    until(lab, "10:07:30")
    assert told(lab, NAME) == [*paused, *ran("10:06", "10:07")]


def test_a_pause_that_is_resumed_on_a_slot_has_it_skipped(lab: Lab) -> None:
    put(NAME)
    hold(NAME)
    lab.time.move_to(at("08:05:00"))
    resume(NAME)
    until(lab, "08:06:30")
    assert told(lab, NAME) == ["08:01 to 08:05 (5) skipped: its schedule was paused", *ran("08:06")]


def test_a_pause_with_an_end_does_not_hold_the_slot_at_its_end(lab: Lab) -> None:
    """Nobody had looked yet, and the ledger told that the slot at the end was paused, too."""
    put(NAME)
    hold(NAME, until=at("08:20:00"))
    lab.time.move_to(at("08:21:00"))
    paused = "08:01 to 08:19 (19) skipped: its schedule was paused"
    assert told(lab, NAME) == [paused, "08:20 to 08:21 (2) pending: not planned yet"]
    until(lab, "08:22:30")
    assert told(lab, NAME) == [paused, *ran("08:20", "08:21", "08:22")]


def test_a_pause_that_begins_right_on_a_slot(lab: Lab) -> None:
    put(NAME)
    until(lab, "08:01:30")
    lab.time.move_to(at("08:02:00"))
    hold(NAME)
    until(lab, "08:04:30")
    assert told(lab, NAME) == [
        *ran("08:01"),
        "08:02 skipped: its schedule is paused",
        "08:03 to 08:04 (2) skipped: its schedule was paused",
    ]


def test_a_pause_whose_slots_are_missed(lab: Lab) -> None:
    put(NAME, missed="latest")
    hold(NAME, on_resume=OnResume.MISSED)
    until(lab, "08:05:30")
    assert told(lab, NAME) == ["08:01 to 08:05 (5) pending: not planned yet"], "nobody has decided yet"
    resume(NAME)
    until(lab, "08:06:30")
    assert told(lab, NAME) == ["08:01 to 08:04 (4) skipped: not the latest", *ran("08:05", "08:06")]


@pytest.mark.parametrize(
    ("on_resume", "reason"),
    [
        (OnResume.SKIP, "its schedule was paused"),
        (OnResume.MISSED, "its timetable was edited before it could be planned"),
    ],
)
def test_an_edit_of_the_timetable_in_a_pause(lab: Lab, on_resume: OnResume, reason: str) -> None:
    """The slots of a pause were told to have been edited away, though nobody had wanted them to run."""
    put(NAME)
    hold(NAME, on_resume=on_resume)
    lab.time.move_to(at("08:04:30"))
    put(NAME, cron="*/2 * * * *")
    left = f"08:01 to 08:04 (4) skipped: {reason}"
    assert told(lab, NAME) == [left]
    lab.time.move_to(at("08:07:30"))
    resume(NAME)
    until(lab, "08:08:30")
    rest = {OnResume.SKIP: ["08:08 succeeded"], OnResume.MISSED: ran("08:06", "08:08")}[on_resume]
    told_then = told(lab, NAME)
    assert told_then[-len(rest) :] == rest
    assert told_then[0].endswith(reason)
    assert len(told_then) == len(rest) + 1


@pytest.mark.parametrize("on_resume", OnResume)
def test_an_edit_of_something_else_in_a_pause_keeps_it(lab: Lab, on_resume: OnResume) -> None:
    put(NAME)
    hold(NAME, on_resume=on_resume)
    lab.time.move_to(at("08:04:30"))
    put(NAME, '"new"')
    lab.time.move_to(at("08:05:30"))
    resume(NAME)
    until(lab, "08:06:30")
    paused = ["08:01 to 08:05 (5) skipped: its schedule was paused", *ran("08:06")]
    assert told(lab, NAME) == (paused if on_resume is OnResume.SKIP else ran(*(f"08:0{n}" for n in range(1, 7))))


@pytest.mark.parametrize(
    ("on_resume", "reason"),
    [
        (OnResume.SKIP, "its schedule was paused"),
        (OnResume.MISSED, "its schedule was deleted before it could be planned"),
    ],
)
def test_a_deletion_in_a_pause(lab: Lab, on_resume: OnResume, reason: str) -> None:
    """Of a pause whose slots were to be missed and judged, nobody told after the deletion: they were lost."""
    put(NAME)
    hold(NAME, on_resume=on_resume)
    lab.time.move_to(at("08:04:30"))
    delete(NAME)
    until(lab, "08:20:30")
    assert told(lab, NAME) == [f"08:01 to 08:04 (4) skipped: {reason}"]


OUTAGES = {
    "catch_up": ["08:11 to 09:57 (107) skipped: over the catch-up limit", *ran("09:58", "09:59", "10:00")],
    "latest": ["08:11 to 09:59 (109) skipped: not the latest", *ran("10:00")],
    "skip": ["08:11 to 09:59 (109) skipped: missed", *ran("10:00")],
}


@pytest.mark.parametrize("missed", OUTAGES)
def test_an_outage_ends_as_the_policy_says(lab: Lab, missed: str) -> None:
    put(NAME, missed=missed, catch_up_limit=3, catch_up_window=10_800)
    lab.off = {"tick"}
    until(lab, "10:00:20")
    assert told(lab, NAME)[-1] == "08:11 to 10:00 (110) pending: not planned yet"
    look(row(NAME))
    lab.off = set()
    until(lab, "10:00:40")
    assert told(lab, NAME)[10:] == OUTAGES[missed]


def test_what_is_older_than_the_window_is_skipped_for_that(lab: Lab) -> None:
    put(NAME, catch_up_window=300)
    lab.time.move_to(at("08:30:20"))
    look(row(NAME))
    until(lab, "08:30:50")
    assert "08:11 to 08:25 (15) skipped: outside the catch-up window" in told(lab, NAME)


def test_what_people_and_handlers_did_to_jobs(lab: Lab) -> None:
    put(NAME, handler="test.discard")
    cancel(wiring.world(), "schedule#s", list(slots_of(NAME).values())[1].slot)
    until(lab, "08:03:30")
    assert told(lab, NAME) == ["08:01 dead: discarded", "08:02 cancelled", "08:03 dead: discarded"]


def test_a_job_that_can_only_start_too_late_is_skipped(lab: Lab) -> None:
    put(NAME, start_within=30)
    lab.time.move_to(at("08:01:31"))
    until(lab, "08:02:10")
    assert told(lab, NAME) == ["08:01 skipped: late", *ran("08:02")]


def test_slots_that_overlap_are_skipped(lab: Lab) -> None:
    put(NAME, overlap="skip")
    [*_, later] = slots_of(NAME)
    wiring.world().schedules.mark(NAME, {"busy": slots_of(NAME)[later].slot}, {"busy": frozenset({None})})
    until(lab, "08:02:10")
    assert told(lab, NAME) == [f"08:0{n} skipped: an earlier slot still runs" for n in (1, 2)]


def test_a_deleted_schedule_is_told_of_until_the_retention(lab: Lab) -> None:
    put(NAME)
    until(lab, "08:02:30")
    delete(NAME)
    until(lab, "08:20:30")
    cancelled = [f"08:{n:02} cancelled: its schedule was deleted" for n in range(3, 13)]
    assert told(lab, NAME) == [*ran("08:01", "08:02"), *cancelled], "the planned ones have jobs, though not wanted"
    lab.time.shift(timedelta(days=31))
    assert lab.call("GET", "/schedules/s/ledger").status == 404


def test_a_schedule_that_is_created_anew_shows_the_former_life_too(lab: Lab) -> None:
    put(NAME)
    until(lab, "08:02:30")
    delete(NAME)
    lab.time.move_to(at("08:05:30"))
    put(NAME, cron="*/2 * * * *")
    until(lab, "08:08:30")
    cancelled = [f"08:0{n} cancelled: its schedule was deleted" for n in (3, 4, 5)]
    assert told(lab, NAME)[:5] == [*ran("08:01", "08:02"), *cancelled]
    assert [each for each in told(lab, NAME)[5:] if "succeeded" in each] == ran("08:06", "08:08")


@pytest.mark.parametrize("retimed", [False, True])
def test_a_schedule_that_was_broken_and_mended(lab: Lab, retimed: bool) -> None:
    put(NAME, missed="skip")
    until(lab, "08:01:30")
    change(lab, NAME, broken={"S": "an older worker could not read it"}, state={"S": "broken"})
    lab.time.move_to(at("08:20:30"))
    assert told(lab, NAME)[-1] == "08:12 to 08:20 (9) pending: not planned yet"
    put(NAME, missed="skip", cron="*/2 * * * *" if retimed else "* * * * *")
    reason = "its timetable was edited before it could be planned"
    left = [f"08:12 to 08:20 (9) skipped: {reason}"] if retimed else ["08:12 to 08:19 (8) skipped: missed"]
    assert [each for each in told(lab, NAME) if "(" in each] == left


def test_a_broken_schedule_that_was_deleted(lab: Lab) -> None:
    """Nobody plans what is broken, and after the deletion its slots were lost."""
    put(NAME)
    change(lab, NAME, broken={"S": "an older worker could not read it"}, state={"S": "broken"})
    lab.time.move_to(at("08:20:30"))
    delete(NAME)
    assert told(lab, NAME)[-1] == "08:11 to 08:20 (10) skipped: its schedule was deleted before it could be planned"


def test_an_unreadable_definition_of_the_past_hides_no_job(lab: Lab) -> None:
    put(NAME, cron="0 8 * * *", zone="Europe/London")
    put(NAME, cron="5 8 * * *", zone="Europe/London")
    until(lab, "08:06:30")
    put(NAME, cron="0 9 * * *", zone="Europe/London")
    [_, second] = history(lab, NAME, VERSION)
    assert second["fields"]["cron"] == "5 8 * * *"
    [item] = [each for each in lab.items("SchedulesTable") if '"5 8 * * *"' in each.get("facts", {}).get("S", "")]
    item["facts"]["S"] = item["facts"]["S"].replace("Europe/London", "Europe/Atlantis")
    lab.dynamodb.put_item(TableName=lab.tables["SchedulesTable"], Item=item)
    assert told(lab, NAME) == ran("08:05")


def test_a_month_of_every_kind_of_thing(lab: Lab) -> None:
    """One life with everything in it, whose windows tell the same of each slot however they are cut."""
    put(NAME, cron="*/10 * * * *", missed="latest")
    until(lab, "08:25:00")
    hold(NAME, until=at("09:00:00"))
    until(lab, "09:30:30")
    put(NAME, cron="*/15 * * * *", missed="latest")
    lab.time.move_to(at("12:00:30"))
    until(lab, "12:10:00")
    delete(NAME)
    lab.time.move_to(at("12:50:00"))
    put(NAME, cron="*/5 * * * *", start_within=20)
    until(lab, "13:02:30")
    whole = rows(lab, NAME)
    assert rows(lab, NAME, limit="1") == rows(lab, NAME, limit="3") == whole
    assert_nothing_is_missing(lab)
    half = "2027-01-04T10:20:00Z"
    parts = rows(lab, NAME, to=half) + rows(lab, NAME, **{"from": half})
    assert sum(each.get("count", 1) for each in parts) == sum(each.get("count", 1) for each in whole)
    assert line(whole[0]) == "08:10 succeeded"


def test_what_is_missing_is_told_with_its_schedule(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody deletes a job from the table by hand: the ledger says so, and the metric names the schedule."""
    notes = told_of(monkeypatch)
    lab.loses_slots = True
    put(NAME)
    [first, *_] = slots_of(NAME).values()
    key = {"schedule": {"S": first.schedule}, "slot": {"S": first.slot}}
    lab.dynamodb.delete_item(TableName=lab.tables["JobsTable"], Key=key)
    until(lab, "08:02:30")
    assert told(lab, NAME) == ["08:01 missing", *ran("08:02")]
    assert (Event.SLOTS_LOST, NAME, 1, None) in notes


def test_what_is_only_on_its_way_is_not_missing(lab: Lab) -> None:
    """A job is away for the moment in which an edit takes its place: it is looked for again before anybody is told."""
    put(NAME)
    until(lab, "08:01:30")
    world = wiring.world()
    [item] = [each for each in lab.items() if each["slot"]["S"].startswith("2027-01-04T08:01")]
    lab.dynamodb.delete_item(TableName=lab.tables["JobsTable"], Key={k: item[k] for k in ("schedule", "slot")})

    class Back(type(world.clock)):  # type: ignore[misc]
        def pause(self) -> None:
            lab.dynamodb.put_item(TableName=lab.tables["JobsTable"], Item=item)

    page = ledger_page(replace(world, clock=Back()), NAME, at("08:00:00"), lab.now(), 10)
    assert page is not None
    assert [row.kind for row in page.rows] == ["succeeded"]
