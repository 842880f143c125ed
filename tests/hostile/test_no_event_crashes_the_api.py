"""Whatever API Gateway could hand over, the answer is one of ours, and what cannot be read changes nothing."""

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.hostile.asking import Ask, event_of
from tests.hostile.judging import Judge
from tests.hostile.stage import Stage
from tests.support.proving import OFTEN

from onthedot.http.routes import ROUTES

JOB = b'{"handler": "example.echo", "id": "z", "payload": %s}'
NO_JSON = {
    "invalid UTF-8": b'{"handler": "\xff"}',
    "an overlong form of UTF-8": b'{"handler": "\xc0\xaf"}',
    "a surrogate in UTF-8": b'{"handler": "\xed\xa0\x80"}',
    "UTF-16": '{"handler": "h"}'.encode("utf-16"),
    "a byte order mark": b'\xef\xbb\xbf{"handler": "h"}',
    "the same key twice": b'{"handler": "h", "handler": "h"}',
    "the same key twice, escaped": b'{"handler": "h", "h\\u0061ndler": "h"}',
    "the same key twice, deep down": JOB % b'[{"a": 1, "a": 1}]',
    "NaN": JOB % b"NaN",
    "Infinity": JOB % b"-Infinity",
    "a number beyond floats": JOB % b"1e400",
    "a number beyond reading": JOB % (b"9" * 5_000),
    "half of a pair": JOB % b'"\\ud800"',
    "half of a pair as a key": JOB % b'{"\\udc00": 1}',
    "too deep": JOB % (b"[" * 101 + b"]" * 101),
    "far too deep": JOB % (b"[" * 100_000 + b"]" * 100_000),
    "never closed": b'{"a":' * 50_000,
    "two texts": b'{"handler": "h"} {"handler": "h"}',
    "a comment": b'{"handler": "h"} // it',
    "single quotes": b"{'handler': 'h'}",
    "a form": b"handler=h&id=z",
    "a list": b"[]",
    "a text": b'"h"',
    "null": b"null",
    "a null byte": b"\x00",
    "blanks": b" \n\t",
    "nothing": b"",
}
TAKEN = {
    "as deep as may be": JOB % (b"[" * 99 + b"]" * 99),
    "every escape": JOB % rb'"\u0000\u001f\ud83d\ude00\/\\\""',
    "a number as long as may be": JOB % (b"9" * 1_000),
    "a tiny number": JOB % b"1e-400",
    "minus nothing": JOB % b"-0",
    "a key that is empty": JOB % b'{"": 0}',
}
HUGE = {
    "a payload": JOB % (b'"' + b"x" * 262_144 + b'"'),
    "a request": JOB % (b'"' + b"x" * 5_000_000 + b'"'),
    "an id": b'{"handler": "h", "id": "' + b"x" * 200_000 + b'"}',
    "a cron": b'{"handler": "h", "cron": "' + b"0," * 200_000 + b'"}',
    "many fields": json.dumps({f"field{number}": 0 for number in range(3_000)}).encode(),
    "many jobs": json.dumps({"jobs": [{}] * 501}).encode(),
}
WITH_BODY = [route for route in ROUTES if route.body is not None]


@pytest.fixture
def judge(stage: Stage) -> Iterator[Judge]:
    stage.restore()
    judge = Judge(stage)
    yield judge
    assert not judge.violations


def _path(route: str) -> str:
    return route.replace("{id}", "far").replace("{name}", "busy")


@pytest.mark.parametrize("what", NO_JSON)
def test_what_is_no_json_is_refused_by_every_call(judge: Judge, what: str) -> None:
    for route in WITH_BODY:
        answer = judge.ask(Ask(route.method, _path(route.path), body=NO_JSON[what], route=route.path))
        assert answer.status == 400 or not (NO_JSON[what].strip() or route.needs_body)


@pytest.mark.parametrize("what", TAKEN)
def test_what_is_json_comes_back(judge: Judge, what: str) -> None:
    assert judge.ask(Ask("POST", "/jobs", body=TAKEN[what], route="/jobs")).status == 201
    assert judge.ask(Ask("POST", "/jobs", body=TAKEN[what], route="/jobs")).status == 200


@pytest.mark.parametrize("what", HUGE)
def test_what_is_huge_is_refused(judge: Judge, what: str) -> None:
    for route in WITH_BODY:
        answer = judge.ask(Ask(route.method, _path(route.path), body=HUGE[what], route=route.path))
        assert answer.status in (400, 413, 422)
        assert len(json.dumps(answer.body)) < 100_000


