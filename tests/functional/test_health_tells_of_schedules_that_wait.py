"""Health tells how long a schedule waits to be planned: a dispatcher that plans nothing is not well."""

from datetime import timedelta
from typing import Any

from tests.support.lab import Lab
from tests.support.schedules import hold, put, same_shard

from onthedot.rules.agenda import shard_of


def waiting(lab: Lab) -> tuple[str, list[float]]:
    body: dict[str, Any] = lab.call("GET", "/health").body
    return body["status"], [shard["oldest_unplanned_seconds"] for shard in body["shards"]]


def test_while_all_is_planned_nothing_waits(lab: Lab) -> None:
    put("far", cron="0 9 1 1 *")
    put("near")
    lab.advance(minutes=3)
    assert waiting(lab) == ("ok", [0, 0])


def test_each_shard_tells_of_the_one_that_waits_longest(lab: Lab) -> None:
    """That no schedule was planned any more showed in nothing but what did not happen."""
    [name] = same_shard(1, 1)
    for other, cron in ((name, "*/30 * * * *"), ("z", "*/45 * * * *")):
        put(other, cron=cron)
    lab.off.add("tick")
    lab.advance(minutes=29, seconds=30)
    assert waiting(lab)[1] == [0, 0]
    lab.advance(minutes=20)
    assert waiting(lab) == ("unhealthy", [0, 20 * 60] if shard_of("schedule#z", 2) == "1" else [5 * 60, 20 * 60])


def test_one_that_is_paused_or_has_ended_waits_for_nobody(lab: Lab) -> None:
    """A pause has no slot to plan, and an end nothing to come."""
    put("paused")
    hold("paused")
    put("ended", cron="* * * * *", ends_at="2027-01-04T08:05:00Z")
    lab.advance(minutes=6)
    put("until")
    hold("until", until=lab.now() + timedelta(minutes=5))
    for _ in range(8):
        lab.advance(minutes=1)
        assert waiting(lab) == ("ok", [0, 0])
