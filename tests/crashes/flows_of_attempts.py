"""What workers do, and what it must come to."""

from collections.abc import Iterator
from typing import Any

from tests.crashes.clients import Client
from tests.crashes.doing import LARGE, create, creating, deliver, ends, state
from tests.crashes.faults import Kind
from tests.crashes.flows import Flow
from tests.crashes.processes import Play, playing
from tests.support.journal import JOURNAL

from onthedot.handler import Job

LEASE_IS_OVER = 190
NO_JOB = "this is no job"


def with_heartbeats(client: Client) -> None:
    def beat_twice(job: Job) -> None:
        job.heartbeat()
        job.heartbeat()

    JOURNAL.meanwhile = beat_twice
    deliver(client)


def stop_while_it_runs(client: Client) -> None:
    """Ask a job to stop, from within its handler, which is a process of another function meanwhile."""
    asks = iter([True])

    def stop(job: Job) -> None:
        if next(asks, False):
            client("DELETE", "/jobs/a", stop="true")
        job.heartbeat()

    JOURNAL.meanwhile = stop
    deliver(client)


def die_at_start(client: Client, **fields: Any) -> None:
    """Leave a job whose worker died when it had started it, until the lease is over."""
    create(client, **fields)
    with playing(Play(client.lab, 0, Kind.DIES_AFTER)):
        deliver(client)
    assert state("a") == "running"
    client.lab.time.shift(LEASE_IS_OVER)


def give_up(client: Client) -> None:
    """Have SQS give up on what is in the queue."""
    lab = client.lab
    for message in lab.messages():
        lab.sqs.send_message(QueueUrl=lab.urls["JobDeadLetterQueue"], MessageBody=message.body)
    lab.purge()


def nobody_had_time(client: Client) -> None:
    create(client)
    give_up(client)


def last_worker_died(client: Client) -> None:
    die_at_start(client, retry={"max_attempts": 1})
    give_up(client)


def rescue(client: Client) -> None:
    client.lab.deliver("JobDeadLetterQueue")


def stray_comes(client: Client) -> None:
    client.lab.sqs.send_message(QueueUrl=client.lab.urls["JobQueue"], MessageBody=NO_JOB)


def stray_is_kept(client: Client) -> Iterator[str]:
    if NO_JOB not in [message.body for message in client.lab.messages("StrayQueue")]:
        yield "a message that is no job is lost"


RAN, DIED = ends("a", "succeeded"), ends("a", "dead")
TOO_LATE = frozenset({409})
FLOWS = (
    Flow("run", deliver, RAN, creating(), row="run a job whose handler is quicker than others"),
    Flow("run, large", deliver, RAN, creating(payload=LARGE)),
    Flow("fail, and try again", deliver, RAN, creating(payload={"fails": 1})),
    Flow("fail for good", deliver, DIED, creating(payload={"fails": 1}, retry={"max_attempts": 1})),
    Flow("heartbeat", with_heartbeats, RAN, creating()),
    Flow("stop", stop_while_it_runs, ends("a", "cancelled", "succeeded"), creating(), refusals=TOO_LATE),
    Flow("take over", deliver, RAN, die_at_start, row="take over from a worker that died"),
    Flow("rescue", rescue, RAN, nobody_had_time, row="rescue"),
    Flow("rescue of a dead worker's job", rescue, DIED, last_worker_died),
    Flow("stray", deliver, stray_is_kept, stray_comes, strays=frozenset({NO_JOB})),
)
