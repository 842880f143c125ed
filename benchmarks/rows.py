"""A row of the table: what was measured, beside what, in the same run.

Ways that are compared take turns, round after round, so that whatever disturbs the machine disturbs all of them.
"""

import gc
import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

RESULTS = Path(__file__).parent / "results.jsonl"

Way = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Row:
    """A figure; `ratio` is the figure divided by that of what stands `beside` it, in the same run."""

    name: str
    value: float
    unit: str
    beside: str
    ratio: float


def compared(name: str, unit: str, rounds: int, ours: Way, **others: Way) -> list[Row]:
    """Let all take turns; return a row for each of the others, by medians of values and of the rounds' ratios."""
    found = [[way() for way in (ours, *others.values())] for _ in range(rounds)]
    value = median(each[0] for each in found)
    return [
        Row(name, value, unit, other.replace("_", "-"), median(each[0] / each[place] for each in found))
        for place, other in enumerate(others, start=1)
    ]


def per_cpu_second(count: int, work: Callable[[], object]) -> float:
    """Return how many of what `work` does, `count` in all, one CPU second would do; all threads count."""
    gc.collect()
    begun = time.process_time()
    work()
    return count / (time.process_time() - begun)


def slope(rows: Sequence[Row]) -> Row:
    """Return how the last of some rows, with the most jobs, does beside the first: 1 is a straight line."""
    first, last = rows[0], rows[-1]
    return Row(last.name, last.value, last.unit, first.name, last.value / first.value)


def show(rows: Iterable[Row]) -> None:
    """Print the table."""
    table = Table("what", "figure", "unit", "beside", "which has", "ratio")
    for column in (1, 3, 5):
        table.columns[column].justify = "right"
    for row in rows:
        figures = [_short(row.value), row.unit, row.beside, _short(row.value / row.ratio if row.ratio else 0)]
        table.add_row(row.name, *figures, f"{row.ratio:.2f}")
    Console(width=140).print(table)


def save(rows: Sequence[Row]) -> None:
    """Write the rows, in place of those of the same kinds; the figures of other kinds stay."""
    kinds = {_kind(row.name) for row in rows}
    kept = [row for row in read() if _kind(row.name) not in kinds]
    RESULTS.write_text("".join(f"{json.dumps(asdict(row))}\n" for row in sorted([*kept, *rows], key=_place)))


def read() -> list[Row]:
    """Return the rows of the last run."""
    lines = RESULTS.read_text().splitlines() if RESULTS.exists() else []
    return [Row(**json.loads(line)) for line in lines]


def _kind(name: str) -> str:
    return name.partition(",")[0]


def _place(row: Row) -> str:
    return _kind(row.name)


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