PATHS = [
    "",
    "/",
    "//",
    "/jobs/",
    "//jobs",
    "/jobs//retry",
    "/jobs/far/",
    "/jobs/far%0A",
    "/jobs/far%00",
    "/jobs/%2Ffar",
    "/jobs/far%2Fretry",
    "/jobs/..%2F..%2Fschedules%2Fbusy",
    "/jobs/../schedules/busy",
    "/jobs/%FF%FE",
    "/jobs/%",
    "/jobs/%zz",
    "/jobs/%25",
    "/jobs/far;a=1",
    "/jobs/far?x",
    "/jobs/{id}",
    "/jobs/<id>",
    "/jobs/busy@2027-01-04T08:05:00+00:00",
    "/jobs/busy@manual-",
    "/jobs/busy@9999-99-99T99:99:99Z",
    "/jobs/@",
    "/schedules/busy/../still",
    "/schedules/busy/jobs/",
    "/schedules/" + "x" * 8_000,
    "/SCHEDULES/busy",
    "/schedules/\u00e9",
    "/schedules/\u202ebusy",
    "/openapi.json/",
]


@pytest.mark.parametrize("path", PATHS, ids=[ascii(path)[:40] for path in PATHS])
def test_an_odd_path_is_answered(judge: Judge, path: str) -> None:
    """Which call it is, the router decides; whatever it is, a path that is none of a call's changes nothing."""
    before = judge.stage.rows()
    for method in ("GET", "DELETE", "POST", "PUT", "PATCH", "HEAD", "OPTIONS", "TRACE", ""):
        for event in _forms(Ask(method, path)):
            answer = judge.send(event)
            assert answer.status in (200, 400, 404, 405, 409), answer
            assert answer.status == 200 or answer.headers["Content-Type"] == "application/problem+json"
    if path.rstrip("/") not in ("/jobs/far", "/jobs"):
        assert not judge.stage.differs_from(before)


def _forms(ask: Ask) -> Iterator[dict[str, Any]]:
    """Yield the event as the gateway makes it: with the path that is left of a domain, and with the one alone."""
    event = event_of(ask)
    yield event
    yield {name: value for name, value in event.items() if name != "pathParameters"}


TEXTS = st.text(st.characters(), max_size=30)
NAMES = TEXTS | st.sampled_from(["limit", "cursor", "state", "group", "dry_run", "If-Match", "content-type"])


def _maps(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | st.dictionaries(NAMES, values, max_size=3)


@st.composite
def events(draw: st.DrawFn) -> Mapping[str, Any]:
    """Return an event with the right fields, any of which may hold nothing, be left out, or hold odd text."""
    route = draw(st.sampled_from(ROUTES))
    path = draw(st.sampled_from([_path(route.path), "/nowhere"]) | TEXTS)
    fields: dict[str, st.SearchStrategy[Any]] = {
        "httpMethod": st.just(route.method) | TEXTS,
        "path": st.just(path) | st.none(),
        "resource": st.sampled_from(["/{proxy+}", "/", None]),
        "headers": _maps(TEXTS),
        "multiValueHeaders": _maps(st.lists(TEXTS, max_size=2)),
        "queryStringParameters": _maps(TEXTS),
        "multiValueQueryStringParameters": _maps(st.lists(TEXTS, max_size=2)),
        "pathParameters": st.none() | st.just({"proxy": path.removeprefix("/")}) | st.just({}),
        "requestContext": st.none() | st.just({}) | st.fixed_dictionaries({"identity": _maps(st.none() | TEXTS)}),
        "body": st.none() | TEXTS | st.binary(max_size=20).map(lambda body: b64encode(body).decode()),
        "isBase64Encoded": st.booleans() | st.none(),
        "stageVariables": st.none(),
    }
    return draw(st.fixed_dictionaries({}, optional=fields))


def test_any_event(stage: Stage) -> None:
    """An event without a method, or with headers that are null, ended the function, which the gateway calls a 502."""
    stage.restore()
    judge = Judge(stage)

    @settings(max_examples=100 * OFTEN, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(events())
    def send(event: Mapping[str, Any]) -> None:
        answer = judge.send(dict(event))
        assert answer.status < 500 or answer.body.get("status") == "unhealthy", answer

    send()
