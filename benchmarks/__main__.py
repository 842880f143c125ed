"""`python -m benchmarks [KIND ...]`: measure all kinds, or some, print one table and write `results.jsonl`."""

import sys
from importlib import import_module

from benchmarks.rows import Row, save, show

KINDS = (
    *("hand-over", "planning", "one-minute", "worker", "create", "idle", "next-slot", "cold-start"),
    *("lateness", "punctuality"),
)


def main() -> None:
    """Measure what was asked for, and print it."""
    asked = sys.argv[1:] or list(KINDS)
    if unknown := set(asked) - set(KINDS):
        sys.exit(f"no such kind: {', '.join(sorted(unknown))}; there are {', '.join(KINDS)}")
    found: list[Row] = []
    for kind in asked:
        rows: list[Row] = import_module(f"benchmarks.{kind.replace('-', '_')}").rows()
        save(rows)
        found += rows
    show(found)
    print("`make capacity` computes docs/scale.md anew with these.")  # noqa: T201


if __name__ == "__main__":
    main()
