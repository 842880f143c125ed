"""What is promised of slots, in every zone of the database, from 2020 to 2040.

By default around every third or fifth change of every clock, so that those into and out of summer come in turn, and for
dates in two years; `make prove-slots` goes through all changes and years under more rules, which takes a quarter of an
hour. Each test prints how much it saw, so that nobody takes an empty loop for a proof.
"""

import os
from collections.abc import Iterator
from datetime import datetime, time, timedelta
from importlib.resources import files
from itertools import cycle, islice, pairwise, product
from zoneinfo import ZoneInfo
from zoneinfo._zoneinfo import ZoneInfo as PlainZone  # type: ignore[import-not-found]

import pytest
from tests.support.every_zone import FIRST_YEAR, LAST_YEAR, by_minutes, changes, every_zone, utc

from onthedot.rules.cron import read_cron
from onthedot.rules.slots import EPOCH, SECOND, Slot, Timetable, slots
from onthedot.rules.stretches import changes_between
from onthedot.rules.zones import OnGap, OnRepeat, SlotsOnGap, SlotsOnRepeat, instant_of

ALL = os.environ.get("PROVE") == "all"
RULES = list(product(SlotsOnGap, SlotsOnRepeat))
EXPRESSIONS = ["30 2 * * *", "*/30 * * * *", "15 */2 * * *", "0,20 0-3,22,23 * * 6,0", "59 23 L * *", "0 0,1 1-7 * MON"]
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
YEARS = (utc(FIRST_YEAR), utc(LAST_YEAR + 1))
SOME_YEARS = (utc(2026), utc(2028))


class Seen:
    """Counts what was tried."""

    zones = slots = windows = 0

    def __str__(self) -> str:
        return f"{self.zones} zones, {self.windows} windows, {self.slots} slots"


@pytest.fixture
def seen(capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest) -> Iterator[Seen]:
    counts = Seen()
    yield counts
    with capsys.disabled():
        print(f"\n  {request.node.name}: {counts}")
    assert counts.zones > 300
    assert counts.slots > 10_000


def _windows(zone: ZoneInfo) -> list[tuple[datetime, datetime]]:
    """Return a few days around every change, and some others."""
    around = [(change - 2 * DAY, change + 2 * DAY) for change in changes(zone)]
    return [*around, (utc(2031), utc(2031) + 8 * DAY)]


def _all_of(timetable: Timetable, start: datetime, end: datetime, seen: Seen) -> list[Slot]:
    found = list(slots(timetable, start, end))
    seen.slots, seen.windows = seen.slots + len(found), seen.windows + 1
    return found


def test_slots_are_in_order_and_do_not_depend_on_where_one_begins(seen: Seen) -> None:
    """Croniter answers otherwise when it is asked from another instant, so its callers see slots twice or never."""
    tried = cycle(product(RULES, EXPRESSIONS))
    for zone in every_zone():
        seen.zones += 1
        for start, end in _windows(zone)[:: 1 if ALL else 3]:
            for rules, text in islice(tried, 18 if ALL else 1):
                _cut_anywhere(Timetable(read_cron(text), zone, *rules), start, end, seen)
        for rules, text in islice(tried, len(EXPRESSIONS) if ALL else 0):
            if "*/" not in text:
                _cut_anywhere(Timetable(read_cron(text), zone, *rules), *YEARS, seen)


def _cut_anywhere(timetable: Timetable, start: datetime, end: datetime, seen: Seen) -> None:
    whole = _all_of(timetable, start, end, seen)
    assert all(one.instant < other.instant for one, other in pairwise(whole))
    assert all(start < slot.instant <= end for slot in whole)
    middle = start + (end - start) / 2
    cuts = [middle - HOUR, middle - SECOND, middle, *(slot.instant for slot in whole[:2])]
    for cut in cuts:
        first, second = list(slots(timetable, start, cut)), list(slots(timetable, cut, end))
        assert first + second == whole
        assert second == [slot for slot in whole if slot.instant > cut]


def test_a_daily_time_has_one_slot_for_each_date(seen: Seen) -> None:
    years = YEARS if ALL else SOME_YEARS
    hours = cycle([0, 1, 2, 3, 22, 23])
    for zone in every_zone():
        seen.zones += 1
        for each in islice(hours, 6 if ALL else 1):
            found = _all_of(Timetable(read_cron(f"30 {each} * * *"), zone), *years, seen)
            assert found[0].instant - years[0] <= DAY
            assert years[1] - found[-1].instant <= DAY
            _one_for_each_date(found, zone, time(each, 30))


def _one_for_each_date(found: list[Slot], zone: ZoneInfo, at: time) -> None:
    """No zone skips a date in these years; a slot that a gap moved may be on the next one."""
    first = datetime.combine(found[0].local.date(), at)
    for number, slot in enumerate(found):
        nominal = first + number * DAY
        if slot.note or slot.local != nominal:
            assert slot.instant == instant_of(nominal, zone, OnGap.AFTER, OnRepeat.FIRST)


def test_slots_are_what_a_person_with_a_local_clock_would_say(seen: Seen) -> None:
    times = [time(hour, minute) for hour in (0, 1, 2, 3, 22, 23) for minute in (0, 30, 45)]
    tried = cycle(RULES)
    for zone in every_zone():
        seen.zones += 1
        around = list(changes(zone)) or [utc(2030)]
        for change in around[:: 1 if ALL else 5]:
            for rules in islice(tried, 4 if ALL else 1):
                start, end = change - 5 * HOUR, change + 5 * HOUR
                timetable = Timetable(read_cron("0,30,45 0-3,22,23 * * *"), zone, *rules)
                found = [slot.instant for slot in _all_of(timetable, start - SECOND, end - SECOND, seen)]
                assert found == by_minutes(zone, times, rules, start, end), (zone, rules, change)


def test_every_change_of_the_database_is_found() -> None:
    """The clocks are asked once a day; this reads the database's own list of changes."""
    for zone in every_zone():
        with files("tzdata").joinpath("zoneinfo", *zone.key.split("/")).open("rb") as file:
            plain = PlainZone.from_file(file)
        listed = [at for at in plain._trans_utc if YEARS[0] < EPOCH + at * SECOND <= YEARS[1]]
        real = [at for at in listed if _offset(zone, at) != _offset(zone, at - 1)]
        found = [change.at for change in changes_between(zone, FIRST_YEAR, LAST_YEAR)]
        assert found[: len(real)] == real, zone


def _offset(zone: ZoneInfo, at: int) -> timedelta | None:
    return (EPOCH + at * SECOND).astimezone(zone).utcoffset()
