"""How late jobs start on a running stack: 100 jobs due at seconds of their own.

`ONTHEDOT_URL=... python -m benchmarks.lateness`, with AWS credentials in the environment, prints one line of JSON.
"""

import json
import sys
import time
from datetime import UTC, datetime, timedelta
from statistics import quantiles
from typing import Any

from onthedot.client import Client

JOBS = 100
LEAD = timedelta(seconds=15)
PATIENCE_SECONDS = 60


def main() -> None:
    """Create the jobs, wait for them, and print how late they started."""
    client = Client.from_environment()
    group = f"lateness-{datetime.now(UTC):%H%M%S}"
    first = datetime.now(UTC).replace(microsecond=0) + LEAD
    jobs = [
        {"handler": "example.echo", "group": group, "run_at": (first + timedelta(seconds=number)).isoformat()}
        for number in range(JOBS)
    ]
    results = client.call("POST", "/jobs/batch", {"jobs": jobs}).body["results"]
    assert all(result["status"] == 201 for result in results), results
    time.sleep((first + timedelta(seconds=JOBS) - datetime.now(UTC)).total_seconds())
    late = sorted(job["late_seconds"] for job in ended(client, group))
    percentiles = quantiles(late, n=100, method="inclusive")
    figures = {"jobs": len(late), "p50": percentiles[49], "p95": percentiles[94], "p99": percentiles[98]}
    sys.stdout.write(json.dumps({"name": "lateness", "unit": "s", **figures, "max": late[-1]}) + "\n")


def ended(client: Client, group: str) -> list[dict[str, Any]]:
    """Return the group's jobs when all have succeeded."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        page = client.call("GET", "/jobs", query={"group": group, "limit": str(JOBS)}).body
        done = [job for job in page["items"] if job["state"] == "succeeded"]
        if len(done) == JOBS:
            return done
        assert time.monotonic() < deadline, f"{JOBS - len(done)} jobs have not succeeded"
        time.sleep(1)


if __name__ == "__main__":
    main()
