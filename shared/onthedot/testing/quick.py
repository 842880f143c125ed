"""What makes labs quick, and nothing else: each answer is the one that moto gives by itself.

What AWS's models say is read once, and so is an expression; a transaction copies what it writes, not its tables; an
attribute is written down as it is, without a search for what else it may be called.
"""

import copy as copying
import json
from collections import deque
from collections.abc import Callable
from functools import cache, lru_cache
from types import SimpleNamespace
from typing import Any, cast

from botocore.loaders import JSONFileLoader
from moto import backend_index
from moto.core import models as mocks
from moto.core import responses, utils
from moto.core.serialize import BaseJSONSerializer
from moto.dynamodb import models
from moto.dynamodb.comparisons import ConditionExpressionParser
from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.models.dynamo_type import DynamoType, Item
from moto.dynamodb.models.table import Table
from moto.dynamodb.parsing import ast_nodes, expressions, validators
from moto.sqs import models as sqs
from moto.sqs.models import Message, Queue

SERVICES = ("dynamodb", "sqs")
"""Who gets nearly all calls, so their addresses are tried first."""
NODE, UPDATES = vars(ast_nodes)["Node"], vars(expressions)["UpdateExpressionParser"]
PLAIN = ("S", "N", "BOOL", "NULL")

_read_once = cache(JSONFileLoader().load_file)
_transact = DynamoDBBackend.transact_write_items


def load_file(_: JSONFileLoader, path: str) -> Any:
    """Return what a file holds."""
    return _read_once(path)


def transact_write_items(backend: DynamoDBBackend, transact_items: list[dict[str, Any]]) -> None:
    """Do all writes or none, as moto does, but take back only what was written."""
    undo = [_undoing(backend, *next(iter(item.items()))) for item in transact_items]
    try:
        _transact(backend, transact_items)
    except Exception:
        for taken_back in undo:
            taken_back()
        raise


def _undoing(backend: DynamoDBBackend, kind: str, facts: dict[str, Any]) -> Callable[[], None]:
    table = backend.get_table(facts["TableName"])
    written = facts["Item"] if kind == "Put" else facts["Key"]
    first, second = DynamoType(written[table.hash_key_attr]), DynamoType(written[str(table.range_key_attr)])
    before = copying.deepcopy(table.get_item(first, second))

    def undo() -> None:
        if before is None:
            table.items.get(first, {}).pop(second, None)
        else:
            table.items[first][second] = before

    return undo


def _deepcopy(whole: Any) -> Any:
    return whole if isinstance(whole, Table) else copying.deepcopy(whole)


_size, _structure = DynamoType.size, BaseJSONSerializer._serialize_type_structure


def structure(serializer: Any, serialized: dict[str, Any], value: Any, shape: Any, key: str) -> None:
    """Write down a structure; of an attribute's value, which has one of ten types, all ten would be asked for."""
    if shape.name == "AttributeValue" and len(value) == 1 and next(iter(value)) in PLAIN:
        serialized[key] = dict(value)
    else:
        _structure(serializer, serialized, value, shape, key)


_parse, _lex = ConditionExpressionParser.parse, ConditionExpressionParser._lex_condition_expression


def parse(parser: ConditionExpressionParser) -> Any:
    """Return what a condition means; moto asks up to three times in one call."""
    if not parser.condition_expression:
        return _parse(parser)
    said = parser.expression_attribute_names, parser.expression_attribute_values
    op, names, values = _parsed(parser.condition_expression, *map(json.dumps, said))
    parser.expr_attr_names_found += names
    parser.expr_attr_values_found += values
    return op


@lru_cache(maxsize=64)
def _parsed(expression: str | None, names: str, values: str) -> tuple[Any, list[str], list[str]]:
    parser = ConditionExpressionParser(expression, json.loads(names), json.loads(values))
    return _parse(parser), parser.expr_attr_names_found, parser.expr_attr_values_found


def lex(parser: ConditionExpressionParser) -> deque[Any]:
    """Return the words of a condition."""
    return deque(_words(parser.condition_expression))


@cache
def _words(expression: str) -> tuple[Any, ...]:
    return tuple(_lex(ConditionExpressionParser(expression, None, None)))


def copied(node: Any) -> Any:
    """Return a copy of an expression, of which moto changes a copy each time."""
    if not isinstance(node, NODE):
        return node
    copy: Any = object.__new__(type(node))
    copy.__dict__ |= node.__dict__ | {"parent": None}
    if node.children is not None:
        copy.children = [copied(child) for child in node.children]
        for child in copy.children:
            if isinstance(child, NODE):
                child.parent = copy
    return copy


def deepcopy(whole: Any) -> Any:
    """Return a copy of an expression, or of a value in it."""
    return copied(whole) if isinstance(whole, NODE) else copying.deepcopy(whole)


def walk(traverser: Any, node: Any, place: int = -1) -> Any:
    """Return an expression with each of its parts processed; at each, moto asks anew what is to be done with which."""
    return _walk(traverser, traverser._processing_map(), node, place)


