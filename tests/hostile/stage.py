"""A deployment with a job and a schedule in each state, which is put back as it was before each history."""

import copy
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from moto.dynamodb.models import dynamodb_backends
from moto.sqs.models import sqs_backends
from tests.support.jobs import create, entry
from tests.support.lab import ACCOUNT, REGION, Lab
from tests.support.schedules import change
from tests.support.worlds import Runner

from onthedot import wiring
from onthedot.rules.jobs import id_of
from onthedot.steps.start import Attempt, start

JOBS: dict[str, dict[str, Any]] = {
    "far": {"delay": 86_400, "group": "g"},
    "near": {"delay": 800, "payload": {"a": "x" * 2_000}},
    "done": {"payload": [1.0, 10**30]},
    "dead": {"handler": "test.fail"},
    "unknown": {"handler": "nobody", "retry": {"max_attempts": 3, "first": 400}},
    "gone": {"delay": 60, "group": "g"},
    "late": {"delay": 1, "start_within": 1},
}
SCHEDULES: dict[str, dict[str, Any]] = {
    "busy": {"cron": "*/5 * * * *", "group": "g", "payload": {"b": 1}},
    "still": {"every": 600, "overlap": "wait"},
    "yearly": {"rrule": "FREQ=YEARLY;BYMONTH=3", "zone": "Europe/Berlin", "starts_at": "2027-01-05T02:30:00"},
    "over": {"cron": "* * * * *", "ends_at": "2027-01-04T08:04:00Z", "handler": "test.fail"},
    "broken": {"cron": "0 9 * * *"},
    "unreadable": {"cron": "0 9 * * *"},
}


@dataclass(slots=True)
class Stage:
    """The lab, and how it was when the curtain rose."""

    lab: Lab
    at: datetime
    tables: dict[str, Any] = field(default_factory=dict)
    queues: dict[str, Any] = field(default_factory=dict)
    jobs: list[str] = field(default_factory=list)
    schedules: list[str] = field(default_factory=list)

    def restore(self) -> None:
        """Put everything back."""
        self.lab.calls.clear()
        self.lab.time.move_to(self.at)
        for name, items in self.tables.items():
            _tables()[name].items = copy.deepcopy(items)
        for name, messages in self.queues.items():
            _queues()[name]._messages = copy.deepcopy(messages)

    def rows(self) -> Counter[str]:
        """Return what stands in tables and queues; what has expired already counts for nothing."""
        items = [item for table in _tables().values() for item in table.all_items() if not _is_over(item, self.lab)]
        sent = [f"{name} {message.body}" for name, queue in _queues().items() for message in queue._messages]
        return Counter([*sent, *(str(item.to_json()) for item in items)])

    def differs_from(self, before: Counter[str]) -> str:
        """Tell what has changed; a payload that nobody names is written first, and expires."""
        after = self.rows()
        come = [row for row in after - before if "'payload#" not in row]
        return f"{come} instead of {list(before - after)}" if come or before - after else ""


def _is_over(item: Any, lab: Lab) -> bool:
    expires = item.attrs.get("expires_at")
    return expires is not None and int(expires.value) <= lab.now().timestamp()


def _tables() -> dict[str, Any]:
    found: dict[str, Any] = dynamodb_backends[ACCOUNT][REGION].tables
    return found


def _queues() -> dict[str, Any]:
    found: dict[str, Any] = sqs_backends[ACCOUNT][REGION].queues
    return found


@contextmanager
def staged() -> Iterator[Stage]:
    """Deploy, and let some minutes of a life pass."""
    with Lab() as lab:
        _people(lab)
        keys = [(item["schedule"]["S"], item["slot"]["S"]) for item in lab.items()]
        jobs = sorted(id_of(*key) for key in keys if "payload#" not in key[1])
        schedules = sorted({item["name"]["S"] for item in lab.items("SchedulesTable")})
        stage = Stage(lab, lab.now(), jobs=jobs, schedules=schedules)
        stage.tables = {name: copy.deepcopy(table.items) for name, table in _tables().items()}
        stage.queues = {name: copy.deepcopy(queue._messages) for name, queue in _queues().items()}
        yield stage


def _people(lab: Lab) -> None:
    for name, said in JOBS.items():
        assert lab.call("POST", "/jobs", {"handler": "example.echo", "id": name} | said).status == 201
    lab.call("DELETE", "/jobs/gone")
    for name, said in SCHEDULES.items():
        assert lab.call("PUT", f"/schedules/{name}", {"handler": "example.echo"} | said).status == 201
    lab.call("POST", "/schedules/busy/trigger", {"id": "m"})
    lab.advance(minutes=12)
    lab.call("POST", "/schedules/still/pause", {"on_resume": "missed"})
    lab.call("PATCH", "/schedules/busy", {"payload": 2})
    lab.advance(minutes=11)
    _begin(lab)
    _break(lab)


def _begin(lab: Lab) -> None:
    """Have three jobs running: one is well, one is asked to stop, and the worker of one is dead."""
    for name in ("lost", "running", "stopping"):
        begun = start(wiring.world(), entry(create(name, group="g")), Runner(3).policies())
        assert isinstance(begun, Attempt)
        if name == "lost":
            lab.time.shift(200)
    lab.call("DELETE", "/jobs/stopping", stop="true")


def _break(lab: Lab) -> None:
    change(lab, "broken", fields={"S": '{"cron": "* * * *", "handler": "h"}'})
    change(lab, "unreadable", fields={"S": "[]"})
    for name in ("broken", "unreadable"):
        assert lab.call("POST", f"/schedules/{name}/resume").status == 409, "who looks first writes down what is wrong"
