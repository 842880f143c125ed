"""Reads ledgers as the API shows them, in lines that people can compare."""

from typing import Any

from tests.support.lab import Lab

from onthedot import wiring
from onthedot.rules.instants import MILLISECOND
from onthedot.rules.ledger import Kind
from onthedot.steps.ledger import ledger_page

MANY = 100_000
DAY = len("2027-01-04T")


def rows(lab: Lab, name: str, **query: str) -> list[dict[str, Any]]:
    """Return the rows of a ledger, page by page."""
    answer = lab.call("GET", f"/schedules/{name}/ledger", **query)
    assert answer.status == 200, answer.body
    found: list[dict[str, Any]] = answer.body["items"]
    cursor = answer.body.get("next_cursor")
    return found + (rows(lab, name, **query | {"cursor": cursor}) if cursor else [])


def told(lab: Lab, name: str, **query: str) -> list[str]:
    """Return a line for each row: `08:05 dead: late`, or `08:06 to 08:09 (4) skipped: missed`."""
    return [line(row) for row in rows(lab, name, **query)]


def line(row: dict[str, Any]) -> str:
    """Return a row in words, without its date."""
    outcome = row["outcome"]
    when = _time(row["slot"]) if "slot" in row else f"{_time(row['from'])} to {_time(row['to'])} ({row['count']})"
    return f"{when} {outcome['kind']}{': ' + outcome['reason'] if 'reason' in outcome else ''}"


def assert_nothing_is_missing(lab: Lab, *names: str) -> None:
    """Look whether the ledger of each schedule that is or was there, or of these, knows what became of every slot."""
    for name in names or sorted({item["name"]["S"] for item in lab.items("SchedulesTable")}):
        assert lost(lab, name) == [], f"the ledger of {name} misses slots"


def lost(lab: Lab, name: str) -> list[tuple[str, str]]:
    """Return the first and last slot of each range that is missing; of a schedule that is forgotten, none is."""
    world = wiring.world()
    page = ledger_page(world, name, lab.now() - world.timing.retention - MILLISECOND, lab.now(), MANY)
    if page is None:
        return []
    assert page.next is None
    return [(str(row.first), str(row.last)) for row in page.rows if row.kind == Kind.MISSING]


def _time(text: str) -> str:
    return text[DAY:].removesuffix(":00Z")
