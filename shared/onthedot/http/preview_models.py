"""The shapes of what is only foreseen: previews, and what a resume would bring."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field, WithJsonSchema

from onthedot.http.forms import TimeIn
from onthedot.http.models import Name, Shape, TimeOut, absent
from onthedot.http.schedule_models import ONE_EXPRESSION, NextSlot, TimetableRequest
from onthedot.rules.outage import MOST_SLOTS

TO_OR_COUNT: dict[str, Any] = {"oneOf": [{"required": ["to"]}, {"required": ["count"]}]}


class Down(Shape):
    """A time in which nothing is planned."""

    from_: TimeIn = Field(alias="from")
    to: TimeIn


class PreviewRequest(TimetableRequest):
    """The slots to show: those from one time on, before another, or so many. A spread needs the schedule's name."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": ONE_EXPRESSION["oneOf"],
            "allOf": [TO_OR_COUNT],
            "dependentRequired": {**ONE_EXPRESSION["dependentRequired"], "spread": ["name"]},
        }
    )
    name: Name = absent()
    from_: TimeIn = Field(alias="from")
    to: TimeIn = absent()
    count: Annotated[int, WithJsonSchema({"type": "integer", "minimum": 1, "maximum": MOST_SLOTS})] = absent()
    down: Down = absent()


class PreviewSlot(NextSlot):
    """A slot, and what a clock change did to it."""

    note: str = absent()


class PreviewRun(Shape):
    """A slot that runs, and when."""

    slot: TimeOut
    at: TimeOut


class PreviewSkipped(Shape):
    """Neighbouring slots that do not run, the first and the last of them, and why."""

    from_: TimeOut = Field(alias="from")
    to: TimeOut
    count: int
    reason: str


class Preview(Shape):
    """What a timetable means, and what an outage would do to it."""

    slots: list[PreviewSlot]
    runs: list[PreviewRun]
    skipped: list[PreviewSkipped]
    warnings: list[str]


class Foreseen(Shape):
    """What a resume would bring within the next minutes."""

    runs: list[PreviewRun]
    skipped: list[PreviewSkipped]
