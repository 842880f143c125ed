"""What is nearly an expression, a time or a duration is read or refused at once, and so is all that follows from it.

Unlike text by chance, a mutant comes through most of the checks: it is right but for one place.
"""

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from tests.support.expressions import crons, rrules
from tests.support.proving import OFTEN, QUICK_SECONDS

from onthedot.rules.clock_changes import warnings
from onthedot.rules.definitions import read_stored
from onthedot.rules.errors import Fault
from onthedot.rules.inputs import Malformed, Place, Refused, after_delay, at_time, read_duration, read_time
from onthedot.rules.missed import MissedRule
from onthedot.rules.outage import Outage, first_shown, preview
from onthedot.rules.slots import Timetable, next_slots
from onthedot.rules.timetables import timetable_of
from onthedot.rules.zones import find, names

MANY = settings(max_examples=100 * OFTEN, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
NOW = datetime(2027, 3, 26, 18, tzinfo=UTC)
WRONG = [
    *("٣", "²", "\uff11", "Ⅷ", "\u00a0", "\u2028", "\x00", "\n", "\ud800", "İ", "ß"),
    *("0" * 30, "9" * 300, "-1", "+1", "1e3", "0x1", "1_0", "*/0", "*/1", "60", "7", "L", "1W", "5#5", "5#6", "?", "@"),
    *(",".join(["1"] * 200), ",".join(map(str, range(60))), "1-5-9", "5-1", "/", "-", ",", "#", " ", "\t", ";", "="),
    *("BYDAY=53MO", "BYSETPOS=-366", "BYMONTHDAY=31;BYMONTH=2", "COUNT=4000", "INTERVAL=9999999", "UNTIL=99991231"),
    *("Z", "z", "+00:00", "-23:59", "T", "P", "PT", ".", "24", "0000", "9999", "é"),
]
ANCHORS = st.sampled_from(["2027-01-01T00:00:00Z", "1900-01-01T00:00:00", "2036-12-31T23:59:59", "2027-03-28T02:30:00"])
SPANS = st.sampled_from([60, 61.001, "PT1M", "P3650D", "P1W"]) | st.floats() | st.integers(-(10**30), 10**30)
VALID = {
    "time": [
        "2027-03-28T02:30:00",
        "2027-03-28T01:00:00.123456789Z",
        "9999-12-31T23:59:59-23:59",
        "0001-01-01T00:00:00Z",
    ],
    "duration": ["PT10M", "P1W2DT3H4M5.6S", "P1D", "PT0.0005S", "-PT5S", "P99999999999999999999W"],
}


@st.composite
def mutants(draw: st.DrawFn, valid: st.SearchStrategy[str]) -> str:
    """Return a text with up to three pieces cut out, doubled, or replaced by something rare."""
    text = draw(valid)
    for _ in range(draw(st.integers(0, 3))):
        first = draw(st.integers(0, len(text)))
        last = min(len(text), first + draw(st.integers(0, 4)))
        piece = draw(st.sampled_from(["", text[first:last] * 2, *WRONG]) | st.characters())
        text = text[:first] + piece + text[last:]
    return text


def quickly(action: Callable[[], Any], times: int = 1) -> Any:
    """Return what an action returns, `None` when it refuses; a second try forgives a machine that was busy."""
    for last in (False, True):
        started = time.process_time()
        try:
            result = action()
        except (Malformed, Refused):
            result = None
        spent = time.process_time() - started
        if spent < QUICK_SECONDS * times:
            return result
        assert not last, f"it took {spent} s twice"
    raise AssertionError


def all_that_follows(fields: Mapping[str, Any]) -> None:
    """Read a schedule's fields, and look at what is shown of it: the next slots, the warnings, an outage."""
    faults: list[Fault] = []
    read = quickly(lambda: read_stored(fields))
    timetable: Timetable | None = quickly(lambda: timetable_of("s", read, NOW, faults, NOW)) if read else None
    if timetable is None:
        return
    quickly(lambda: next_slots(timetable, NOW, 5))
    quickly(lambda: warnings(timetable, NOW))
    shown = quickly(lambda: first_shown(timetable, NOW, 50))
    quickly(lambda: preview(timetable, MissedRule(), shown, Outage(NOW, NOW + timedelta(hours=3))))


PLACES: dict[str, st.SearchStrategy[Any]] = {
    "zone": st.sampled_from(sorted(names())) | mutants(st.sampled_from(["Europe/Berlin", "Africa/Casablanca"])),
    "on_gap": st.sampled_from(["after", "shift", "skip"]),
    "on_repeat": st.sampled_from(["first", "last", "both"]),
    "starts_at": mutants(ANCHORS) | ANCHORS,
    "ends_at": ANCHORS,
    "spread": st.sampled_from([0, 30, "P31D"]),
    "exclude": st.lists(mutants(st.dates().map(str)), max_size=3),
}


@MANY
@given(st.fixed_dictionaries({"cron": mutants(crons())}, optional=PLACES))
@example({"cron": "0 0 31 2,4,6,9,11 *", "zone": "Pacific/Apia"})
@example({"cron": "0 0 29 2 MON#5", "zone": "Asia/Gaza"})
@example({"cron": "* * 1W,15W,LW 2 */6", "zone": "Antarctica/Troll"})
@example({"cron": f"{','.join(map(str, range(60)))} {','.join(map(str, range(24)))} * * *", "zone": "Africa/El_Aaiun"})
def test_a_cron_that_is_nearly_right(fields: dict[str, Any]) -> None:
    all_that_follows(fields)


@MANY
@given(st.fixed_dictionaries({"rrule": mutants(rrules())}, optional=PLACES))
@example({"rrule": "FREQ=YEARLY;BYDAY=53MO;BYMONTH=2", "starts_at": "1900-01-01T00:00:00", "zone": "Europe/Dublin"})
@example({"rrule": "FREQ=DAILY;INTERVAL=366;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO;COUNT=4000", "zone": "UTC"})
def test_an_rrule_that_is_nearly_right(fields: dict[str, Any]) -> None:
    all_that_follows(fields)


@MANY
@given(st.fixed_dictionaries({"every": SPANS | mutants(st.sampled_from(VALID["duration"]))}, optional=PLACES), ANCHORS)
def test_a_rhythm_that_is_nearly_right(fields: dict[str, Any], anchor: str) -> None:
    all_that_follows({**fields, "anchor": anchor})


@MANY
@given(mutants(st.sampled_from(VALID["time"])), mutants(st.sampled_from(VALID["duration"])) | SPANS, PLACES["zone"])
def test_a_time_or_a_delay_that_is_nearly_right(written: str, delay: object, zone: str) -> None:
    when = quickly(lambda: read_time(written))
    if when:
        quickly(lambda: at_time(when, Place(find(zone)), NOW))
    lasting = quickly(lambda: read_duration(delay))
    if lasting is not None:
        quickly(lambda: after_delay(lasting, NOW))
