"""What is taken comes back as it was; what would not survive is refused before anything is stored."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.http.memory import Api, event

from onthedot.http.json_text import NoJson, canonical, read, write

NUMBERS = st.one_of(
    st.integers().map(str),
    st.from_regex(r"-?(0|[1-9][0-9]{0,40})(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,2})?", fullmatch=True),
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
SPACE = st.text(" \t\r\n", max_size=2)


def spaced(*parts: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[str, str]]:
    """Return (as sent, as stored): the same with white space between."""
    return st.tuples(SPACE, *parts).map(lambda drawn: (drawn[0] + "".join(drawn[1:]), "".join(drawn[1:])))


SCALARS = st.one_of(
    spaced(st.sampled_from(["null", "true", "false"])),
    spaced(NUMBERS),
    st.tuples(SPACE, TEXTS, st.booleans()).map(
        lambda drawn: (
            drawn[0] + json.dumps(drawn[1], ensure_ascii=drawn[2]),
            json.dumps(drawn[1], ensure_ascii=False),
        )
    ),
)
Pair = tuple[str, str]


def arrays(items: st.SearchStrategy[Pair]) -> st.SearchStrategy[Pair]:
    return st.tuples(st.lists(items, max_size=4), SPACE).map(
        lambda drawn: (
            "[" + ",".join(sent + drawn[1] for sent, _ in drawn[0]) + drawn[1] + "]",
            "[" + ",".join(stored for _, stored in drawn[0]) + "]",
        )
    )


def objects(items: st.SearchStrategy[Pair]) -> st.SearchStrategy[Pair]:
    return st.tuples(st.dictionaries(TEXTS, items, max_size=4), SPACE).map(
        lambda drawn: (
            "{" + ",".join(f"{drawn[1]}{json.dumps(key)}{drawn[1]}:{pair[0]}" for key, pair in drawn[0].items()) + "}",
            "{" + ",".join(f"{json.dumps(key, ensure_ascii=False)}:{pair[1]}" for key, pair in drawn[0].items()) + "}",
        )
    )


DOCUMENTS = st.recursive(SCALARS, lambda items: arrays(items) | objects(items), max_leaves=12)


@settings(deadline=None)
@given(DOCUMENTS)
def test_any_json_comes_back_as_its_compact_form(document: Pair) -> None:
    sent, stored = document
    assert write(read(sent.encode())) == stored
    assert write(read(stored.encode())) == stored


@settings(deadline=None)
@given(DOCUMENTS)
def test_the_canonical_form_knows_no_order_of_keys(document: Pair) -> None:
    def turned(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: turned(value[key]) for key in reversed(list(value))}
        return [turned(item) for item in value] if isinstance(value, list) else value

    value = read(document[0].encode())
    assert canonical(turned(value)) == canonical(value)
    assert sorted(canonical(value)) == sorted(write(value))


@settings(deadline=None)
@given(st.binary(max_size=40) | st.text(max_size=40).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_whatever_comes_is_read_or_refused_and_what_is_read_is_json_for_others(text: bytes) -> None:
    try:
        value = read(text)
    except NoJson:
        return
    assert json.loads(write(value)) == json.loads(text)


@pytest.mark.parametrize(
    "text",
    [
        b'{"a":1,"a":1}',
        b'{"a":1,"\\u0061":2}',
        b'{"a":[{"b":1,"b":2}]}',
        b"NaN",
        b"[Infinity]",
        b"-Infinity",
        b"1e400",
        b"-1e400",
        b'"\\ud800"',
        b'"\\udc00\\ud800"',
        b'{"\\ud800":1}',
        b'"\xff"',
        b'"\xed\xa0\x80"',
        b'"\xc0\xaf"',
        b"[" * 101 + b"]" * 101,
        b'{"a":' * 101 + b"1" + b"}" * 101,
        b"[" * 200_000,
        b"1" * 1_001,
        b"0." + b"1" * 1_000,
        b"\xef\xbb\xbf{}",
        b"",
        b" ",
        b"01",
        b"1.",
        b".5",
        b"+1",
        b"[1,]",
        b"{a:1}",
        b"'a'",
        b'"\t"',
        b"[1] 2",
        b"\x00",
        b"\xc2\xa0[]",
    ],
)
def test_what_would_not_survive_is_refused(text: bytes) -> None:
    with pytest.raises(NoJson):
        read(text)


def test_a_byte_order_mark_is_named() -> None:
    with pytest.raises(NoJson, match="byte order mark"):
        read(b"\xef\xbb\xbf{}")


def test_the_limits_themselves_are_taken() -> None:
    assert write(read(b"[" * 100 + b"]" * 100)) == "[" * 100 + "]" * 100
    assert write(read(b"1" * 1_000)) == "1" * 1_000
    assert write(read(b'"\\ud83d\\ude00"')) == '"😀"'


PAYLOADS = [
    '{"a":"","b":null,"c":[null,"",[],{}],"d":{"":1},"e":{}}',
    "null",
    '""',
    "[]",
    "0",
    "false",
    "1.0",
    "1e2",
    "-0",
    "1E-7",
    "123456789012345678901234567890",
    '{"b":1,"a":2.50}',
    '"😀é\\u0000\\n\\"\\\\/"',
    '{"$ref":"#/x","__proto__":1}',
]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_payload_comes_back_verbatim_from_every_call(api: Api, payload: str) -> None:
    created = api.call("POST", "/jobs", f'{{"handler":"example.echo","id":"x","payload": {payload} }}')
    assert created.status == 201
    batch = api.call("POST", "/jobs/batch", f'{{"jobs":[{{"handler":"example.echo","id":"y","payload":{payload}}}]}}')
    moved = api.call("PATCH", "/jobs/y", f'{{"delay":60,"payload":{payload}}}')
    again = api.call("POST", "/jobs", f'{{"payload":{payload},"id":"x","handler":"example.echo"}}')
    assert again.status == 200
    shown = [
        created,
        batch,
        moved,
        again,
        api.call("GET", "/jobs/x"),
        api.call("GET", "/jobs"),
        api.call("DELETE", "/jobs/x"),
    ]
    assert all(f'"payload":{payload}' in answer.text for answer in shown)


def test_a_large_payload_comes_back_verbatim(api: Api) -> None:
    payload = '{"b":[1.50,"' + "ä" * 1_000 + '"]}'
    assert api.call("POST", "/jobs", f'{{"handler":"example.echo","id":"x","payload":{payload}}}').status == 201
    assert api.payloads.rows, "it lies in an item of its own"
    assert f'"payload":{payload}' in api.call("GET", "/jobs/x").text


def test_a_result_comes_back_verbatim(api: Api) -> None:
    api.create(id="x")
    api.change("x", result='{"b":1.0,"a":-0}')
    assert '"result":{"b":1.0,"a":-0}' in api.call("GET", "/jobs/x").text


def test_a_missing_payload_is_null(api: Api) -> None:
    assert api.create().body["payload"] is None


@pytest.mark.parametrize("repeat", [262_142, 262_143])
@pytest.mark.parametrize("letter", ["x", "é", "😀"])
def test_a_payload_is_measured_in_stored_bytes(api: Api, letter: str, repeat: int) -> None:
    text = letter * (repeat // len(letter.encode())) + "x" * (repeat % len(letter.encode()))
    answer = api.create(payload=text)
    assert answer.status == (201 if repeat == 262_142 else 413)
    assert bool(api.jobs.rows) is (repeat == 262_142)


def test_a_payload_is_measured_without_the_white_space_and_escapes_that_are_not_stored(api: Api) -> None:
    assert api.call("POST", "/jobs", '{"handler":"h","payload":[' + " " * 300_000 + "1]}").status == 201
    assert api.call("POST", "/jobs", '{"handler":"h","payload":"' + "\\ud83d\\ude00" * 34_000 + '"}').status == 201


def test_a_request_of_over_5_mb_is_refused(api: Api) -> None:
    at_limit = '{"handler":"h"}' + " " * (5_000_000 - 15)
    assert api.call("POST", "/jobs", at_limit).status == 201
    answer = api.call("POST", "/jobs", at_limit + " ")
    assert (answer.status, len(api.jobs.rows)) == (413, 1)


@pytest.mark.parametrize("body", [b'{"handler":"h"}', b'{"handler":"h","payload":"\xc3\xa9"}'])
def test_a_body_in_base64_is_read(api: Api, body: bytes) -> None:
    sent = event("POST", "/jobs", base64.b64encode(body).decode()) | {"isBase64Encoded": True}
    assert api.send(sent).status == 201


@pytest.mark.parametrize(
    "body",
    [
        base64.b64encode(b'{"handler":"\xff"}').decode(),
        "%%%",
        "é",
        "e",
        "",
        "!" + base64.b64encode(b'{"handler":"h"}').decode(),
    ],
)
def test_a_body_in_base64_that_is_no_json_is_refused(api: Api, body: str) -> None:
    assert api.send(event("POST", "/jobs", body) | {"isBase64Encoded": True}).status == 400


@pytest.mark.parametrize(
    "body", [None, "", " ", "null", "[]", "1", '"x"', "{", "\ud800", '{"handler":"\ud800"}', "\ufeff{}"]
)
def test_a_body_that_is_no_object_is_refused(api: Api, body: str | None) -> None:
    answer = api.send(event("POST", "/jobs") | {"body": body})
    assert (answer.status, api.jobs.rows) == (400, {})


@pytest.mark.parametrize(
    "content_type", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain", None]
)
def test_the_content_type_plays_no_part(api: Api, content_type: str | None) -> None:
    headers = {"content-type": content_type} if content_type else None
    sent = event("POST", "/jobs", {"handler": "h"}) | {
        "headers": headers,
        "multiValueHeaders": {name: [value] for name, value in headers.items()} if headers else None,
    }
    assert api.send(sent).status == 201
