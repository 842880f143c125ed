"""What `/preview` says of an outage is what the planner would do after it, for the slots that are shown."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.proving import OFTEN
from tests.support.timetables import MINUTE, cron, instant

from onthedot.rules import missed
from onthedot.rules.inputs import Refused
from onthedot.rules.missed import Missed, MissedRule, Skipped
from onthedot.rules.outage import MOST_PASSED, MOST_SLOTS, Outage, Preview, first_shown, preview, shown_between
from onthedot.rules.slots import Slot, Timetable, slots_within

SECOND = timedelta(seconds=1)
START = instant("2027-01-10")
MINUTELY, HOURLY = cron("* * * * *"), cron("0 * * * *")
LATEST, SKIP = MissedRule(missed=Missed.LATEST), MissedRule(missed=Missed.SKIP)


def _hours(first: int, last: int) -> Outage:
    """Return an outage from half past one hour until half past another."""
    return Outage(START + (60 * first + 30) * MINUTE, START + (60 * last + 30) * MINUTE)


def _runs(found: Preview) -> list[str]:
    return [f"{run.slot.instant:%H:%M} at {run.run_at:%H:%M:%S}" for run in found.runs]


def _skips(found: Sequence[Skipped]) -> list[str]:
    return [f"{each.first:%H:%M}-{each.last:%H:%M} {each.count} {each.reason}" for each in found]


def test_x03_a_night_of_minutes_is_previewed() -> None:
    back = instant("2027-01-10T12:00:30")
    window = shown_between(MINUTELY, START + MINUTE, START + 722 * MINUTE)
    found = preview(MINUTELY, MissedRule(), window, Outage(START, back))
    assert _skips(found.skipped) == ["00:01-10:20 620 over the catch-up limit"]
    assert [run.run_at for run in found.runs[:-1]] == [back + number * SECOND for number in range(100)]
    assert _runs(found)[-2:] == ["12:00 at 12:02:09", "12:01 at 12:01:00"]
    assert len(found.slots) == 721


def test_without_an_outage_each_slot_runs_at_its_time() -> None:
    window = shown_between(HOURLY, START, START + 180 * MINUTE)
    assert [each.slot.instant for each in window] == [START + hour * 60 * MINUTE for hour in range(3)]
    assert preview(HOURLY, SKIP, window) == Preview(window, window, [])


@pytest.mark.parametrize(
    ("rule", "runs", "skipped"),
    [
        (MissedRule(rate=1), ["02:00 at 04:30:00", "03:00 at 04:31:00", "04:00 at 04:32:00"], []),
        (LATEST, ["04:00 at 04:30:00"], ["02:00-03:00 2 not the latest"]),
        (SKIP, [], ["02:00-04:00 3 missed"]),
    ],
)
def test_slots_before_and_after_an_outage_run_at_their_time(
    rule: MissedRule, runs: list[str], skipped: list[str]
) -> None:
    found = preview(HOURLY, rule, shown_between(HOURLY, START, START + 360 * MINUTE), _hours(1, 4))
    assert _runs(found) == ["00:00 at 00:00:00", "01:00 at 01:00:00", *runs, "05:00 at 05:00:00"]
    assert _skips(found.skipped) == skipped


def test_slots_that_are_not_shown_count_for_those_that_are() -> None:
    """Else a narrow window would promise runs that the limit takes, and a pace that others hold up."""
    window = shown_between(HOURLY, START + 180 * MINUTE, START + 360 * MINUTE)
    found = preview(HOURLY, MissedRule(limit=6, rate=1), window, _hours(1, 9))
    assert (_runs(found), _skips(found.skipped)) == (
        ["04:00 at 09:30:00", "05:00 at 09:31:00"],
        ["03:00-03:00 1 over the catch-up limit"],
    )
    found = preview(HOURLY, LATEST, window, _hours(1, 9))
    assert (_runs(found), _skips(found.skipped)) == ([], ["03:00-05:00 3 not the latest"])


def test_what_is_skipped_outside_the_window_is_not_shown() -> None:
    window = shown_between(HOURLY, START + 480 * MINUTE, START + 600 * MINUTE)
    found = preview(HOURLY, MissedRule(limit=2), window, _hours(1, 9))
    assert (_runs(found), found.skipped) == (["08:00 at 09:30:00", "09:00 at 09:30:01"], [])


def test_every_reason_is_cut_by_itself() -> None:
    rule = MissedRule(window=timedelta(hours=5), limit=2)
    window = shown_between(HOURLY, START + 240 * MINUTE, START + 480 * MINUTE)
    assert _skips(preview(HOURLY, rule, window, _hours(1, 9)).skipped) == [
        "04:00-04:00 1 outside the catch-up window",
        "05:00-07:00 3 over the catch-up limit",
    ]


def test_an_outage_takes_a_slot_after_its_start_and_up_to_its_end() -> None:
    outage = Outage(START + 60 * MINUTE, START + 120 * MINUTE)
    found = preview(HOURLY, MissedRule(rate=1), shown_between(HOURLY, START, START + 240 * MINUTE), outage)
    assert found.runs == found.slots
    outage = Outage(START + 60 * MINUTE - SECOND, START + 120 * MINUTE - SECOND)
    found = preview(HOURLY, MissedRule(rate=1), shown_between(HOURLY, START, START + 240 * MINUTE), outage)
    assert _runs(found)[1:3] == ["01:00 at 01:59:59", "02:00 at 02:00:00"]
    outage = Outage(START + 60 * MINUTE - SECOND, START + 120 * MINUTE)
    found = preview(HOURLY, MissedRule(rate=1), shown_between(HOURLY, START, START + 240 * MINUTE), outage)
    assert _runs(found)[1:3] == ["01:00 at 02:00:00", "02:00 at 02:01:00"]


def test_a_slot_whose_spread_ends_after_the_outage_was_not_missed() -> None:
    """Its job starts when it would have started anyway; so does one whose slot came before."""
    hourly = cron("0 * * * *", spread=timedelta(hours=1), name="report")
    window = shown_between(hourly, START, START + 180 * MINUTE)
    offset = window[0].run_at - window[0].slot.instant
    assert offset > MINUTE
    outage = Outage(START + MINUTE, START + 120 * MINUTE + offset - SECOND)
    found = preview(hourly, SKIP, window, outage)
    assert found.runs == [window[0], window[2]]
    assert _skips(found.skipped) == ["01:00-01:00 1 missed"]


def test_the_first_slots_are_shown_and_fewer_where_the_timetable_ends() -> None:
    assert [each.slot.instant for each in first_shown(HOURLY, START, 2)] == [START, START + 60 * MINUTE]
    ending = cron("0 * * * *", ends_at=START + 60 * MINUTE)
    assert len(first_shown(ending, START, 2)) == 1


AT = st.integers(0, 600).map(lambda minutes: START + minutes * MINUTE + 30 * SECOND)
RULE = st.builds(
    MissedRule,
    missed=st.sampled_from(list(Missed)),
    window=st.integers(1, 40_000).map(lambda seconds: seconds * SECOND),
    limit=st.integers(1, 60),
    rate=st.integers(1, 60),
)


@settings(max_examples=100 * OFTEN, deadline=None)
@given(RULE, st.sampled_from([0, 200]), st.tuples(AT, AT), st.tuples(AT, AT))
def test_a_narrow_window_shows_what_a_wide_one_does(
    rule: MissedRule, spread: int, down: tuple[datetime, datetime], ends: tuple[datetime, datetime]
) -> None:
    timetable = cron("*/7 * * * *", spread=spread * SECOND, name="report")
    outage, (start, end) = Outage(min(down), max(down)), (min(ends), max(ends))
    wide = preview(timetable, rule, shown_between(timetable, START, START + 700 * MINUTE), outage)
    narrow = preview(timetable, rule, shown_between(timetable, start, end), outage)
    assert narrow.slots == [each for each in wide.slots if start <= each.slot.instant < end]
    assert narrow.runs == [each for each in wide.runs if start <= each.slot.instant < end]
    reasons = _reasons(narrow)
    assert reasons == {at: reason for at, reason in _reasons(wide).items() if start <= at < end}
    assert len(reasons) == sum(each.count for each in narrow.skipped)
    assert sorted([*reasons, *(run.slot.instant for run in narrow.runs)]) == [
        each.slot.instant for each in narrow.slots
    ]


def _reasons(found: Preview) -> dict[datetime, str]:
    """Return why each slot that is shown is skipped."""
    return {
        each.slot.instant: part.reason
        for part in found.skipped
        for each in found.slots
        if part.first <= each.slot.instant <= part.last
    }


def _walked(monkeypatch: pytest.MonkeyPatch) -> list[Slot]:
    """Return a list that every slot that is looked for comes into."""
    seen: list[Slot] = []

    def watched(timetable: Timetable, start: datetime, end: datetime) -> Iterator[Slot]:
        for slot in slots_within(timetable, start, end):
            seen.append(slot)
            yield slot

    monkeypatch.setattr(missed, "slots_within", watched)
    return seen


def test_too_many_slots_are_refused_when_the_first_too_many_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = _walked(monkeypatch)
    assert len(shown_between(MINUTELY, START, START + MOST_SLOTS * MINUTE)) == MOST_SLOTS
    assert len(first_shown(MINUTELY, START, MOST_SLOTS)) == MOST_SLOTS
    asks: list[Callable[[], object]] = [
        partial(shown_between, MINUTELY, START, instant("2290-01-01")),
        partial(shown_between, MINUTELY, START, START + MOST_SLOTS * MINUTE + SECOND),
        partial(first_shown, MINUTELY, START, 10**9),
    ]
    for ask in asks:
        seen.clear()
        with pytest.raises(Refused, match="over 1,000 slots"):
            ask()
        assert len(seen) <= MOST_SLOTS + 2  # one more for the spread of the last


def test_too_long_an_outage_is_refused() -> None:
    window = first_shown(MINUTELY, START, 3)
    assert len(preview(MINUTELY, SKIP, window, Outage(START - SECOND, START + (MOST_PASSED - 1) * MINUTE)).skipped) == 1
    with pytest.raises(Refused, match="over 100,000 slots"):
        preview(MINUTELY, SKIP, window, Outage(START - SECOND, instant("2290-01-01")))


@pytest.mark.parametrize(("start", "end"), [("0001-01-01", "0006-01-01"), ("2298-12-01", "9999-12-31")])
def test_the_edges_of_the_calendar_are_no_error(start: str, end: str) -> None:
    yearly = cron("0 0 1 1 *", spread=SECOND, name="a")
    window = shown_between(yearly, instant(start), instant(end))
    assert window
    outage = Outage(instant("0001-01-01"), instant("9999-12-31"))
    [skipped] = preview(yearly, MissedRule(window=timedelta(days=3660)), window, outage).skipped
    assert (skipped.count, skipped.reason) == (len(window), missed.OUTSIDE)
