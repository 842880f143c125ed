"""cronsim and python-dateutil are asked what they think of expressions made up by chance; where they differ, why.

cronsim refuses, and we read:
  nearest    `15W`
  to Sunday  a range that ends with SUN, as MON-SUN: it takes SUN for 0 everywhere
  named      `FRIL`: it takes digits before an L only
We read otherwise:
  one        `5-5/2` is 5, a range of one; it takes it for `5/2`, which is 5 up to the end of the field
  met        local times that meet at the end of a gap are one slot; it gives each
  unread     a wildcard's slots are all instants whose reading matches; it steps by hours and dates of the local clock,
             so where midnight is missing or repeated, or half an hour is, it passes over some or gives unreal ones
dateutil reads otherwise:
  mixed      BYDAY=MO,1FR is every Monday and the first Friday; it takes only Mondays that are a first Friday
  cut        BYSETPOS counts in whole weeks; it counts the first week from the start on
Nothing else is allowed.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim, CronSimError
from dateutil.rrule import rrulestr
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from tests.support.every_zone import changes
from tests.support.expressions import crons, rrules
from tests.support.proving import OFTEN

from onthedot.rules.calendar import DAY, date_of, day_of
from onthedot.rules.cron import Cron, read_cron
from onthedot.rules.inputs import Refused
from onthedot.rules.rrule import read_rrule
from onthedot.rules.slots import Timetable, slots
from onthedot.rules.zones import find

UNSHRUNK = [Phase.explicit, Phase.reuse, Phase.generate]  # dateutil takes minutes to shrink
CHECKS: dict[str, Any] = {
    "deadline": None,
    "suppress_health_check": list(HealthCheck),
    "print_blob": True,
    "phases": UNSHRUNK,
}
ONLY_OURS = re.compile(r"[0-9]W|-SUN|[A-Z]L( |,|$)")
CUT = re.compile(r"WEEKLY.*BYSETPOS")
MIXED = re.compile(r"BYDAY=(?=([^;]*,)?[A-Z])(?=[^;]*[0-9])")
RANGE_OF_ONE = re.compile(r"\b(\d+)-\1/")
ZONES = ["Europe/Berlin", "America/New_York", "Antarctica/Troll", "Africa/Casablanca"]
AWKWARD = ["Australia/Lord_Howe", "America/Santiago", "America/Havana", "Africa/Cairo", "Asia/Beirut", "America/Nuuk"]
UNTIL = timedelta(days=365 * 4)


def zone_named(name: str) -> ZoneInfo:
    zone = find(name)
    assert zone
    return zone


@settings(max_examples=150 * OFTEN, **CHECKS)
@given(crons(), st.datetimes(datetime(2000, 1, 1), datetime(2040, 1, 1)))  # noqa: DTZ001
def test_cronsim_reads_the_same(text: str, start: datetime) -> None:
    assume(not RANGE_OF_ONE.search(text))
    start = start.replace(tzinfo=UTC, microsecond=0)
    try:
        cron = read_cron(text)
    except Refused:
        with pytest.raises((CronSimError, StopIteration)):
            next(CronSim(text, start))
        return
    try:
        theirs = list(islice(CronSim(text, start), 20))
    except CronSimError:
        assert ONLY_OURS.search(cron.text), f"cronsim refuses {text}"
        return
    ours = islice(slots(Timetable(cron, zone_named("UTC")), start, datetime.max.replace(tzinfo=UTC)), 20)
    assert [slot.instant for slot in ours] == theirs


@settings(max_examples=150 * OFTEN, **CHECKS)
@given(crons(), st.sampled_from(ZONES + AWKWARD), st.integers(0, 19), st.integers(0, 59))
def test_cronsim_changes_its_clocks_the_same(text: str, name: str, number: int, hours: int) -> None:
    assume(not RANGE_OF_ONE.search(text) and not ONLY_OURS.search(text))
    zone = zone_named(name)
    starts = list(changes(zone))
    start = starts[number % len(starts)] - timedelta(hours=hours)
    try:
        timetable = Timetable(read_cron(text), zone)
    except Refused:
        return
    assume(not (_wild(timetable) and name in AWKWARD))
    end = start + timedelta(days=4)
    theirs = takewhile(lambda at: at <= end, (at.astimezone(UTC) for at in _asked(text, start.astimezone(zone))))
    assert [slot.instant for slot in slots(timetable, start, end)] == sorted(set(theirs))


def _wild(timetable: Timetable) -> bool:
    return isinstance(timetable.expression, Cron) and timetable.expression.wildcard


def _asked(text: str, start: datetime) -> Iterator[datetime]:
    """Return cronsim's times after an instant; from a repeated hour it counts on the first of both clocks."""
    return (at for at in CronSim(text, start) if at.astimezone(UTC) > start.astimezone(UTC))


@settings(max_examples=150 * OFTEN, **CHECKS)
@given(rrules(), st.datetimes(datetime(2000, 1, 1), datetime(2030, 1, 1)))  # noqa: DTZ001
def test_dateutil_recurs_the_same(text: str, start: datetime) -> None:
    assume(not MIXED.search(text) and not CUT.search(text))
    start = start.replace(microsecond=0)
    ours = list(takewhile(lambda at: at < start + UNTIL, islice(_ours(text, start), 200)))
    if ours or OFTEN > 1:  # where there is nothing, dateutil looks for it up to the year 9999
        assert ours == list(takewhile(lambda at: at < start + UNTIL, islice(_recurring(text, start), 200)))


def _ours(text: str, start: datetime) -> Iterator[datetime]:
    try:
        rule = read_rrule(text, start, zone_named("UTC"))
    except Refused:
        return
    for at in rule.readings(day_of(start) * DAY):
        yield datetime.combine(date_of(at // DAY), datetime.min.time()) + timedelta(seconds=at % DAY)


def _recurring(text: str, start: datetime) -> Iterator[datetime]:
    """Return dateutil's dates, ended by years or else it would search to the year 9999."""
    count = re.search(r";COUNT=(\d+)", text)
    until = f";UNTIL={start + UNTIL:%Y%m%dT%H%M%S}"
    dates = iter(rrulestr(re.sub(r";COUNT=\d+", "", text) + until, dtstart=start))
    return islice(dates, int(count[1]) if count else None)
