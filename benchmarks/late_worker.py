"""The worker of `lateness`: the template's, with a handler of its own, and a line for each message it is given."""

from typing import Any

from tests.races.journal import note

import worker
from benchmarks.late_work import run
from onthedot import Job
from onthedot import handler as named
from onthedot.messages import read_job


@named("late.run", timeout=5)
def late(job: Job) -> None:
    """Do what the jobs of both systems do."""
    run(job.id, job.payload)


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Note when each message was sent and received, then work on it."""
    for record in event["Records"]:
        entry, told = read_job(record["body"]), record["attributes"]
        if entry:
            sent, received = (int(told[key]) / 1000 for key in ("SentTimestamp", "ApproximateFirstReceiveTimestamp"))
            note("taken", job=entry.schedule.removeprefix("job#"), sent=sent, received=received)
    answer: dict[str, Any] = worker.handler(event, context)
    return answer
