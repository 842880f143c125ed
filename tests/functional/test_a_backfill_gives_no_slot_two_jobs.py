"""A backfill fills what has no job, and only that, whoever plans, edits, pauses, deletes or fills at the same time."""

from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.support.handlers import RAN, ran
from tests.support.interleavings import Meets, play_all
from tests.support.lab import Lab
from tests.support.ledgers import assert_nothing_is_missing, told
from tests.support.schedules import delete, hold, look, put, resume, row, slots_of
from tests.support.worlds import Skewed, skewed, with_clock

from onthedot import wiring
from onthedot.rules.jobs import State
from onthedot.steps.backfill import Window, backfill
from onthedot.steps.bulk import Bulk
from onthedot.steps.ports import World

MINUTE = timedelta(minutes=1)
SECOND = timedelta(seconds=1)
GAP = 6


def gap(lab: Lab, name: str) -> Window:
    """Have a schedule of which some slots have no job, the last one has passed, and more have come near."""
    put(name)
    hold(name)
    lab.time.shift(GAP * MINUTE)
    resume(name)
    lab.time.shift(5 * MINUTE)
    return Window(lab.now() - (GAP + 5) * MINUTE, lab.now(), SECOND)


def fill(name: str, window: Window, world: World | None = None) -> Any:
    """Fill a window, and return how many slots got a job."""
    found = backfill(world or with_clock(Skewed()), name, window)
    return found.count if isinstance(found, Bulk) else found


def before(name: str, window: Window) -> list[str]:
    """Return the slots that a window means: also those from before the schedule was made."""
    return [slot for slot in slots_of(name) if slot < window.end.strftime("%Y-%m-%dT%H:%M:%S")]


OTHERS: dict[str, Callable[[str], Any]] = {
    "a planner": lambda name: look(row(name)),
    "a planner whose clock is ahead": lambda name: look(row(name), skewed(40)),
    "an edit": lambda name: put(name, '"new"', world=with_clock(Skewed())),
    "an edit of the timetable": lambda name: put(name, cron="*/2 * * * *", world=with_clock(Skewed())),
    "a resume": lambda name: resume(name, with_clock(Skewed())),
}


@pytest.mark.parametrize("other", OTHERS)
def test_a_backfill_at_every_call_of_which_another_comes(lab: Lab, other: str) -> None:
    def story(name: str, meets: Meets) -> None:
        window = gap(lab, name)
        meets(lambda: fill(name, window), lambda: OTHERS[other](name))
        look(row(name))
        assert_nothing_is_missing(lab, name)
        assert all(job.state is State.SCHEDULED for job in slots_of(name).values())
        step = 2 if other == "an edit of the timetable" else 1
        assert len(before(name, window)) >= (GAP + 5) // step

    assert play_all(story) >= 5


def test_a_backfill_at_every_call_of_which_another_backfill_comes(lab: Lab) -> None:
    def story(name: str, meets: Meets) -> None:
        window, counts = gap(lab, name), list[int]()
        there = dict(slots_of(name))
        meets(lambda: counts.append(fill(name, window)), lambda: counts.append(fill(name, window, skewed(1))))
        assert sum(counts) == len(before(name, window)) - len([slot for slot in there if slot in before(name, window)])
        made = {slot: job for slot, job in slots_of(name).items() if slot not in there}
        assert len({job.owner for job in made.values()}) == 1, "one of them has made all"

    assert play_all(story) >= 5


@pytest.mark.parametrize("end", [delete, hold])
def test_a_backfill_that_a_deletion_or_a_pause_overtakes_runs_nothing(lab: Lab, end: Callable[..., Any]) -> None:
    def story(name: str, meets: Meets) -> None:
        window = gap(lab, name)
        meets(lambda: fill(name, window), lambda: end(name, with_clock(Skewed())) if end is delete else end(name))
        lab.advance(minutes=2)
        assert not [each for each in ran() if each.startswith(f"{name}@")]

    assert play_all(story) >= 5


def test_what_was_filled_runs_oldest_first_at_its_rate(lab: Lab) -> None:
    put("s")
    hold("s")
    lab.time.shift(GAP * MINUTE)
    resume("s")
    began = lab.now()
    assert fill("s", Window(began - GAP * MINUTE, began, 10 * SECOND)) == GAP
    lab.advance(seconds=51)
    filled = [(call.id, call.at) for call in RAN if call.id <= f"s@2027-01-04T08:0{GAP}:00Z"]
    assert [each for each, _ in filled] == [f"s@2027-01-04T08:0{n}:00Z" for n in range(1, GAP + 1)]
    assert all(timedelta(0) <= at - (began + n * 10 * SECOND) <= 2 * SECOND for n, (_, at) in enumerate(filled))
    assert told(lab, "s")[:GAP] == [f"08:0{n} succeeded" for n in range(1, GAP + 1)]


def test_part_of_a_skipped_range_that_was_filled_splits_its_row(lab: Lab) -> None:
    put("s")
    hold("s")
    lab.time.shift(10 * MINUTE)
    resume("s")
    assert fill("s", Window(lab.now() - 7 * MINUTE, lab.now() - 5 * MINUTE, None)) == 2
    lab.advance(seconds=10)
    assert told(lab, "s") == [
        "08:01 to 08:03 (3) skipped: its schedule was paused",
        *("08:04 succeeded", "08:05 succeeded"),
        "08:06 to 08:10 (5) skipped: its schedule was paused",
    ]


def test_a_slot_that_ran_before_a_deletion_is_not_filled_again(lab: Lab) -> None:
    """Its job is of a former life: what it did is done."""
    put("s")
    lab.advance(minutes=3)
    delete("s")
    put("s")
    lab.advance(minutes=2)
    assert fill("s", Window(lab.now() - 5 * MINUTE, lab.now(), SECOND)) == 0
    lab.advance(minutes=1)
    assert max(Counter(ran()).values()) == 1


def test_a_backfill_after_an_edit_is_of_the_present_timetable(lab: Lab) -> None:
    put("s")
    hold("s")
    lab.time.shift(10 * MINUTE)
    put("s", cron="*/4 * * * *")
    resume("s")
    assert fill("s", Window(datetime(2027, 1, 4, 8, tzinfo=lab.now().tzinfo), lab.now(), SECOND)) == 3
    assert list(slots_of("s"))[:3] == [f"2027-01-04T08:0{n}:00Z" for n in (0, 4, 8)]
    assert told(lab, "s")[0] == "08:00 scheduled", "not expected by any version, but it has a job"


def test_a_large_payload_of_a_schedule_serves_what_is_filled(lab: Lab) -> None:
    put("s", f'"{"x" * 5_000}"')
    hold("s")
    lab.time.shift(2 * MINUTE)
    resume("s")
    assert fill("s", Window(lab.now() - MINUTE, lab.now(), SECOND)) == 1
    put("s", '"small"')
    lab.advance(seconds=5)
    assert [call.payload for call in RAN] == ["x" * 5_000]
    assert wiring.world().jobs.get("schedule#s", "2027-01-04T08:02:00.000Z")
