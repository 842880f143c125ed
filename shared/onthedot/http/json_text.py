"""JSON that comes back exactly as it went in: strict in reading, compact in writing, numbers by their text.

Python's reader lets duplicates, NaN, lone surrogates and 1e400 through, and turns `1.0` and `1e2` into what they equal.
Here a number that is no plain integer is a `Number`, which remembers its text.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring
from math import isinf
from typing import Any, cast

from onthedot.rules.errors import OnthedotError

DEEPEST = 100
MOST_DIGITS = 1_000
BOM = "\ufeff"
CONSTANTS = {None: "null", True: "true", False: "false"}
SURROGATE = re.compile("[\ud800-\udfff]")


class NoJson(OnthedotError):
    """The text is not JSON, or JSON that would not survive; the message says where and why."""


class Number(float):
    """A number that is written as it was read."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> "Number":
        """Return the number with this text."""
        number = super().__new__(cls, text)
        number.text = text
        return number

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Raw:
    """JSON text that is written as it is."""

    text: str


def read(text: bytes) -> Any:
    """Return the value of a JSON text.

    Raises: NoJson.
    """
    try:
        value = _DECODER.decode(_decoded(text))
    except json.JSONDecodeError as error:
        raise NoJson(f"{error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise NoJson(f"it is nested more than {DEEPEST} levels deep") from None
    _check(value)
    return value


def write(value: Any) -> str:
    """Return compact JSON text, in the order of the keys, without ASCII escapes."""
    return _text(value, lambda pairs: pairs)


def canonical(value: Any) -> str:
    """Return the one text of all values that differ only in the order of their keys."""
    return _text(value, sorted)


def plain(value: Any) -> Any:
    """Return a value whose numbers are Python's: what is stored is read again by another reader, and must be the same.

    A number that remembers its text has more digits than a float, and may mean another millisecond.
    """
    match value:
        case Number():
            return float(value)
        case dict():
            return {key: plain(item) for key, item in value.items()}
        case list():
            return [plain(item) for item in value]
    return value


def _decoded(text: bytes) -> str:
    try:
        decoded = text.decode()
    except UnicodeDecodeError as error:
        raise NoJson(f"it is not UTF-8: {error.reason} at byte {error.start}") from None
    if decoded.startswith(BOM):
        raise NoJson("it starts with a byte order mark")
    return decoded


def _integer(text: str) -> int | Number:
    _check_digits(text)
    return Number(text) if text == "-0" else int(text)


def _decimal(text: str) -> Number:
    _check_digits(text)
    number = Number(text)
    if isinf(number):
        raise NoJson(f"the number {text[:20]} is too large for most readers of JSON")
    return number


def _check_digits(text: str) -> None:
    if len(text) > MOST_DIGITS and sum(map(str.isdigit, text)) > MOST_DIGITS:
        raise NoJson(f"a number has more than {MOST_DIGITS} digits")


def _constant(name: str) -> None:
    raise NoJson(f"{name} is no JSON")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise NoJson(f"the key {json.dumps(twice)} comes twice in one object")
    return found


_DECODER = json.JSONDecoder(
    parse_int=cast(Callable[[str], int], _integer),
    parse_float=_decimal,
    parse_constant=_constant,
    object_pairs_hook=_object,
)


def _check(value: Any) -> None:
    """Refuse what is too deep, and texts that no UTF-8 can carry; level by level, so that no depth can hurt."""
    level, depth = [value], 0
    while level:
        depth += any(isinstance(node, dict | list) for node in level)
        if depth > DEEPEST:
            raise NoJson(f"it is nested more than {DEEPEST} levels deep")
        for node in level:
            if isinstance(node, str) and SURROGATE.search(node):
                raise NoJson("a text holds half of a surrogate pair")
        level = [child for node in level for child in _children(node)]


def _children(node: Any) -> Iterator[Any]:
    if isinstance(node, dict):
        yield from node
        yield from node.values()
    elif isinstance(node, list):
        yield from node


def _text(value: Any, order: Callable[[Any], Any]) -> str:
    parts: list[str] = []
    _emit(value, order, parts.append)
    return "".join(parts)


def _emit(value: Any, order: Callable[[Any], Any], emit: Callable[[str], None]) -> None:
    match value:
        case str():
            emit(encode_basestring(value))
        case None | bool():
            emit(CONSTANTS[value])
        case Number() | Raw():
            emit(value.text)
        case int() | float():
            emit(json.dumps(value, allow_nan=False))
        case dict():
            _emit_object(value, order, emit)
        case list() | tuple():
            _emit_array(value, order, emit)
        case _:
            raise TypeError(f"{type(value).__name__} has no JSON form")


def _emit_object(value: dict[str, Any], order: Callable[[Any], Any], emit: Callable[[str], None]) -> None:
    separator = "{"
    for key, item in order(value.items()):
        emit(f"{separator}{encode_basestring(key)}:")
        _emit(item, order, emit)
        separator = ","
    emit("}" if value else "{}")


def _emit_array(value: Sequence[Any], order: Callable[[Any], Any], emit: Callable[[str], None]) -> None:
    separator = "["
    for item in value:
        emit(separator)
        _emit(item, order, emit)
        separator = ","
    emit("]" if value else "[]")
