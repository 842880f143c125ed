"""Preview: the slots that a timetable would have, and what an outage would do to them. No clock is read.

`from` plays the part of the creation: a rhythm without an anchor, and a rule without `starts_at`, begin there.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from onthedot.http.json_text import write
from onthedot.http.preview_models import PreviewRequest
from onthedot.http.problems import Answer
from onthedot.http.requests import Request
from onthedot.http.schedule_views import next_view, run_view, skipped_view
from onthedot.http.shapes import check
from onthedot.rules import outage
from onthedot.rules.clock_changes import warnings
from onthedot.rules.definitions import missed_of
from onthedot.rules.errors import Invalid, Kind
from onthedot.rules.inputs import Refused, Time
from onthedot.rules.missed import Planned
from onthedot.rules.outage import MOST_SLOTS, Outage
from onthedot.rules.said import Said
from onthedot.rules.slots import Timetable
from onthedot.rules.timetables import meant, timetable_of
from onthedot.steps.ports import World

FIRST_YEAR, LAST_YEAR = 1900, 2200
LONGEST_OUTAGE = timedelta(days=400)


@dataclass(frozen=True, slots=True)
class Window:
    """From one instant on, before another; `None` for what is not said, or wrong."""

    start: datetime | None
    end: datetime | None


def preview(world: World, request: Request) -> Answer:  # noqa: ARG001
    """Show the slots that a timetable would have, and what an outage would do to them."""
    faults = list(request.faults)
    said = Said(check(PreviewRequest, request.json(), "", faults), faults)
    window, down = _times(said, said), _outage(said)
    if said.has("spread") and not said.has("name"):
        said.blame("name", "is missing; a spread is made from the schedule's name", Kind.MALFORMED)
    timetable = timetable_of(said.fields.get("name", ""), said.fields, window.start, faults, window.start)
    rule, slots = missed_of(said.fields, faults), _slots(said, window, timetable)
    found = None
    if timetable is not None and slots is not None:
        found = said.judged("down", lambda: outage.preview(timetable, rule, slots, down))
    if faults or timetable is None or window.start is None or found is None:
        raise Invalid(faults)
    return Answer(200, write(_view(found, warnings(timetable, window.start))))


def _outage(said: Said) -> Outage | None:
    if "down" not in said.fields:
        return None
    down = Said(said.fields["down"], said.faults, "down")
    window = _times(down, said)
    if window.start is None or window.end is None:
        return None
    if window.end - window.start > LONGEST_OUTAGE:
        down.blame("to", f"is more than {LONGEST_OUTAGE.days} days after from")
    return Outage(window.start, window.end)


def _times(said: Said, request: Said) -> Window:
    """Return `from` and `to`; a local one is meant in the zone of the request, and not judged when that is wrong."""
    zone = request.zone()
    times: dict[str, Time] = {name: said.fields[name] for name in ("from", "to") if name in said.fields}
    found = {
        name: said.judged(name, partial(_instant, time, zone))
        for name, time in times.items()
        if time.offset is not None or not request.is_wrong("zone")
    }
    window = Window(found.get("from"), found.get("to"))
    if window.start is not None and window.end is not None and window.end < window.start:
        said.blame("to", "is before from")
    return window


def _instant(time: Time, zone: ZoneInfo | None) -> datetime:
    instant = meant(time, zone)
    if not FIRST_YEAR <= instant.year <= LAST_YEAR:
        raise Refused(f"is not within the years {FIRST_YEAR} to {LAST_YEAR}")
    return instant


def _slots(said: Said, window: Window, timetable: Timetable | None) -> list[Planned] | None:
    """Return the slots to show; `None` when that cannot be known."""
    if not said.has("to") and not said.has("count"):
        said.blame("to", "is missing; give to or count", Kind.MALFORMED)
    if said.has("to") and said.has("count"):
        said.blame("count", "cannot be given together with to")
    start, end, count = window.start, window.end, said.number("count", 1, MOST_SLOTS)
    if timetable is None or start is None:
        return None
    if end is not None:
        return said.judged("to", lambda: outage.shown_between(timetable, start, end))
    return outage.first_shown(timetable, start, count) if count is not None else None


def _view(found: outage.Preview, warned: list[str]) -> dict[str, Any]:
    return {
        "slots": [_slot(each) for each in found.slots],
        "runs": [run_view(run) for run in found.runs],
        "skipped": [skipped_view(part) for part in found.skipped],
        "warnings": warned,
    }


def _slot(planned: Planned) -> dict[str, Any]:
    view = next_view(planned)
    return view if planned.slot.note is None else {**view, "note": planned.slot.note}