def _walk(traverser: Any, processors: dict[type, Callable[[Any], Any]], node: Any, place: int) -> Any:
    if not isinstance(node, NODE):
        return node
    for number, child in enumerate(node.children or ()):
        traverser.pre_processing_of_child(node, number)
        _walk(traverser, processors, child, number)
    kind = _kind(tuple(processors), node.__class__)
    if kind is None:
        return node
    parent, node = node.parent, processors[kind](node)
    node.parent = parent
    if parent:
        parent.children[place] = node
    return node


@cache
def _kind(kinds: tuple[type, ...], of: type) -> type | None:
    return next((kind for kind in kinds if issubclass(of, kind)), None)


def clauses_counted(validator: Any, whole: Any) -> Any:
    """Return an expression with no clause twice; moto counts in its parts as well, where fewer are."""
    return validator.verify_action_counts(whole)


def paths_compared(validator: Any, whole: Any) -> Any:
    """Return an expression that names no path twice; moto compares in its parts as well, where fewer are."""
    return validator.check_for_overlapping_paths(whole)


_cast = vars(DynamoType)["cast_value"].fget


def cast_value(value: DynamoType) -> Any:
    """Return what a value is in Python; asked of both keys of every item wherever a table is read."""
    return value.value if value.type == "S" else _cast(value)


def equal(one: DynamoType, other: DynamoType) -> bool:
    """Tell whether two values are the same; asked of every item of a table at each query."""
    if one.type == other.type == "S":
        return bool(one.value == other.value)
    return one.type == other.type and bool(one.cast_value == other.cast_value)


def earlier(one: DynamoType, other: DynamoType) -> bool:
    """Tell whether a value comes first; asked of every item that a query finds."""
    return bool(one.value < other.value if one.type == other.type == "S" else one.cast_value < other.cast_value)


def size(value: DynamoType) -> int:
    """Return how many bytes a value has; asked of all that an item has at each that it gets."""
    return len(value.value.encode()) if value.type == "S" else _size(value)


def all_items(table: Table) -> list[Item]:
    """Return all items of a table by their keys; each copy is one step, since other threads may write meanwhile."""
    rows = list(table.items.values())
    if not table.range_key_attr:
        return sorted(cast(list[Item], rows), key=lambda item: item.hash_key.cast_value)
    items = [item for row in rows for item in list(row.values())]
    return sorted(items, key=lambda item: (item.hash_key.cast_value, cast(DynamoType, item.range_key).cast_value))


def ready(queue: Queue) -> list[Message]:
    """Return the messages that can be received now; like the next two, asked for at each message that is sent."""
    now = utils.unix_time_millis()
    return [each for each in queue._messages if now > each.visible_at and now >= each.delayed_until]


def delayed(queue: Queue) -> int:
    """Return how many messages wait for their delay."""
    now = utils.unix_time_millis()
    return sum(now < each.delayed_until for each in queue._messages)


def invisible(queue: Queue) -> int:
    """Return how many messages were received and are not yet seen again."""
    now = utils.unix_time_millis()
    return sum(now <= each.visible_at for each in queue._messages)


def _rarely_called(pattern: tuple[str, Any]) -> bool:
    return pattern[0] not in SERVICES


QUICKER: tuple[tuple[Any, str, Any], ...] = (
    (JSONFileLoader, "load_file", load_file),
    (mocks, "CallbackResponse", cache(vars(mocks)["CallbackResponse"])),
    (DynamoDBBackend, "transact_write_items", transact_write_items),
    (models, "copy", SimpleNamespace(deepcopy=_deepcopy)),
    (Table, "all_items", all_items),
    (DynamoType, "cast_value", property(cast_value)),
    (DynamoType, "__eq__", equal),
    (DynamoType, "__lt__", earlier),
    (DynamoType, "size", size),
    (BaseJSONSerializer, "_serialize_type_structure", structure),
    (ConditionExpressionParser, "parse", parse),
    (ConditionExpressionParser, "_lex_condition_expression", lex),
    (UPDATES, "make", cache(UPDATES.make)),
    (validators, "deepcopy", deepcopy),
    (vars(ast_nodes)["DepthFirstTraverser"], "traverse_node_recursively", walk),
    (validators.ActionCountValidator, "traverse", clauses_counted),
    (validators.OverlappingPathsValidator, "traverse", paths_compared),
    (Queue, "messages", property(ready)),
    (Queue, "approximate_number_of_messages_delayed", property(delayed)),
    (Queue, "approximate_number_of_messages_not_visible", property(invisible)),
    (responses, "method_names_from_class", cache(utils.method_names_from_class)),
    (responses, "camelcase_to_underscores", cache(utils.camelcase_to_underscores)),
    (sqs, "camelcase_to_underscores", cache(utils.camelcase_to_underscores)),
    (backend_index, "backend_url_patterns", sorted(backend_index.backend_url_patterns, key=_rarely_called)),
)
