"""Health is good only while ticks come and every shard is handed over; what is not known is said to be so."""

from datetime import timedelta

import pytest
from tests.unit.http.memory import SHARDS, START, Api

from onthedot.http.models import Health
from onthedot.rules.instants import to_text
from onthedot.steps.ports import ShardRow

LOOK_AHEAD = timedelta(seconds=200)


def row(name: str, ticked: float = 30, drained: float = 30) -> ShardRow:
    watermark = to_text(START + LOOK_AHEAD - timedelta(seconds=drained))
    return ShardRow(name, watermark, START - timedelta(seconds=ticked), START)


def test_before_the_first_tick_nothing_is_known(api: Api) -> None:
    answer = api.call("GET", "/health")
    assert (answer.status, answer.body["status"], answer.body["tick_age_seconds"]) == (503, "unhealthy", None)
    assert [shard["watermark_age_seconds"] for shard in answer.body["shards"]] == [None] * SHARDS
    Health.model_validate(answer.body)


def test_while_ticks_come_it_is_well(api: Api) -> None:
    api.shards.rows = [row(str(number)) for number in range(SHARDS)]
    answer = api.call("GET", "/health")
    assert (answer.status, answer.body["status"], answer.body["tick_age_seconds"]) == (200, "ok", 30)
    ages = {"watermark_age_seconds": 30, "oldest_overdue_seconds": 0, "oldest_unplanned_seconds": 0}
    assert answer.body["shards"][0] == {"shard": "0", **ages}
    assert answer.body["queues"] == {"job": {"waiting": 1, "in_flight": 2, "delayed": 3}}
    assert set(answer.body["versions"]) == {"onthedot", "tzdata", "python"}
    Health.model_validate(answer.body)


@pytest.mark.parametrize(
    ("late", "status"),
    [(row("2", drained=180), 200), (row("2", drained=181), 503), (ShardRow("2", None, None, None), 503)],
)
def test_one_shard_that_stays_behind_is_enough(api: Api, late: ShardRow, status: int) -> None:
    api.shards.rows = [row("0"), row("1"), late, row("3")]
    assert api.call("GET", "/health").status == status


@pytest.mark.parametrize(("ticked", "status"), [(180, 200), (181, 503)])
def test_a_timer_that_stopped_is_seen(api: Api, ticked: float, status: int) -> None:
    api.shards.rows = [row(str(number), ticked=ticked) for number in range(SHARDS)]
    assert api.call("GET", "/health").status == status


def test_a_watermark_at_an_entry_is_read_and_a_shard_of_former_days_is_shown(api: Api) -> None:
    api.shards.rows = [row(str(number)) for number in range(SHARDS + 2)]
    api.shards.rows[0] = ShardRow("0", f"{to_text(START + LOOK_AHEAD)}#job#x#-", START, None)
    answer = api.call("GET", "/health")
    assert answer.body["shards"][0]["watermark_age_seconds"] == 0
    assert len(answer.body["shards"]) == SHARDS + 2


def test_what_is_overdue_is_told_of_its_shard(api: Api) -> None:
    api.create(id="x")
    api.clock.time += timedelta(minutes=10)
    overdue = [shard["oldest_overdue_seconds"] for shard in api.call("GET", "/health").body["shards"]]
    assert sorted(overdue) == [0, 0, 0, 300]


@pytest.mark.parametrize(("waits", "status"), [(-60, 200), (180, 200), (181, 503)])
def test_a_schedule_that_nobody_plans_is_seen(api: Api, waits: float, status: int) -> None:
    """Ticks came and jobs were handed over, but no slot became a job any more: health said ok."""
    fields = {"handler": "h", "every": 3600, "anchor": "2027-01-01T01:00:00Z"}
    assert api.call("PUT", "/schedules/s", fields).status == 201
    api.clock.time = START + timedelta(hours=1, seconds=waits)
    drained = to_text(api.clock.time + LOOK_AHEAD)
    api.shards.rows = [ShardRow(str(number), drained, api.clock.time, None) for number in range(SHARDS)]
    answer = api.call("GET", "/health")
    assert answer.status == status
    unplanned = sorted(shard["oldest_unplanned_seconds"] for shard in answer.body["shards"])
    assert unplanned == [0] * (SHARDS - 1) + [max(waits, 0)]
