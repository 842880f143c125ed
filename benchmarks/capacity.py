"""`python -m benchmarks.capacity`: simulate what AWS's limits let through, print the tables, and renew docs/scale.md.

The simulation is in `scale/`; what it takes from `results.jsonl` follows each `make bench`.
"""

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from benchmarks.scale.measured import Measured, measured
from benchmarks.scale.tables import LOADS, advice, ceilings, scenario

PAGE = Path(__file__).parents[1] / "docs" / "scale.md"
TABLES: Mapping[str, Callable[[Measured], str]] = {
    "ceilings": ceilings,
    "advice": advice,
    **{name: partial(scenario, load) for name, load in LOADS.items()},
}
MARKED = re.compile(r"(?<=<!-- computed: )(?P<name>\w+)( -->\n)(?P<table>.*?)(?=\n<!-- end -->)", re.DOTALL)


def tables() -> dict[str, str]:
    """Return the tables as they stand on the page, by name."""
    return {found["name"]: found["table"] for found in MARKED.finditer(PAGE.read_text("utf-8"))}


def main() -> None:
    """Compute all tables anew."""
    costs = measured()
    computed = {name: table(costs) for name, table in TABLES.items()}
    for name, table in computed.items():
        print(f"{name}\n{table}\n")  # noqa: T201
    page = MARKED.sub(lambda found: found["name"] + found[2] + computed[found["name"]], PAGE.read_text("utf-8"))
    PAGE.write_text(page, "utf-8")


if __name__ == "__main__":
    main()
