"""What must not change under stored data, and the rule by which it may: the committed snapshot of tables and queues.

Write it after a wanted change with `python -m tests.template.snapshot`; it refuses what one release cannot do.
"""

import json
from typing import Any, cast

from tests.template.expansion import ROOT, Template, expand

FILE = ROOT / "tests/snapshots/stateful_resources.json"
STATEFUL = ("AWS::DynamoDB::Table", "AWS::SQS::Queue")
INDEX = ("KeySchema", "Projection")

Snapshot = dict[str, dict[str, Any]]


def taken(template: Template) -> Snapshot:
    """Return what identifies each stateful resource and lays out its data."""
    return {name: _layout(it) for name, it in sorted(template.resources.items()) if it["Type"] in STATEFUL}


def committed() -> Snapshot:
    """Return the snapshot of the last change."""
    return cast("Snapshot", json.loads(FILE.read_text())) if FILE.exists() else {}


def faults(old: Snapshot, new: Snapshot) -> list[str]:
    """Say what one stack update from old to new would lose, or fail at."""
    lost = [
        f"{name} is gone or of another type: it would be replaced, empty" for name in old if not _same(old, new, name)
    ]
    both = [name for name in old if _same(old, new, name)]
    lost += [
        f"{name} has another key: it would be replaced, empty" for name in both if _key(old[name]) != _key(new[name])
    ]
    changed = [it for name in both for it in _index_changes(old[name], new[name])]
    if len(changed) > 1:
        lost.append(f"DynamoDB makes or drops one index in an update, not {len(changed)}: {', '.join(changed)}")
    return lost


def _layout(resource: dict[str, Any]) -> dict[str, Any]:
    if resource["Type"] != "AWS::DynamoDB::Table":
        return {"Type": resource["Type"]}
    table = resource["Properties"]
    indexes = {it["IndexName"]: {part: it[part] for part in INDEX} for it in table.get("GlobalSecondaryIndexes", [])}
    attributes = {it["AttributeName"]: it["AttributeType"] for it in table["AttributeDefinitions"]}
    layout = {"KeySchema": table["KeySchema"], "AttributeDefinitions": attributes, "GlobalSecondaryIndexes": indexes}
    return {"Type": resource["Type"]} | layout


def _same(old: Snapshot, new: Snapshot, name: str) -> bool:
    return name in new and new[name]["Type"] == old[name]["Type"]


def _key(layout: dict[str, Any]) -> list[tuple[str, str]]:
    """Return a table's key with the type of each attribute; both are fixed for its life."""
    return [
        (it["AttributeName"], layout["AttributeDefinitions"][it["AttributeName"]]) for it in layout.get("KeySchema", [])
    ]


def _index_changes(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Name each index made or dropped; one that differs is both."""
    before, after = old.get("GlobalSecondaryIndexes", {}), new.get("GlobalSecondaryIndexes", {})
    dropped = [f"-{name}" for name, index in before.items() if after.get(name) != index]
    made = [f"+{name}" for name, index in after.items() if before.get(name) != index]
    return dropped + made


def main() -> None:
    """Write the snapshot, unless one release could not make the change."""
    new = taken(expand())
    if wrong := faults(committed(), new):
        raise SystemExit("\n".join(wrong))
    FILE.write_text(json.dumps(new, indent=2) + "\n")


if __name__ == "__main__":
    main()
