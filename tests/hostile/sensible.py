"""Requests as a client makes them: nearly all are right, and meet what is there in each of its states."""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from hypothesis import strategies as st
from tests.hostile.asking import Ask
from tests.hostile.stage import Stage
from tests.support.expressions import crons, rrules

from onthedot.rules.zones import names

Values = Mapping[str, st.SearchStrategy[Any]]

TIMES = st.sampled_from(
    [
        "2027-01-04T08:10:00Z",
        "2027-01-04T09:00:00.5+00:00",
        "2027-03-28T02:30:00",
        "2028-02-29T23:59:59z",
        "2036-12-31T00:00:00Z",
        "2027-01-01T00:00:00Z",
    ]
)
SPANS = st.sampled_from([0.5, 1, 59.9996, 60, 600, "PT10M", "P2D", "PT0.5S", 86_400, "P31D", 1e308, -1, 0])
ZONES = st.sampled_from(
    ["Europe/Berlin", "America/New_York", "Africa/Casablanca", "europe/berlin", *sorted(names())[::20]]
)
HANDLERS = st.sampled_from(["example.echo", "test.fail", "nobody"])
GROUPS = st.sampled_from(["g", "h"])
PAYLOADS: st.SearchStrategy[Any] = st.sampled_from([None, 0, {"a": "x" * 2_000}, [1.5, "é\u2028"], {"": {"": []}}])
LIMITS: Values = {"timeout": st.integers(1, 90), "start_within": SPANS, "group": GROUPS, "payload": PAYLOADS}
RETRY: Values = {"retry": st.fixed_dictionaries({}, optional={"max_attempts": st.integers(1, 3), "first": SPANS})}
MISSED: Values = {
    "missed": st.sampled_from(["catch_up", "latest", "skip"]),
    "grace": SPANS,
    "catch_up_limit": st.integers(1, 50),
    "spread": SPANS,
}
TIMING: Values = {
    "zone": ZONES,
    "on_gap": st.sampled_from(["after", "shift", "skip"]),
    "on_repeat": st.sampled_from(["first", "last", "both"]),
    "ends_at": TIMES,
    "exclude": st.lists(st.dates().map(str), max_size=2),
}
EXPRESSIONS: Sequence[Values] = (
    {"cron": crons()},
    {"every": st.sampled_from([60, "PT1H", 86_400.5])},
    {"rrule": rrules()},
)
JOB: Values = {**LIMITS, **RETRY, "id": st.sampled_from(["near", "x", "y"])}
PATCHED: Values = {**LIMITS, **RETRY, **MISSED, **TIMING, "overlap": st.sampled_from(["allow", "skip", "wait"])}


def said(required: Values, optional: Values) -> st.SearchStrategy[Any]:
    """Return JSON objects with these fields."""
    return st.fixed_dictionaries(dict(required), optional=dict(optional))


def jobs() -> st.SearchStrategy[Any]:
    """Return what creates a job."""
    plain = [
        said({"handler": HANDLERS, **when}, JOB) for when in ({}, {"delay": SPANS}, {"run_at": TIMES, "zone": ZONES})
    ]
    return st.one_of(plain)


def timetables(required: Values, optional: Values) -> st.SearchStrategy[Any]:
    """Return objects with a timetable."""
    return st.one_of([said({**required, **expression}, {**TIMING, **MISSED, **optional}) for expression in EXPRESSIONS])


def calls(stage: Stage) -> st.SearchStrategy[Ask]:
    """Return calls on the jobs and schedules that are there, and on some that are not."""
    job = st.sampled_from([*stage.jobs, "x", "x@manual-1"]).map(quote)
    schedule = st.sampled_from([*stage.schedules, "new"])
    window = {"from": st.just("2027-01-04T08:00:30Z"), "to": TIMES}
    timed = timetables({"handler": HANDLERS}, {**LIMITS, **RETRY, "overlap": PATCHED["overlap"]})
    return st.one_of(
        _asks("POST", "/jobs", None, jobs()),
        _asks("POST", "/jobs/batch", None, st.fixed_dictionaries({"jobs": st.lists(jobs(), min_size=1, max_size=4)})),
        _asks("PATCH", "/jobs/{id}", job, said({"delay": SPANS}, {"payload": PAYLOADS})),
        _asks("DELETE", "/jobs/{id}", job, None, {"stop": "true"}),
        _asks("POST", "/jobs/{id}/retry", job, None),
        _asks("POST", "/dead/retry", None, said({}, {"handler": HANDLERS, "before": TIMES, "rate": st.just(60)})),
        _asks("DELETE", "/jobs", None, None, {"group": "g"}, {"group": "g", "dry_run": "true"}),
        _asks("GET", "/jobs", None, None, {"state": "dead"}, {"schedule": "busy", "limit": "2"}, {"group": "g"}),
        _asks("PUT", "/schedules/{name}", schedule, timed),
        _asks("PATCH", "/schedules/{name}", schedule, said({}, {**PATCHED, "cron": crons()})),
        _asks("DELETE", "/schedules/{name}", schedule, None),
        _asks("POST", "/schedules/{name}/pause", schedule, said({}, {"until": TIMES, "reason": st.just("r")})),
        _asks("POST", "/schedules/{name}/resume", schedule, None, {"dry_run": "true"}),
        _asks("POST", "/schedules/{name}/trigger", schedule, said({}, {"id": st.just("m"), "payload": PAYLOADS})),
        _asks("POST", "/schedules/{name}/backfill", schedule, said(window, {}), {"dry_run": "true"}),
        _asks("GET", "/schedules/{name}/ledger", schedule, None, {"limit": "3"}),
        _asks("POST", "/preview", None, timetables({"from": TIMES, "count": st.integers(1, 30)}, {"name": schedule})),
    )


def _asks(
    method: str,
    route: str,
    named: st.SearchStrategy[str] | None,
    body: st.SearchStrategy[Any] | None,
    *queries: Mapping[str, str],
) -> st.SearchStrategy[Ask]:
    """Return calls of one route; without a query, too, unless it needs one."""
    chosen = st.sampled_from([*queries] if route == "/jobs" and method == "DELETE" else [{}, *queries])

    def ask(name: str, body: Any, query: Mapping[str, str]) -> Ask:
        path = route.replace("{id}", name).replace("{name}", name)
        wire = None if body is None else json.dumps(body).encode()
        return Ask(method, path, tuple(query.items()), body=wire, route=route, valid=True)

    return st.builds(ask, st.just("") if named is None else named, st.none() if body is None else body, chosen)
