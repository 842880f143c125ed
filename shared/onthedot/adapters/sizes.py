"""How many bytes DynamoDB counts for an item, by which it charges every write.

Source: docs.aws.amazon.com/amazondynamodb, CapacityUnitCalculations: names and texts count their UTF-8 bytes, a number
about one byte for two digits and one more (read 2026-11-29).
"""

from onthedot.adapters.items import Item

UNIT = 1024
LIFE = 12 + 9 + 36 + 25 + 35 + 35 + 18
"""What start and finish add: attempt, state's longest word, owner, lease, started_at, finished_at, expires_at."""
ENDING = 128
"""Left for a short result or error."""


def item_size(item: Item) -> int:
    """Return the size of an item of texts and numbers. Units: bytes."""
    return sum(
        len(name.encode()) + _value_size(kind, text) for name, value in item.items() for kind, text in value.items()
    )


def fits_one_unit(item: Item) -> bool:
    """Tell whether a new job's item will cost one write unit for its whole life."""
    return item_size(item) + LIFE + ENDING <= UNIT


def _value_size(kind: str, text: str) -> int:
    return len(text) // 2 + 2 if kind == "N" else len(text.encode())
