"""What `make run` shows: three jobs, due in seconds, in minutes and in a month, and what becomes of each."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from botocore.exceptions import HTTPClientError
from rich.console import Console
from rich.live import Live
from rich.table import Column, Table

from local import account
from local.progress import Failure
from onthedot.client import Client, path_to

FIRST_SECONDS = 60
PAUSE_SECONDS = (0.5, 2.0)  # between two looks, before and after the first job's outcome
OUTCOMES = ("succeeded", "dead", "cancelled", "skipped")

Job = dict[str, Any]
"""A job as the API answers it."""


@dataclass(frozen=True, slots=True)
class Stop:
    """A job of the tour: when it is due, and the way it takes until then."""

    due: str
    delay: int
    way: str


STOPS = (
    Stop("in 4 seconds", 4, "in SQS already, with that delay"),
    Stop("in 10 minutes", 600, "in SQS already, with that delay"),
    Stop("in 30 days", 30 * 86400, "in DynamoDB until its last minutes"),
)


def guide(client: Client, console: Console, *, once: bool) -> None:
    """Create the jobs and show what becomes of them: until the first has succeeded with `once`, else without end.

    Raises: Failure when the first ends otherwise, or has no outcome after a minute.
    """
    _explain(client, console)
    jobs = [_create(client, stop) for stop in STOPS]
    deadline = time.monotonic() + FIRST_SECONDS
    with _screen(console) as draw:
        while True:
            jobs = [_look(client, job) for job in jobs]
            draw(jobs)
            if _has_succeeded(jobs[0], deadline) and once:
                return
            time.sleep(PAUSE_SECONDS[jobs[0]["state"] in OUTCOMES])


def _explain(client: Client, console: Console) -> None:
    call = f'curl --aws-sigv4 "aws:amz:{account.REGION}:execute-api" --user {account.ID}:{account.SECRET}'
    request = """'{"handler": "example.echo", "payload": "hello", "delay": 5}'"""
    for line in (
        f"The API is at {client.url}",
        "Calls are signed (SigV4). Make a job of your own, and list those that wait:",
        f"  {call} {client.url}/jobs -d {request}",
        f"  {call} {client.url}/jobs",
        "",
    ):
        console.print(line, soft_wrap=True, markup=False, highlight=False)


def _create(client: Client, stop: Stop) -> Job:
    request = {"handler": "example.echo", "payload": f"due {stop.due}", "delay": stop.delay}
    return _expect(client, 201, "POST", path_to("jobs"), request)


def _look(client: Client, job: Job) -> Job:
    return _expect(client, 200, "GET", path_to("jobs", job["id"]))


def _expect(client: Client, status: int, method: str, path: str, body: object = None) -> Job:
    try:
        answer = client.call(method, path, body)
    except HTTPClientError as error:
        raise Failure(f"The API no longer answers: {error}\nDid somebody stop the local AWS? Try again.") from error
    if answer.status != status:
        raise Failure(f"{method} {path} was answered with {answer.status} instead of {status}: {answer.text}")
    job: Job = answer.body
    return job


def _has_succeeded(job: Job, deadline: float) -> bool:
    if job["state"] in OUTCOMES and job["state"] != "succeeded":
        raise Failure(f"The first job should have succeeded: {_tell(STOPS[0], job)}")
    if job["state"] not in OUTCOMES and time.monotonic() > deadline:
        raise Failure(f"The first job has no outcome after {FIRST_SECONDS} s: it is {job['state']}.")
    return bool(job["state"] == "succeeded")


@contextmanager
def _screen(console: Console) -> Iterator[Callable[[Sequence[Job]], None]]:
    """Give what draws the jobs: a live table on a terminal, elsewhere a line for each change."""
    if console.is_terminal:
        with Live(console=console, auto_refresh=False) as live:
            yield lambda jobs: live.update(_table(jobs), refresh=True)
        return
    said: dict[Stop, str] = {}

    def draw(jobs: Sequence[Job]) -> None:
        for stop, job in zip(STOPS, jobs, strict=True):
            if said.get(stop) != _tell(stop, job):
                said[stop] = _tell(stop, job)
                now = datetime.now().astimezone()
                console.print(
                    f"{now:%H:%M:%S}  due {stop.due}: {said[stop]}", soft_wrap=True, markup=False, highlight=False
                )

    yield draw


def _table(jobs: Sequence[Job]) -> Table:
    table = Table(Column("job", no_wrap=True), Column("due", no_wrap=True), "what happens to it")
    for stop, job in zip(STOPS, jobs, strict=True):
        at = datetime.fromisoformat(job["run_at"]).astimezone()
        table.add_row(job["id"], f"{at:%b %d %H:%M:%S}", f"due {stop.due}; {_tell(stop, job)}")
    return table


def _tell(stop: Stop, job: Job) -> str:
    match job["state"]:
        case "scheduled":
            return f"scheduled: {stop.way}"
        case "succeeded":
            return f"succeeded, started {job['late_seconds']:.2f} s late"
        case "running":
            return f"running, started {job['late_seconds']:.2f} s late"
        case state:
            return f"{state}: {job.get('last_error') or job.get('outcome')}"
