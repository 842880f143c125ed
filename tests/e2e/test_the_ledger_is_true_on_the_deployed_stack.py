"""What stands on the ledger, end to end with IAM enforced: backfill, trigger, turns, pause_after, versions."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.e2e.deployed import Deployed
from tests.e2e.schedules import eventually

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("no_schedule_stays")]


def an_hour_ago() -> datetime:
    return datetime.now(UTC).replace(second=0, microsecond=0) - timedelta(hours=1)


def ledger(stack: Deployed, name: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = stack.ask("GET", "schedules", name, "ledger")["items"]
    return items


def test_slots_of_the_past_are_filled_and_every_slot_has_its_outcome(stack: Deployed) -> None:
    start = an_hour_ago()
    body = {"every": 600, "anchor": start.isoformat(), "handler": "example.echo", "payload": 1, "overlap": "skip"}
    stack.ask("PUT", "schedules", "e2e-filled", body=body, status=201)
    window = {"from": start.isoformat(), "to": (start + timedelta(minutes=30)).isoformat(), "rate": 6000}
    told = stack.ask("POST", "schedules", "e2e-filled", "backfill", body=window, query={"dry_run": "true"})
    assert told == {"count": 3, "more": False}
    assert stack.ask("POST", "schedules", "e2e-filled", "backfill", body=window) == told
    assert stack.ask("POST", "schedules", "e2e-filled", "backfill", body=window) == {"count": 0, "more": False}

    def ended() -> list[dict[str, Any]]:
        rows = ledger(stack, "e2e-filled")
        return rows if rows and all(row["outcome"]["kind"] not in ("scheduled", "running") for row in rows) else []

    rows = eventually(ended)
    assert [row["slot"] for row in rows] == [
        f"{start + number * timedelta(minutes=10):%Y-%m-%dT%H:%M:%SZ}" for number in range(3)
    ]
    kinds = {row["outcome"]["kind"] for row in rows}
    assert "succeeded" in kinds
    assert kinds <= {"succeeded", "skipped"}, "of two at once the second is skipped"


def test_a_job_by_hand_runs_now_also_in_a_pause(stack: Deployed) -> None:
    stack.ask("PUT", "schedules", "e2e-hand", body={"cron": "0 9 * * *", "handler": "example.echo"}, status=201)
    stack.ask("POST", "schedules", "e2e-hand", "pause")
    wish = {"id": "now", "payload": {"by": "hand"}}
    assert stack.ask("POST", "schedules", "e2e-hand", "trigger", body=wish, status=201)["id"] == "e2e-hand@manual-now"
    stack.ask("POST", "schedules", "e2e-hand", "trigger", body=wish)
    job = eventually(
        lambda: (found := stack.ask("GET", "jobs", "e2e-hand@manual-now"))["state"] == "succeeded" and found
    )
    assert job["result"] == {"by": "hand"}


def test_who_waits_for_its_turn_runs_after_the_other(stack: Deployed) -> None:
    start = an_hour_ago()
    body = {"every": 600, "anchor": start.isoformat(), "handler": "example.echo", "overlap": "wait"}
    stack.ask("PUT", "schedules", "e2e-turns", body=body, status=201)
    window = {"from": start.isoformat(), "to": (start + timedelta(minutes=20)).isoformat(), "rate": 6000}
    stack.ask("POST", "schedules", "e2e-turns", "backfill", body=window)
    rows = eventually(
        lambda: [row for row in ledger(stack, "e2e-turns") if row["outcome"]["kind"] == "succeeded"][1:] or None
    )
    assert len(rows) == 1


def test_a_schedule_that_fails_is_paused_by_itself(stack: Deployed) -> None:
    body = {"cron": "0 9 * * *", "handler": "no.such.handler", "pause_after": 1, "retry": {"max_attempts": 1}}
    stack.ask("PUT", "schedules", "e2e-failing", body=body, status=201)
    start = an_hour_ago()
    stack.ask("PATCH", "schedules", "e2e-failing", body={"cron": None, "every": 600, "anchor": start.isoformat()})
    window = {"from": start.isoformat(), "to": (start + timedelta(minutes=5)).isoformat()}
    stack.ask("POST", "schedules", "e2e-failing", "backfill", body=window)
    shown = eventually(lambda: (found := stack.ask("GET", "schedules", "e2e-failing"))["state"] == "paused" and found)
    assert (shown["paused"]["by"], shown["paused"]["reason"]) == ("onthedot", "1 dead in a row (pause_after)")
    versions = stack.ask("GET", "schedules", "e2e-failing", "versions")["items"]
    assert [(version["version"], "cron" in version) for version in versions] == [(2, False), (1, True)]
