"""Requests that schemathesis makes of the contract, aimed at what is there, with values that mean something."""

import json
from collections.abc import Sequence
from functools import cache
from typing import Any
from urllib.parse import quote

from hypothesis import strategies as st
from tests.hostile.asking import JSON, Ask
from tests.hostile.contract import document
from tests.hostile.sensible import GROUPS, HANDLERS, SPANS, TIMES, ZONES
from tests.hostile.stage import Stage
from tests.support.expressions import crons, rrules

MEANT: dict[str, st.SearchStrategy[Any]] = {
    "handler": HANDLERS,
    "zone": ZONES,
    "cron": crons(),
    "rrule": rrules(),
    "group": GROUPS,
    **dict.fromkeys(["run_at", "starts_at", "ends_at", "anchor", "until", "before", "due_from", "due_to", "to"], TIMES),
    **dict.fromkeys(["delay", "every", "timeout", "start_within", "grace", "spread"], SPANS),
}


@cache
def operations() -> list[Any]:
    """Return the calls of the contract, as schemathesis reads it; it takes long to import."""
    import schemathesis  # noqa: PLC0415

    found: list[Any] = list(schemathesis.openapi.from_dict(document()).get_all_operations())
    return [each.ok() for each in found]


@st.composite
def asks(draw: st.DrawFn, stage: Stage) -> Ask:
    """Return a request: as the contract allows it or not, often of something that exists."""
    from schemathesis import GenerationMode  # noqa: PLC0415

    operation, mode = draw(st.sampled_from(operations())), draw(st.sampled_from(list(GenerationMode)))
    case, meant = draw(operation.as_strategy(generation_mode=mode)), draw(st.booleans())
    absent = type(case.body).__name__ == "NotSet"
    return Ask(
        operation.method.upper(),
        _aimed(draw, case, stage),
        tuple(_query(draw, case.query or {}, meant)),
        JSON | {str(name): str(value) for name, value in (case.headers or {}).items()},
        None if absent else _wire(draw, case.body, meant),
        operation.path,
        valid=mode is GenerationMode.POSITIVE,
    )


def _aimed(draw: st.DrawFn, case: Any, stage: Stage) -> str:
    """Return the path: in most cases that of a job, or a schedule, which is there."""
    if "{" not in case.path or draw(st.integers(0, 9)) == 0:
        return str(case.formatted_path)
    known: Sequence[str] = stage.jobs if "{id}" in case.path else stage.schedules
    return str(case.path).replace("{id}", "{name}").replace("{name}", quote(draw(st.sampled_from(known))))


def _wire(draw: st.DrawFn, body: Any, meant: bool) -> bytes:
    """Return the bytes of a body, where it is `meant` with values that are."""
    if isinstance(body, bytes):
        return body
    if meant and isinstance(body, dict):
        body = {name: draw(MEANT[name]) if name in MEANT else _whole(value) for name, value in body.items()}
    return json.dumps(body).encode()


def _whole(value: Any) -> Any:
    """Return a number as clients write it: to a schema 7.0 is a whole number."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e9 else value


def _query(draw: st.DrawFn, query: dict[Any, Any], meant: bool) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for name, value in query.items():
        aimed = draw(MEANT[name]) if meant and name in MEANT else value
        pairs += [(str(name), _text(each)) for each in (aimed if isinstance(aimed, list) else [aimed])]
    return [pair for pair in pairs if not (meant and pair[0] == "cursor")]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
