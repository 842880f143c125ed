"""Everything is off for a minute, 15 minutes, three hours, two days: then each slot has the outcome that it should.

What is expected is computed here, from what docs/schedules.md says and from nothing else. `make prove` has a
slot each minute instead of each fifth.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.support.handlers import RAN
from tests.support.lab import Lab
from tests.support.ledgers import rows
from tests.support.proving import IN_FULL

MINUTE = timedelta(minutes=1)
STEP = MINUTE if IN_FULL else 5 * MINUTE
LENGTHS = {"a minute": MINUTE, "15 minutes": 15 * MINUTE, "3 hours": 180 * MINUTE, "2 days": 2880 * MINUTE}
EVERYTHING = {"tick", "ShardQueue", "JobQueue", "JobDeadLetterQueue"}
AHEAD = 10 * MINUTE
"""So far ahead of its last tick the dispatcher has planned."""
ROUNDED = timedelta(seconds=1)
"""SQS's delays are whole seconds, and are rounded up."""
POLICIES: dict[str, dict[str, Any]] = {
    "catch-up": {"missed": "catch_up", "catch_up_limit": 200 if IN_FULL else 40},
    "few": {"missed": "catch_up", "catch_up_limit": 7, "catch_up_rate": 4},
    "graced": {"missed": "catch_up", "catch_up_limit": 2, "grace": 1200, "catch_up_window": 600},
    "windowed": {"missed": "catch_up", "catch_up_window": 3600, "catch_up_limit": 20, "catch_up_rate": 30},
    "latest": {"missed": "latest"},
    "latest-windowed": {"missed": "latest", "catch_up_window": 5, "grace": 0, "anchor": "2027-01-04T08:01:40Z"},
    "skip": {"missed": "skip"},
    "skip-graced": {"missed": "skip", "grace": 600},
}
USUAL: dict[str, Any] = {"grace": 60, "catch_up_window": 7 * 86_400, "catch_up_rate": 60}
OUTSIDE = "outside the catch-up window"


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of a slot: when it runs, or why it does not."""

    run_at: datetime | None = None
    why: str | None = None


def fates(policy: dict[str, Any], passed: list[datetime], judged_at: datetime) -> dict[datetime, Fate]:
    """Return what becomes of the slots that passed without a job, by the page on schedules."""
    said = USUAL | policy
    grace, window = (timedelta(seconds=said[name]) for name in ("grace", "catch_up_window"))
    late = {slot for slot in passed if judged_at - slot <= grace}
    old = {slot for slot in passed if judged_at - slot > max(window, grace)}
    step, others, run = timedelta(0), "missed", late
    if said["missed"] == "latest":
        others, run = "not the latest", set(passed[-1:]) - old
    if said["missed"] == "catch_up":
        step, others = MINUTE / said["catch_up_rate"], "over the catch-up limit"
        run = late | set([slot for slot in passed if slot not in old][-said["catch_up_limit"] :])
    times = {slot: judged_at + number * step for number, slot in enumerate(sorted(run))}
    why = {slot: OUTSIDE if slot in old and said["missed"] != "skip" else others for slot in passed}
    return {slot: Fate(times[slot]) if slot in run else Fate(why=why[slot]) for slot in passed}


def create(lab: Lab, name: str, policy: dict[str, Any]) -> list[datetime]:
    """Create a schedule, and return its slots of the next three days."""
    body = {"handler": "test.record", "every": STEP.total_seconds(), "anchor": "2027-01-04T08:01:00Z", **policy}
    assert lab.call("PUT", f"/schedules/{name}", body).status == 201
    first = datetime.fromisoformat(body["anchor"])
    return [first + number * STEP for number in range(3 * 1440 * MINUTE // STEP)]


def one_off(lab: Lab, name: str, run_at: datetime) -> None:
    """Create a job for a time."""
    body = {"handler": "test.record", "id": name, "run_at": run_at.isoformat()}
    assert lab.call("POST", "/jobs", body).status == 201


def told(lab: Lab, name: str, slots: list[datetime]) -> dict[datetime, tuple[str, str | None]]:
    """Return what the ledger says of each slot."""
    found: dict[datetime, tuple[str, str | None]] = {}
    for row in rows(lab, name, limit="100"):
        first, last = (datetime.fromisoformat(row.get(end) or row["slot"]) for end in ("from", "to"))
        meant = [slot for slot in slots if first <= slot <= last]
        assert len(meant) == row.get("count", 1), row
        assert not found.keys() & set(meant), "a slot is told of once"
        found |= dict.fromkeys(meant, (row["outcome"]["kind"], row["outcome"].get("reason")))
    return found


@pytest.mark.parametrize("length", LENGTHS)
def test_each_slot_has_the_outcome_that_its_policy_says(lab: Lab, length: str) -> None:
    slots = {name: create(lab, name, policy) for name, policy in POLICIES.items()}
    lab.advance(minutes=2)
    planned_until = lab.now().replace(second=0) + AHEAD
    back_at = lab.now() + LENGTHS[length]
    in_it, after_it = lab.now() + LENGTHS[length] / 2, back_at + 3 * MINUTE
    one_off(lab, "in-it", in_it)
    one_off(lab, "after-it", after_it)
    lab.off |= EVERYTHING
    lab.advance(seconds=LENGTHS[length].total_seconds())
    assert all(call.at <= back_at - LENGTHS[length] for call in RAN), "all was off"
    lab.off.clear()
    one_off(lab, "since", back_at + timedelta(seconds=40))
    lab.advance(minutes=5)

    judged_at = back_at.replace(second=0) + MINUTE
    runs = {call.id: call.at for call in RAN}
    assert Counter(call.id for call in RAN).most_common(1)[0][1] == 1, "one job for each slot"
    for name, policy in POLICIES.items():
        mine = [slot for slot in slots[name] if slot <= lab.now()]
        passed = [slot for slot in mine if planned_until < slot <= judged_at]
        fate = {slot: Fate(max(slot, back_at) if slot > back_at - LENGTHS[length] else slot) for slot in mine}
        fate |= fates(policy, passed, judged_at)
        wanted = {slot: ("skipped", each.why) if each.why else ("succeeded", None) for slot, each in fate.items()}
        assert told(lab, name, slots[name]) == wanted, name
        at = {slot: runs.get(f"{name}@{slot:%Y-%m-%dT%H:%M:%SZ}") for slot in mine}
        for slot, each in fate.items():
            assert (at[slot] is None) == (each.run_at is None), (name, slot, at[slot], each)
            if each.run_at:
                assert timedelta(0) <= at[slot] - each.run_at <= ROUNDED, (name, slot, at[slot], each)  # type: ignore[operator]
    assert in_it <= runs["in-it"] <= judged_at + ROUNDED
    assert timedelta(0) <= runs["after-it"] - after_it <= ROUNDED
    assert timedelta(0) <= runs["since"] - back_at - timedelta(seconds=40) <= ROUNDED
