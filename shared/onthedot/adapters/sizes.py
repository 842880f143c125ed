"""How many bytes DynamoDB counts for an item, by which it charges every write.

Source: docs.aws.amazon.com/amazondynamodb, CapacityUnitCalculations: names and texts count their UTF-8 bytes, a number
about one byte for two digits and one more, a truth one (read 2026-11-29).
"""

from typing import Any

from onthedot.adapters.items import Item

UNIT = 1024
LIFE = 12 + 9 + 36 + 25 + 35 + 35 + 18 + 7
"""What a life adds: attempt, state's longest word, owner, lease, started_at, finished_at, expires_at, pinned."""
ENDING = 128
"""Left for a short result or error."""


def item_size(item: Item) -> int:
    """Return the size of an item of texts, numbers and truths. Units: bytes."""
    return sum(
        len(name.encode()) + _value_size(kind, inside) for name, value in item.items() for kind, inside in value.items()
    )


def fits_one_unit(item: Item) -> bool:
    """Tell whether a new job's item will cost one write unit for its whole life."""
    return item_size(item) + LIFE + ENDING <= UNIT


def _value_size(kind: str, value: Any) -> int:
    match kind:
        case "N":
            return len(value) // 2 + 2
        case "BOOL":
            return 1
    return len(value.encode())
