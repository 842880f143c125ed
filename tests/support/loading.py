"""Makes the labs quick: what AWS's models say is read once, and a transaction copies what it writes, not its tables."""

import copy as copying
from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import Any

from botocore.loaders import JSONFileLoader
from moto.dynamodb import models
from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.models.dynamo_type import DynamoType
from moto.dynamodb.models.table import Table

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


JSONFileLoader.load_file = load_file  # type: ignore[method-assign, assignment]
DynamoDBBackend.transact_write_items = transact_write_items  # type: ignore[method-assign, assignment]
models.copy = SimpleNamespace(deepcopy=_deepcopy)  # type: ignore[assignment, attr-defined]
