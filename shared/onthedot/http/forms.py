"""Times and durations at the wire: how each is read, and how the contract describes it.

The patterns say what `rules/inputs.py` reads, in the words of JSON schema, which knows no leap years. They look neither
ahead nor back, so that whoever makes examples of them can.
"""

from typing import Annotated

from pydantic import PlainValidator, WithJsonSchema

from onthedot.rules.definitions import LONGEST_GRACE
from onthedot.rules.every import LEAST, MOST
from onthedot.rules.inputs import HORIZON_YEARS, LONGEST_TEXT, Time, read_delay, read_duration, read_time
from onthedot.rules.limits import LONGEST, SHORTEST_TIMEOUT
from onthedot.rules.timetables import LONGEST_SPREAD

DATE = (
    "([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)-"
    "((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|[12][0-9]))"
)
CLOCK = r"([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]+)?"
OFFSET = "([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])"
WHOLE, LAST = "[0-9]+", "[0-9]+([.,][0-9]+)?"
HOURS = f"{LAST}H|({WHOLE}H)?{LAST}M|({WHOLE}H)?({WHOLE}M)?{LAST}S"
SPAN = rf"^\+?P({LAST}W|({WHOLE}W)?{LAST}D|({WHOLE}W)?({WHOLE}D)?T({HOURS}))$"
"""Only the last part of a duration may have decimals."""
TEN_YEARS = (HORIZON_YEARS * 365 + 3) * 86_400
"""The longest ten years, with three leap days; who asks in shorter ones is refused a day before. Units: seconds."""


def _time(pattern: str, said: str, *examples: str) -> WithJsonSchema:
    facts = {"type": "string", "pattern": f"^{pattern}$", "maxLength": LONGEST_TEXT}
    return WithJsonSchema({**facts, "description": said, "examples": list(examples)})


def _seconds(**bounds: float) -> WithJsonSchema:
    """Return how a duration is described; the bounds hold for texts, too, which a schema cannot say."""
    facts = {"type": ["number", "string"], "pattern": SPAN, "maxLength": LONGEST_TEXT, **bounds}
    return WithJsonSchema({**facts, "description": "seconds, or ISO 8601 without years and months"})


TimeIn = Annotated[
    Time,
    PlainValidator(read_time),
    _time(
        f"{DATE}[Tt]{CLOCK}{OFFSET}?",
        "RFC 3339 with an offset, or a local time together with `zone`",
        "2027-03-28T01:00:00Z",
        "2027-03-28T03:00:00",
    ),
]
InstantIn = Annotated[
    Time,
    PlainValidator(read_time),
    _time(f"{DATE}[Tt]{CLOCK}{OFFSET}", "RFC 3339 with an offset", "2027-03-28T01:00:00Z"),
]
"""A time that can be no local one, since nothing beside it names a zone."""
Delay = Annotated[int, PlainValidator(read_delay), _seconds(minimum=0, maximum=TEN_YEARS)]
Wait = Annotated[int, PlainValidator(read_duration), _seconds(exclusiveMinimum=0, maximum=TEN_YEARS)]
Timeout = Annotated[int, PlainValidator(read_duration), _seconds(minimum=SHORTEST_TIMEOUT // 1000)]
"""At most what the deployment's workers have, less 30 s."""
Rhythm = Annotated[int, PlainValidator(read_duration), _seconds(minimum=LEAST // 1000, maximum=MOST // 1000)]
Spread = Annotated[int, PlainValidator(read_duration), _seconds(minimum=0, maximum=LONGEST_SPREAD // 1000)]
Grace = Annotated[int, PlainValidator(read_duration), _seconds(minimum=0, maximum=LONGEST_GRACE // 1000)]
CatchUpWindow = Annotated[int, PlainValidator(read_duration), _seconds(minimum=1, maximum=LONGEST // 1000)]
