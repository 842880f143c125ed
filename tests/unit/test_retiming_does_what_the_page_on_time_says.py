"""Each row of the table of changed rules in `docs/time.md` is what comes out, whatever files a host has (T11, O02)."""

import os
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from tests.support.databases import tzif, zone_with
from tests.support.timetables import cron, instant
from tests.unit.making import a_schedule

from onthedot.rules.instants import shown
from onthedot.rules.retiming import retimed
from onthedot.rules.schedules import coming
from onthedot.rules.slots import next_slots

PAGE = Path(__file__).parents[2] / "docs" / "time.md"
BEFORE: dict[str, list[tuple[str, float]]] = {
    "America/Vancouver": [("2026-11-01T09:00", -8)],
    "America/Edmonton": [("2026-11-01T08:00", -7)],
    "Africa/Casablanca": [("2026-09-20T01:00", 1)],
    "Asia/Beirut": [("2022-10-29T21:00", 2), ("2023-04-20T22:00", 3)],
    "America/Santiago": [("2022-09-04T04:00", -3)],
}
"""What the database before said instead."""


def rows() -> list[list[str]]:
    lines = [line.strip("|").split("|") for line in PAGE.read_text("utf-8").splitlines()]
    return [[cell.strip() for cell in cells] for cells in lines if len(cells) == 5 and cells[0].strip() in BEFORE]


@pytest.mark.parametrize(("zone", "local", "change", "old", "new"), rows())
def test_a_row(zone: str, local: str, change: str, old: str, new: str) -> None:
    assert change
    timetable = cron("0 9 * * *", zone)
    before = replace(timetable, zone=zone_with(zone, BEFORE[zone]))
    since = instant(min(old, new).rstrip("Z")) - timedelta(hours=1)
    first = next_slots(before, since, 1)[0]
    assert (shown(first.instant), f"{first.local:%Y-%m-%d %H:%M}") == (old, local)
    schedule = a_schedule(
        since=since, planned_until=since, paused=None, next_at=first.instant, next_local=coming(first).local
    )
    result = retimed(schedule, timetable, [], since, "new")
    assert result.moved == coming(first)
    assert result.schedule.next_at
    assert (shown(result.schedule.next_at), result.schedule.next_local) == (new, f"{local.replace(' ', 'T')}:00")


def test_all_rows_were_read() -> None:
    assert sorted(row[0] for row in rows()) == sorted(BEFORE)


@pytest.mark.parametrize("path", ["", None, "stale"])
def test_stale_files_of_the_host_never_win(tmp_path: Path, path: str | None) -> None:
    """O02: Chile put its change off by a week; whoever had an older image was an hour off, whatever was installed."""
    stale = tmp_path / "America" / "Santiago"
    stale.parent.mkdir()
    stale.write_bytes(tzif(-4 * 3600, [(int(instant("2022-09-04T04:00").timestamp()), -3 * 3600)]))
    code = (
        "from datetime import *; from onthedot.rules.zones import find; "
        "print(datetime(2022, 9, 5, 9, tzinfo=find('America/Santiago')).astimezone(UTC).isoformat())"
    )
    environment = {**os.environ, "PYTHONPATH": str(PAGE.parents[1] / "shared")}
    environment.pop("PYTHONTZPATH", None)
    if path is not None:
        environment["PYTHONTZPATH"] = str(tmp_path) if path else ""
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "2022-09-05T13:00:00+00:00"
