"""What it costs to read a month's ledger of a schedule of every minute: its slots all have jobs, or all were skipped.

`python -m benchmarks.ledger` prints a line of JSON for each. Queries for jobs and their bytes are counted, on a world
in memory; read units are what DynamoDB charges for them: one for 4 KB of a strongly consistent query. Each answer reads
the schedule and its past besides. CPU is that of the whole answers, and of counting.
"""

import json
import sys
import time
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from tests.unit.http.memory import START, Api

from onthedot.adapters.items import item_of
from onthedot.adapters.sizes import item_size
from onthedot.rules.jobs import Job, State
from onthedot.rules.missed import Planned
from onthedot.rules.planning import job_of
from onthedot.rules.reading import read_fields
from onthedot.rules.slots import slots
from onthedot.rules.transitions import ended

DAYS = 29
UNIT = 4_096


@dataclass(slots=True)
class Meter:
    """The jobs of one schedule, in order; counts what reading them would cost."""

    jobs: Sequence[Job] = ()
    keys: list[str] = field(default_factory=list)
    calls: int = 0
    units: int = 0

    def of_schedule(self, _: str, after: str, limit: int) -> list[Job]:
        """Return the jobs whose slot is greater, at most so many."""
        first = bisect_right(self.keys, after)
        found = list(self.jobs[first : first + limit])
        self.calls += 1
        self.units += -(-sum(item_size(item_of(job, 4)) for job in found) // UNIT)
        return found


def main() -> None:
    """Print what both months cost."""
    for kind in ("jobs", "skipped"):
        api = Api()
        api.call("PUT", "/schedules/s", {"cron": "* * * * *", "handler": "report"})
        if kind == "skipped":
            api.call("POST", "/schedules/s/pause", {})
        api.clock.time += timedelta(days=DAYS)
        meter = Meter(_jobs(api)) if kind == "jobs" else Meter()
        meter.keys = [job.slot for job in meter.jobs]
        api.world = replace(api.world, indexes=meter)  # type: ignore[arg-type]
        sys.stdout.write(json.dumps({"slots": kind, **_read(api, meter)}) + "\n")


def _jobs(api: Api) -> list[Job]:
    """Return a job for each minute, which has succeeded."""
    schedule = api.schedules.rows["s"]
    definition = read_fields("s", schedule.fields, schedule.created_at)
    assert not isinstance(definition, str)
    now = api.clock.time
    api.schedules.rows["s"] = replace(schedule, planned_until=now)
    found = []
    for slot in slots(definition.timetable, START, now):
        job = replace(
            job_of(schedule, definition, Planned(slot, slot.instant), slot.instant), attempt=1, owner="0" * 24
        )
        done = ended(job, State.SUCCEEDED, slot.instant, timedelta(days=30), result="null")
        found.append(replace(done, started_at=slot.instant))
    return found


def _read(api: Api, meter: Meter) -> dict[str, Any]:
    rows = answers = 0
    query, began = {"limit": "100"}, time.process_time()
    while True:
        body = api.call("GET", "/schedules/s/ledger", query=query).body
        rows, answers = rows + len(body["items"]), answers + 1
        if "next_cursor" not in body:
            break
        query["cursor"] = body["next_cursor"]
    seconds = round(time.process_time() - began, 2)
    return {"rows": rows, "answers": answers, "queries": meter.calls, "units": meter.units, "cpu_seconds": seconds}


if __name__ == "__main__":
    main()
