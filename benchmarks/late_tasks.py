"""Celery's side of `lateness`, in an environment of its own: the task, and the settings its documentation advises.

`task_acks_late`, since the task may run twice but must not be lost. The visibility timeout stays at its default of 30
minutes: longer than any `eta` here, as the documentation asks for. Remote control does not work over SQS.

`python -m benchmarks.late_tasks` sends what stands on its input.
"""

import json
import os
import sys
from datetime import UTC, datetime

from celery import Celery  # type: ignore[import-not-found]

from benchmarks.late_work import run

app = Celery("late", broker=os.environ["LATENESS_BROKER"])
app.conf.update(
    broker_transport_options={"is_secure": False, "region": os.environ["AWS_REGION"]},
    task_acks_late=True,
    task_ignore_result=True,
    worker_enable_remote_control=False,
)
task = app.task(name="late.run")(run)


def main() -> None:
    """Send a task for each job."""
    for job, due_at, waits in json.load(sys.stdin):
        task.apply_async((job, waits), eta=datetime.fromtimestamp(due_at, UTC))


if __name__ == "__main__":
    main()
