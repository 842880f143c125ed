"""Indexes that are behind their table: each write is seen in them a while after it was done."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from moto.dynamodb.models import dynamodb_backends
from moto.dynamodb.models.dynamo_type import DynamoType, Item
from moto.dynamodb.models.table import Table
from tests.support.lab import ACCOUNT, REGION

WRITES = {"PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "BatchWriteItem"}
Key = tuple[str, DynamoType, DynamoType]


@dataclass(frozen=True, slots=True)
class Write:
    """One write of an item: what was there before, and from when on the indexes know."""

    key: Key
    before: Item | None
    after: Item | None
    seen_at: datetime


@dataclass(slots=True)
class Indexes:
    """The writes that not every index may have seen yet. Units: at most `lag` seconds behind."""

    lag: int
    chance: Random
    unseen: list[Write] = field(default_factory=list)

    def write(self, operation: str, arguments: dict[str, Any], do: Callable[[], Any]) -> Any:
        """Do a write, and note what it changes."""
        keys = [key for key in _keys(operation, arguments) if key is not None] if self.lag else []
        before = [_now(key) for key in keys]
        try:
            return do()
        finally:
            seen_at = datetime.now(UTC) + timedelta(seconds=self.chance.random() ** 3 * self.lag)
            self.unseen += [Write(key, old, _now(key), seen_at) for key, old in zip(keys, before, strict=True)]

    @contextmanager
    def behind(self) -> Iterator[None]:
        """Let the tables be as their indexes know them."""
        now = datetime.now(UTC)
        self.unseen = [write for write in self.unseen if write.seen_at > now - timedelta(seconds=self.lag)]
        hidden = {write.key: write for write in reversed(self.unseen) if write.seen_at > now}
        real = {key: _table(key).items[key[1]].get(key[2]) for key in hidden}
        for key in hidden:
            _put(key, self._seen(key, now))
        try:
            yield
        finally:
            for key, item in real.items():
                _put(key, item)

    def _seen(self, key: Key, now: datetime) -> Item | None:
        """Return what the indexes know of an item: its last write that they have seen, or what was before all."""
        writes = [write for write in self.unseen if write.key == key]
        seen = [write.after for write in writes if write.seen_at <= now]
        return seen[-1] if seen else writes[0].before


def _keys(operation: str, arguments: dict[str, Any]) -> Iterator[Key | None]:
    match operation:
        case "PutItem":
            yield _key(arguments["TableName"], arguments["Item"])
        case "UpdateItem" | "DeleteItem":
            yield _key(arguments["TableName"], arguments["Key"])
        case "TransactWriteItems":
            for action in arguments["TransactItems"]:
                write = next(iter(action.values()))
                yield _key(write["TableName"], write.get("Item") or write["Key"])
        case "BatchWriteItem":
            for table, requests in arguments["RequestItems"].items():
                for request in requests:
                    write = next(iter(request.values()))
                    yield _key(table, write.get("Item") or write["Key"])


def _key(name: str, item: dict[str, Any]) -> Key | None:
    """Return the key of an item, where its table has indexes."""
    table = dynamodb_backends[ACCOUNT][REGION].tables[name]
    if table.range_key_attr is None:
        return None
    return name, DynamoType(item[table.hash_key_attr]), DynamoType(item[table.range_key_attr])


def _table(key: Key) -> Table:
    return dynamodb_backends[ACCOUNT][REGION].tables[key[0]]


def _now(key: Key) -> Item | None:
    item = _table(key).items.get(key[1], {}).get(key[2])
    if item is None:
        return None
    same: Item = copy(item)
    same.attrs = dict(item.attrs)  # type: ignore[assignment]
    return same


def _put(key: Key, item: Item | None) -> None:
    row = _table(key).items[key[1]]
    if item is None:
        row.pop(key[2], None)
    else:
        row[key[2]] = item
