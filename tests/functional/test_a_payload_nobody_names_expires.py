"""A large payload is stored before the schedule that names it: if that is never written, it expires by itself."""

from datetime import timedelta
from typing import Any

import pytest
from tests.support.interleavings import at_call
from tests.support.lab import Lab
from tests.support.schedules import put
from tests.support.worlds import Interrupted, client_of, raising, with_client

from onthedot import wiring
from onthedot.rules.errors import Unavailable

LARGE, OTHER = f'"{"x" * 5000}"', f'"{"y" * 5000}"'


def payloads(lab: Lab) -> list[Any]:
    return [item for item in lab.items() if item["slot"]["S"].startswith("payload#")]


def test_one_of_a_write_without_an_answer(lab: Lab) -> None:
    """Each try of a caller whom AWS did not answer left 5 KB in the table, for ever."""
    world = wiring.world()
    down = [raising(Unavailable("AWS did not answer"))] * 3
    client = Interrupted(client_of(world, "schedules"), "transact_write_items", down)
    for _ in range(3):
        with pytest.raises(Unavailable):
            put("s", LARGE, world=with_client(world, "schedules", client), cron="0 9 * * *")
    left = payloads(lab)
    assert len(left) == 3
    tomorrow = lab.now() + timedelta(days=1, seconds=1)
    assert all(int(item["expires_at"]["N"]) <= tomorrow.timestamp() for item in left)


def test_one_of_a_refused_write(lab: Lab) -> None:
    """Two created a schedule at once: what the loser had stored stays behind, and he stores his anew."""
    world = wiring.world()
    client = Interrupted(
        client_of(world, "schedules"), "transact_write_items", [lambda: put("s", OTHER, cron="0 9 * * *")]
    )
    put("s", LARGE, world=with_client(world, "schedules", client), cron="0 9 * * *")
    assert [("expires_at" in item) for item in payloads(lab) if item["payload"]["S"] == OTHER] == [True]
    assert sorted("expires_at" in item for item in payloads(lab) if item["payload"]["S"] == LARGE) == [False, True]


def test_one_that_a_schedule_names_never_expires(lab: Lab) -> None:
    """It expired a day after the PUT, and the jobs from then on ended as dead."""
    put("s", LARGE, cron="0 9 * * *")
    put("s", LARGE, cron="0 10 * * *")
    [named] = payloads(lab)
    assert "expires_at" not in named
    lab.call("POST", "/schedules/s/pause")
    lab.call("POST", "/schedules/s/resume")
    assert payloads(lab) == [named]
    put("s", OTHER, cron="0 10 * * *")
    assert {item["payload"]["S"]: "expires_at" in item for item in payloads(lab)} == {LARGE: True, OTHER: False}


def test_one_that_expired_before_it_was_named_is_stored_anew(lab: Lab) -> None:
    """An editor whose process slept for a day named what was gone already."""

    def a_day_passes() -> None:
        [item] = payloads(lab)
        key = {name: item[name] for name in ("schedule", "slot")}
        lab.dynamodb.delete_item(TableName=lab.tables["JobsTable"], Key=key)

    with at_call(3, a_day_passes) as moment:
        schedule = put("s", LARGE, cron="0 9 * * *")
    assert moment.before == ["GetItem", "Query", "PutItem"]
    [named] = payloads(lab)
    assert "expires_at" not in named
    assert schedule.payload.stored_as == named["slot"]["S"]
