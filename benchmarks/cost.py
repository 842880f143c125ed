"""The tables of `docs/cost.md`: `python -m benchmarks.cost` writes them there, in place of what stands there."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from benchmarks import ROOT, uses
from benchmarks.counts import JOB_UNITS, SLOT_UNITS
from benchmarks.prices import (
    MILLION,
    PRICES,
    WRITE_UNIT_HOUR,
    Amounts,
    Item,
    beyond_free,
    dollars,
    summed,
    times,
)

PAGE = ROOT / "docs/cost.md"
COLUMNS: Mapping[str, Sequence[Item]] = {
    "API Gateway, Scheduler": (Item.GATEWAY, Item.SCHEDULER),
    "Lambda": (Item.INVOCATIONS, Item.GB_SECONDS),
    "DynamoDB": (Item.WRITES, Item.READS, Item.STORED, Item.BACKUP),
    "SQS": (Item.QUEUES,),
    "logs": (Item.LOGS, Item.LOGS_KEPT),
}
SINGLE, BATCH = "jobs, one request each", "jobs, 500 in a request"
LIBRARY, DYNEIN = "jobs, straight from the library", "*Dynein's protocol*: jobs, its servers apart"
SCHEDULER = "*EventBridge Scheduler*: jobs, or slots"
WAYS: Mapping[str, Amounts] = {
    SINGLE: summed(uses.create_single("create, near"), uses.run_job()),
    "the same, due in more than 15 minutes": summed(
        uses.create_single("create, far"), uses.hand_over(), uses.run_job()
    ),
    BATCH: summed(uses.create_in_batch(), uses.run_job()),
    LIBRARY: summed(uses.create_by_library("create, near"), uses.run_job()),
    "failed attempts, each followed by another": uses.fail_once(),
    "slots, each alone in its shard's minute": summed(uses.plan_alone(), uses.run_slot()),
    "slots, of 100 schedules on one minute": summed(uses.plan_one_of_page(), uses.run_slot()),
    "slots of one schedule, 97 at once (backfill)": summed(uses.plan_one_of_chunk(), uses.run_slot()),
    SCHEDULER: uses.scheduler_alone(),
    DYNEIN: uses.claim_send_delete(),
}
COUNTED = (Item.WRITES, Item.READS, Item.QUEUES, Item.INVOCATIONS, Item.GB_SECONDS, Item.LOGS)
MONTHS = (10_000, 100_000, MILLION, 10 * MILLION)
SHARDS = (1, uses.SHARDS, 16)
UTILIZED = (1.0, 0.7, 0.5, 0.25, 0.1)


def main() -> None:
    """Write the tables into the page."""
    PAGE.write_text(written(PAGE.read_text()))


def written(page: str) -> str:
    """Return the page with its tables as they are now."""
    for name, table in TABLES.items():
        page, found = re.subn(rf"(<!-- {name} -->\n).*?(<!-- end -->\n)", _between(table()), page, flags=re.DOTALL)
        assert found == 1, f"the page has its table {name} once"
    return page


def million() -> str:
    """Return what a million cost, nothing being free."""
    rows = []
    for name, use in WAYS.items():
        parts = [dollars(use, *items) * MILLION for items in COLUMNS.values()]
        rows.append([name, *map(_money, parts), f"**{_money(sum(parts))}**"])
    return _table(["a million", *COLUMNS, "in all"], rows)


def counted() -> str:
    """Return what one of each uses, on which the prices are."""
    heads = ["one of", "write units", "read units", "SQS requests", "invocations", "GB-ms", "bytes logged"]
    scales = (1, 1, 1, 1, 1_000, uses.GB)
    rows = [
        [name, *(_number(use.get(item, 0) * scale) for item, scale in zip(COUNTED, scales, strict=True))]
        for name, use in WAYS.items()
    ]
    return _table(heads, rows)


def idle() -> str:
    """Return what each item of an idle month comes to."""
    use = uses.idle_month(uses.SHARDS)
    rows = [
        [item, _number(use[item]), _money(dollars(use, item)), _money(beyond_free(use, item))]
        for item in Item
        if use.get(item)
    ]
    rows.append(["**in all**", "", f"**{_money(dollars(use))}**", f"**{_money(beyond_free(use))}**"])
    alarms = {Item.ALARMS: uses.ALARMS}
    rows.append([f"alarms ({uses.ALARMS})", "", _money(dollars(alarms)), _money(beyond_free(alarms))])
    return _table(["an idle month", "amount", "dollars", "beyond what is free"], rows)


def shards() -> str:
    """Return what an idle month costs with more shards, or one."""
    months = {count: uses.idle_month(count) for count in SHARDS}
    rows = [[str(count), _money(dollars(use)), _money(beyond_free(use))] for count, use in months.items()]
    return _table(["`Shards`", "an idle month", "beyond what is free"], rows)


def months() -> str:
    """Return what whole months cost, beside the Scheduler's."""
    rows = []
    for jobs in MONTHS:
        single, batch = (summed(uses.idle_month(uses.SHARDS), times(WAYS[way], jobs)) for way in (SINGLE, BATCH))
        scheduler = times(WAYS[SCHEDULER], jobs)
        bills = [beyond_free(use) for use in (single, batch, scheduler)]
        rows.append([f"{jobs:,}", *map(_money, bills)])
    return _table(["jobs in a month", "one request each", "500 in a request", "*EventBridge Scheduler*"], rows)


def provisioned() -> str:
    """Return what the write units of a million cost by the hour."""
    job, slot = sum(JOB_UNITS.values()), sum(SLOT_UNITS.values())
    rows = [["on demand", *(_money(dollars({Item.WRITES: MILLION * units})) for units in (1, job, slot))]]
    for part in UTILIZED:
        bought = MILLION / 3_600 * WRITE_UNIT_HOUR / part
        rows.append([f"provisioned, {part:.0%} of it used", *(_money(bought * units) for units in (1, job, slot))])
    return _table(["", "a million write units", "a million jobs", "a million slots"], rows)


def prices() -> str:
    """Return every price, and who says so."""
    rows = []
    for item, price in PRICES.items():
        each = "" if price.each == 1 else f" a {'million' if price.each == MILLION else price.each}"
        free = f"{price.free:,}" if price.free else ""
        rows.append([item, f"{_digits(price.dollars)}{each}", free, price.source])
    return _table(["what", "dollars", "free in a month", "source"], rows)


TABLES: Mapping[str, Callable[[], str]] = {
    table.__name__: table for table in (million, months, idle, shards, counted, provisioned, prices)
}


def _between(table: str) -> Callable[[re.Match[str]], str]:
    return lambda found: f"{found[1]}{table}{found[2]}"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    rule = ["---", *["---:"] * (len(heads) - 1)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (heads, rule, *rows))


def _money(amount: float) -> str:
    return f"{amount:.2f}"


def _number(amount: float) -> str:
    return f"{amount:,.0f}" if amount >= 100 else f"{amount:.3g}"


def _digits(amount: float) -> str:
    return f"{amount:.10f}".rstrip("0") if amount < 0.01 else f"{amount:.3g}"


if __name__ == "__main__":
    main()
