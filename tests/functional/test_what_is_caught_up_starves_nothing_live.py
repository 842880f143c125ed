"""After two days off what is due now comes as punctually as if there were nothing to catch up, also when time is short.

Each job takes the only worker a tenth of a second, and no dispatcher has time for more than a few schedules.
"""

from collections import Counter
from datetime import datetime, timedelta
from itertools import cycle

import pytest
from tests.support.handlers import RAN, SCRIPT
from tests.support.lab import Context, Lab
from tests.support.proving import IN_FULL

DOWN = 60 if IN_FULL else 15
POLICIES: tuple[dict[str, object], ...] = (
    {"catch_up_limit": 24 if IN_FULL else 9, "catch_up_rate": 12},
    {"missed": "latest"},
    {"missed": "skip"},
)
BUSY = timedelta(seconds=0.02 if IN_FULL else 0.1)
ROUNDED = timedelta(seconds=1)
"""SQS's delays are whole seconds, and are rounded up."""


@pytest.fixture
def hurried(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """Return a deployment whose worker takes time, and whose dispatchers have little."""
    left, of_others = cycle([50_000] * 6 + [0]), Context.get_remaining_time_in_millis

    def remaining(context: Context) -> int:
        return next(left) if context.function_name == "ShardQueue" else of_others(context)

    monkeypatch.setattr(Context, "get_remaining_time_in_millis", remaining)
    return lab


def schedule(lab: Lab, name: str, every: int, first: datetime, **policy: object) -> None:
    body = {"handler": "test.record", "every": every, "anchor": first.isoformat(), **policy}
    assert lab.call("PUT", f"/schedules/{name}", body).status == 201


def ask(lab: Lab, name: str, run_at: datetime) -> dict[str, datetime]:
    body = {"handler": "test.record", "id": name, "run_at": run_at.isoformat()}
    assert lab.call("POST", "/jobs", body).status == 201
    return {name: run_at}


def lateness(lab: Lab, mark: str) -> timedelta:
    """Return how late live work is at most: what is asked for now and while others run, and a new schedule's."""
    since = lab.now()
    schedule(lab, f"{mark}-live", 60, since + timedelta(seconds=7))
    slots = [since + timedelta(seconds=60 * number + 7) for number in range(3)]
    due = {f"{mark}-live@{at:%Y-%m-%dT%H:%M:%SZ}": at for at in slots}
    for number in range(20):
        due |= ask(lab, f"{mark}{number}", since + timedelta(seconds=7 * number + 3))

    def meanwhile() -> None:
        lab.time.shift(BUSY)
        if len(RAN) % 4 == 0:
            due.update(ask(lab, f"{mark}-meanwhile{len(RAN)}", lab.now()))

    SCRIPT.afterwards = meanwhile
    lab.advance(minutes=3)
    ran = {call.id: call.at for call in RAN}
    assert all(ran[name] >= at for name, at in due.items()), "nothing is early"
    return max(ran[name] - at for name, at in due.items())


def test_live_work_is_as_punctual_as_without_a_backlog(hurried: Lab) -> None:
    punctual = lateness(hurried, "before")
    assert punctual <= ROUNDED + 2 * BUSY
    hurried.call("DELETE", "/schedules/before-live")
    for number in range(DOWN):
        first = hurried.now() + timedelta(seconds=1800 + number)
        schedule(hurried, f"down{number}", 3600, first, **POLICIES[number % 3])
    hurried.off |= {"tick", "JobQueue", "JobDeadLetterQueue"}
    hurried.advance(days=2)
    hurried.off.clear()
    RAN.clear()

    assert lateness(hurried, "after") <= punctual + DOWN * BUSY, "no more than those of one instant before it"
    caught_up = Counter(int(call.id[4:].partition("@")[0]) % 3 for call in RAN if call.id.startswith("down"))
    assert caught_up == {0: DOWN // 3 * int(str(POLICIES[0]["catch_up_limit"])), 1: DOWN // 3}
