"""A payload lies inside its job while that costs one write unit, else in an item of its own, written once."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.support.handlers import RAN, ran
from tests.support.jobs import create, job, new
from tests.support.lab import Lab
from tests.support.worlds import Died, Interrupted, client_of, raising, with_client

from onthedot import wiring
from onthedot.adapters.items import Item, item_of
from onthedot.adapters.sizes import UNIT, item_size
from onthedot.rules.jobs import Job, Payload, Retry, State
from onthedot.steps.manage import cancel, create_all, reschedule
from onthedot.steps.payloads import place

LARGE = '"' + "x" * 250_000 + '"'


def payload_items(lab: Lab) -> list[Item]:
    return [item for item in lab.items() if item["slot"]["S"].startswith("payload#")]


def test_a_small_payload_is_in_its_jobs_item(lab: Lab) -> None:
    """One write makes the job."""
    lab.calls.clear()
    create("j1", 60, payload='{"to":"Ada"}')
    assert len(lab.called("PutItem")) == 1
    assert job("j1").payload == Payload(12, text='{"to":"Ada"}')
    lab.advance(seconds=62)
    assert RAN[0].payload == {"to": "Ada"}


def test_a_large_payload_is_written_before_its_job(lab: Lab) -> None:
    """Written after it, a crash between the two would leave a job that runs with nothing."""
    create("j1", 60, payload=LARGE)
    first, second = lab.called("PutItem")
    assert first["Item"]["payload"]["S"] == LARGE
    assert second["Item"]["payload_item"] == first["Item"]["slot"]
    assert "payload" not in second["Item"]
    lab.advance(seconds=62)
    assert RAN[0].payload == LARGE.strip('"')


def test_a_crash_between_the_two_writes_leaves_an_orphan_that_expires(lab: Lab) -> None:
    """Nothing refers to it, nothing runs, and the table deletes it by itself."""
    world = wiring.world()
    dies = with_client(world, "jobs", Interrupted(client_of(world, "jobs"), "put_item", [raising(Died())]))
    with pytest.raises(Died):
        create_all(dies, [new("j1", 60, payload=LARGE)])
    [orphan] = lab.items()
    assert float(orphan["expires_at"]["N"]) > (lab.now() + timedelta(days=30)).timestamp()
    assert float(orphan["expires_at"]["N"]) % 1 == 0, "TTL is whole seconds"
    create("j1", 60, payload=LARGE)
    lab.advance(seconds=62)
    assert ran() == ["j1"]


def test_no_change_of_state_touches_it(lab: Lab) -> None:
    """A payload of 250 KB inside the item costs 250 units at each of its changes."""
    made = create("j1", 60, payload=LARGE, group="g")
    create("j2", 60, payload=LARGE)
    lab.calls.clear()
    reschedule(wiring.world(), *made.key, made.run_at + timedelta(seconds=30), None)
    cancel(wiring.world(), "job#j2", "-")
    lab.advance(seconds=92)
    assert job("j1").state is State.SUCCEEDED
    assert lab.called("PutItem") == []
    updates = lab.called("UpdateItem")
    assert {call["Key"]["slot"]["S"] for call in updates if "slot" in call["Key"]} == {"-"}
    assert all("xxxx" not in str(call) for call in updates if call["Key"].get("schedule") == {"S": "job#j2"})
    assert len(payload_items(lab)) == 2


def test_a_payload_that_is_gone_ends_the_job_and_never_runs_it_with_nothing(lab: Lab) -> None:
    """A handler that is called with null does harm; a dead job with a reason can be looked at."""
    create("j1", 60, payload=LARGE)
    [item] = payload_items(lab)
    lab.dynamodb.delete_item(
        TableName=lab.tables["JobsTable"], Key={"schedule": item["schedule"], "slot": item["slot"]}
    )
    lab.advance(seconds=62)
    dead = job("j1")
    assert (dead.state, dead.reason, dead.error) == (State.DEAD, "payload gone", "the payload of j1 is gone")
    assert ran() == []


@pytest.mark.usefixtures("lab")
def test_a_payload_outlives_every_outage_and_its_job_the_retention() -> None:
    """An item that expires before the job that names it is a lost job; TTL is never a timer."""
    made = create("j1", 300 * 24 * 3_600, payload=LARGE)
    assert made.payload.kept_until is not None
    assert made.payload.kept_until - made.run_at >= timedelta(days=30 + 60)
    assert made.expires_at is None


def longest(payload: str, **said: Any) -> Job:
    """Return a job with the longest names that a request may give, and its payload placed."""
    world = wiring.world()
    draft = new("n" * 64, 3_600, handler="h" * 64, payload=payload, **said).draft
    return place(world, draft, payload)


def life(made: Job) -> dict[str, int]:
    """Return the size of its item in each state. Units: bytes."""
    now = made.created_at
    written = replace(made, wake=made.run_at)
    running = replace(
        written, state=State.RUNNING, attempt=50, started_at=now, lease_until=now + timedelta(0, 1, 1_000)
    )
    ending = replace(running, wake=None, finished_at=now, expires_at=now + timedelta(days=30))
    done = replace(ending, state=State.SUCCEEDED, result="r" * 32)
    dead = replace(ending, state=State.DEAD, error="e" * 64, reason="no such handler")
    stages = {"scheduled": written, "running": running, "succeeded": done, "dead": dead}
    return {name: item_size(item_of(stage, 256)) for name, stage in stages.items()}


@pytest.mark.usefixtures("lab")
@pytest.mark.parametrize(
    "said",
    [
        {},
        {"group": "g" * 64},
        {"timeout": 12.345},
        {"group": "g" * 64, "timeout": 12.345, "start_within": 3_600},
    ],
    ids=str,
)
def test_what_is_inside_stays_under_one_unit_for_life(said: dict[str, Any]) -> None:
    """One byte more and each of its writes costs two; counted for the longest names, to a short result or error.

    An error of more than some 70 characters, or a larger result, may cost the last write a second unit.
    """
    inside = next(made for size in range(450, 0, -1) if (made := longest("1" * size, **said)).payload.text is not None)
    assert UNIT - 20 <= max(life(inside).values()) <= UNIT, life(inside)


@pytest.mark.usefixtures("lab")
def test_whatever_is_said_there_is_room_for_the_job_itself() -> None:
    """The longest names, and everything that a request can say."""
    said = longest("1" * 500, group="g" * 64, timeout=12.345, start_within=3_600)
    everything = replace(said, retry=Retry(50, 0.001, 999.999, 86_400.5))
    assert everything.payload.stored_as
    assert max(life(everything).values()) <= UNIT
