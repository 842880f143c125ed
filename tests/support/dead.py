"""Makes dead jobs, one by running it and thousands by writing them straight into the table."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from moto.dynamodb.models import dynamodb_backends
from tests.support.handlers import SCRIPT
from tests.support.jobs import create, job, new
from tests.support.lab import ACCOUNT, REGION, Lab

from onthedot import Discard, wiring
from onthedot.adapters.items import item_of
from onthedot.rules.jobs import Job, Payload, State
from onthedot.rules.transitions import ended, started


def give_up() -> None:
    """Give up the job that runs, for good."""
    raise Discard("the link is gone")


def die(lab: Lab, name: str, **said: Any) -> Job:
    """Create a job whose handler gives it up, once, and return it dead."""
    SCRIPT.meanwhile = give_up
    create(name, handler="test.meanwhile", **said)
    lab.settle()
    SCRIPT.meanwhile = lambda: None
    died = job(name)
    assert died.state is State.DEAD, died
    return died


def corpse(name: str, died_at: datetime, **fields: Any) -> Job:
    """Return a job as one that has died at a time."""
    draft = replace(new(name).draft, payload=Payload(4, text="null"), created_at=died_at, run_at=died_at)
    begun = started(draft, f"owner of {name}", died_at, died_at + timedelta(seconds=75))
    dead = ended(begun, State.DEAD, died_at, wiring.world().timing.retention, error="boom", reason="failed")
    return replace(dead, **fields)


def bury(lab: Lab, jobs: Iterable[Job]) -> None:
    """Write jobs into the table as they are."""
    table = dynamodb_backends[ACCOUNT][REGION].tables[lab.tables["JobsTable"]]
    for one in jobs:
        table.put_item(item_of(one, wiring.world().shard_count))
