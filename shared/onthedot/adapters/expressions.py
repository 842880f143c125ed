"""Update and condition expressions, written so that no name of ours can collide with DynamoDB's reserved words."""

from dataclasses import dataclass, field
from typing import Any

from onthedot.adapters.items import Item


@dataclass(slots=True)
class Expression:
    """Collects the names and values of one call, and gives each its placeholder."""

    names: dict[str, str] = field(default_factory=dict)
    values: dict[str, dict[str, Any]] = field(default_factory=dict)

    def name(self, attribute: str) -> str:
        """Return the placeholder of an attribute's name."""
        self.names[f"#{attribute}"] = attribute
        return f"#{attribute}"

    def value(self, value: dict[str, Any]) -> str:
        """Return the placeholder of a value, such as `{"S": "text"}`."""
        placeholder = f":v{len(self.values)}"
        self.values[placeholder] = value
        return placeholder

    def is_as(self, attribute: str, item: Item) -> str:
        """Return the condition that an attribute is as in `item`, or absent if it is absent there."""
        if attribute not in item:
            return f"attribute_not_exists({self.name(attribute)})"
        return f"{self.name(attribute)} = {self.value(item[attribute])}"

    def of_partition(self, attribute: str, key: str) -> str:
        """Return the condition that a query reads this partition."""
        return f"{self.name(attribute)} = {self.value({'S': key})}"

    def between(self, attribute: str, low: str, high: str) -> str:
        """Return what goes on with the condition: the bounds, both of them inside."""
        return f" AND {self.name(attribute)} BETWEEN {self.value({'S': low})} AND {self.value({'S': high})}"

    def changes(self, before: Item, after: Item) -> str:
        """Return the update that makes `before` into `after`; never an empty one, which DynamoDB refuses."""
        changed = [key for key in after if after[key] != before.get(key)]
        removes = [self.name(key) for key in before if key not in after]
        if not changed and not removes:
            changed = ["state"]
        sets = [f"{self.name(key)} = {self.value(after[key])}" for key in changed]
        return " ".join(
            word for word in (sets and f"SET {', '.join(sets)}", removes and f"REMOVE {', '.join(removes)}") if word
        )

    def arguments(self) -> dict[str, Any]:
        """Return the call's arguments for the placeholders that were used."""
        found: dict[str, Any] = {"ExpressionAttributeNames": self.names, "ExpressionAttributeValues": self.values}
        return {name: value for name, value in found.items() if value}
