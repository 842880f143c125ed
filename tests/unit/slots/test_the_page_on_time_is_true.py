"""Every cell of the tables in `docs/time.md` is what comes out."""

import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest
from tests.support.timetables import instant

from onthedot.rules.cron import read_cron
from onthedot.rules.slots import Timetable, slots_within
from onthedot.rules.zones import SlotsOnGap, SlotsOnRepeat, find

PAGE = Path(__file__).parents[3] / "docs" / "time.md"


def _cells() -> Iterator[tuple[str, str, str, SlotsOnGap, SlotsOnRepeat, str]]:
    heads: list[str] = []
    for line in PAGE.read_text("utf-8").splitlines():
        cells = [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        if cells[0] == "expression":
            heads = cells
        elif heads and len(cells) == len(heads) and re.match(r"[0-9]{4}-", cells[2]):
            for name, cell in zip(heads[4:], cells[4:], strict=True):
                on_gap = SlotsOnGap(name) if name in list(SlotsOnGap) else SlotsOnGap.AFTER
                on_repeat = SlotsOnRepeat(name) if name in list(SlotsOnRepeat) else SlotsOnRepeat.FIRST
                yield cells[0], cells[1], cells[2], on_gap, on_repeat, cell


def _slots_of(timetable: Timetable, day: str) -> Iterator[str]:
    start = instant(day) - timedelta(days=1)
    for slot in slots_within(timetable, start, start + timedelta(days=3)):
        if slot.local.date() == date.fromisoformat(day):
            yield f"{slot.local:%H:%M}{'*' * slot.fold}"


@pytest.mark.parametrize(("text", "name", "day", "on_gap", "on_repeat", "cell"), list(_cells()))
def test_a_cell(text: str, name: str, day: str, on_gap: SlotsOnGap, on_repeat: SlotsOnRepeat, cell: str) -> None:
    zone = find(name)
    assert zone
    found = " ".join(_slots_of(Timetable(read_cron(text), zone, on_gap, on_repeat), day))
    assert (found or "none") == cell


def test_all_cells_were_read() -> None:
    assert len(list(_cells())) == 3 * 18


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("5/20 * * * *", "5-59/20 * * * *"),
        ("*/90 0 * * *", "0 0 * * *"),
        ("0 0 * * MON-SUN", "0 0 * * 1-7"),
        ("0 0 * * 5L", "0 0 * * FRIL"),
        ("0 0 */2 * FRI", "0 0 */2,*/2 * 5"),
    ],
)
def test_two_ways_to_write_the_same(left: str, right: str) -> None:
    first, second = (
        [slot.instant for slot in slots_within(_utc(text), instant("2027-01-01"), instant("2028-01-01"))]
        for text in (left, right)
    )
    assert first == second
    assert first


def _utc(text: str) -> Timetable:
    zone = find("UTC")
    assert zone
    return Timetable(read_cron(text), zone)


def test_odd_fridays() -> None:
    found = [slot.local for slot in slots_within(_utc("0 0 */2 * FRI"), instant("2027-01-01"), instant("2028-01-01"))]
    assert found
    assert all(at.day % 2 == 1 and at.isoweekday() == 5 for at in found)
    assert datetime(2027, 1, 15) in found  # noqa: DTZ001 - it is local
