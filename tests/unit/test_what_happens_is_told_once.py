"""One structured line for each transition, and metrics under the dimension that the alarms name."""

import json
import logging
import os
import re
import threading
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from tests.faults.failing import install, throttled
from tests.support import jobs, schedules
from tests.support.lab import Context, Lab, event_of
from tests.template.expansion import ROOT, expand, referenced
from tests.unit.making import NOW, SECOND, a_job, running

import dispatch
import worker
from onthedot import telemetry, wiring
from onthedot.messages import ShardMessage, shard_text
from onthedot.rules.events import Event
from onthedot.rules.jobs import Payload, State

SHARD_EVENTS = {Event.SHARD_DRAINED, Event.SHARD_SWEPT}
SCHEDULE_EVENTS = {event for event in Event if event.startswith(("schedule_", "slots_"))}
JOB_EVENTS = set(Event) - SHARD_EVENTS - SCHEDULE_EVENTS
UNITS = {
    "Lateness": "Seconds",
    "TickAge": "Seconds",
    "WatermarkAge": "Seconds",
    "OldestOverdue": "Seconds",
    "JobsHandedOver": "Count",
    "Swept": "Count",
    "JobsDead": "Count",
    "AttemptsFailed": "Count",
    "SlotsPlanned": "Count",
    "SlotsMissed": "Count",
    "SchedulesBroken": "Count",
    "SchedulesFailed": "Count",
    "SlotsLost": "Count",
}
"""Every metric, and its unit; all have the dimension `service`, and one of them, which must not occur, another too."""
SERVICE, OF_SCHEDULE = ("service",), ("schedule", "service")
SECRET = "s3cret"
Lines = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Lines:
    """Return what reads the lines that were logged since it was last asked."""
    stream = StringIO()
    monkeypatch.setattr(telemetry.logger.registered_handler, "stream", stream)

    def read() -> list[dict[str, Any]]:
        text = stream.getvalue()
        stream.seek(0)
        stream.truncate()
        return [json.loads(line) for line in text.splitlines()]

    return read


def emf(text: str) -> list[dict[str, Any]]:
    """Return the lines that CloudWatch reads metrics from."""
    found = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    return [line for line in found if "_aws" in line]


def measured(line: dict[str, Any]) -> dict[str, Any]:
    """Return the metrics of a line, by name, with their values."""
    (group,) = line["_aws"]["CloudWatchMetrics"]
    return {metric["Name"]: line[metric["Name"]] for metric in group["Metrics"]}


def dimensions(line: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return the dimensions of a line's metrics."""
    return [tuple(sorted(names)) for group in line["_aws"]["CloudWatchMetrics"] for names in group["Dimensions"]]


@pytest.mark.parametrize("event", sorted(JOB_EVENTS))
def test_a_transition_is_one_line_with_the_facts_and_no_payload(lines: Lines, event: Event) -> None:
    job = running(
        payload=Payload(9, text=SECRET),
        result=SECRET,
        error=SECRET,
        owner=SECRET,
        group="batch",
        reason="failed",
        started_at=NOW + SECOND,
    )
    telemetry.Telemetry().job(event, job)
    (line,) = lines()
    assert line["message"] == event.value
    facts = {"job": "a", "handler": "example.echo", "state": "running", "attempt": 1, "run_at": "2027-03-28T01:00:00Z"}
    assert facts | {"group": "batch", "reason": "failed", "late_seconds": 1.0} == {
        name: line[name] for name in [*facts, "group", "reason", "late_seconds"]
    }
    assert SECRET not in json.dumps(line)
    assert line["level"] == ("WARNING" if event in telemetry.WORRYING else "INFO")


def test_what_a_job_has_not_is_not_told(lines: Lines) -> None:
    telemetry.Telemetry().job(Event.JOB_CREATED, a_job())
    (line,) = lines()
    assert not {"group", "reason", "late_seconds"} & line.keys()


@pytest.mark.parametrize("event", sorted(SHARD_EVENTS))
def test_a_look_at_a_shard_is_one_line_when_there_was_something(lines: Lines, event: Event) -> None:
    """An idle shard would write two lines a minute for ever."""
    telemetry.Telemetry().shard(event, "3", 0, 0)
    assert lines() == []
    for handed_over, refused in [(7, 0), (0, 1)]:
        telemetry.Telemetry().shard(event, "3", handed_over, refused)
        (line,) = lines()
        assert (line["message"], line["shard"]) == (event.value, "3")
        assert (line["handed_over"], line["refused"]) == (handed_over, refused)


def test_an_idle_shard_counts_nothing(capsys: Any) -> None:
    """Each metric costs 0.30 $ for a month in which it is sent each hour; who slept sent two, of noughts."""
    for event, handed_over in [(event, count) for event in sorted(SHARD_EVENTS) for count in (0, 7)]:
        telemetry.Telemetry().shard(event, "3", handed_over, 0)
    telemetry.metrics.flush_metrics()
    (line,) = emf(capsys.readouterr().out)
    assert measured(line) == {"JobsHandedOver": [7.0], "Swept": [7.0]}


@pytest.mark.parametrize("event", sorted(SCHEDULE_EVENTS))
def test_what_happens_to_a_schedule_is_one_line_and_what_is_counted_has_its_number(
    lines: Lines, capsys: Any, event: Event
) -> None:
    """Trap 33: a metric for each schedule would be billed for each, so its name is in the line alone."""
    telemetry.Telemetry().schedule(event, "nightly", 3, "why")
    (line,) = lines()
    assert (line["message"], line["schedule"], line["reason"]) == (event.value, "nightly", "why")
    assert line["level"] == ("WARNING" if event in telemetry.WORRYING else "INFO")
    telemetry.invocation(lambda event, context: None)({}, Context("f"))  # noqa: ARG005
    sent = [line for line in emf(capsys.readouterr().out) if dimensions(line) == [SERVICE]]
    if event not in telemetry.COUNTED:
        assert "count" not in line
        assert sent == []
        return
    assert line["count"] == 3
    (metric,) = sent
    assert measured(metric) == {telemetry.COUNTED[event]: [3.0]}


def test_lost_slots_are_counted_of_their_schedule_and_of_all(capsys: Any) -> None:
    """Traps 32 and 33: the alarm names the stack alone; which schedule it was is asked next, and worth its metric."""
    telemetry.Telemetry().schedule(Event.SLOTS_LOST, "nightly", 3)
    telemetry.Telemetry().schedule(Event.SLOTS_LOST, "weekly", 4)
    telemetry.metrics.flush_metrics()
    sent = emf(capsys.readouterr().out)
    assert {tuple(dimensions(line)): measured(line) for line in sent if "schedule" not in line} == {
        (SERVICE,): {"SlotsLost": [3.0, 4.0]}
    }
    of_schedules = {line["schedule"]: line for line in sent if "schedule" in line}
    assert {name: measured(line) for name, line in of_schedules.items()} == {
        "nightly": {"SlotsLost": [3.0]},
        "weekly": {"SlotsLost": [4.0]},
    }
    for line in of_schedules.values():
        assert (dimensions(line), line["service"]) == ([OF_SCHEDULE], os.environ["POWERTOOLS_SERVICE_NAME"])


def test_what_is_not_known_of_a_schedule_is_not_told(lines: Lines) -> None:
    telemetry.Telemetry().schedule(Event.SCHEDULE_CREATED, "nightly")
    (line,) = lines()
    assert not {"count", "reason"} & line.keys()


def test_a_schedules_life_is_told_step_by_step_and_never_its_payload(lab: Lab, lines: Lines) -> None:
    schedules.put("s", f'"{SECRET}"', cron="0 9 * * *")
    schedules.put("s", f'"{SECRET}"', cron="0 10 * * *")
    schedules.hold("s")
    schedules.resume("s")
    schedules.delete("s")
    told = lines()
    words = ["schedule_created", "schedule_edited", "schedule_paused", "schedule_resumed", "schedule_deleted"]
    assert [line["message"] for line in told] == words
    assert {line["schedule"] for line in told} == {"s"}
    assert SECRET not in json.dumps(told)
    assert not lab.messages()


def test_a_schedule_that_cannot_be_read_is_told_of_once(lab: Lab, lines: Lines) -> None:
    """Its line names what is wrong; its alarm rings once, and not at each tick."""
    schedules.put("s", cron="0 9 * * *")
    schedules.change(lab, "s", fields={"S": "no json"})
    lab.time.shift(timedelta(hours=1))
    lines()
    for _ in range(3):
        lab.tick()
    (line,) = [line for line in lines() if line["message"] == "schedule_broken"]
    assert line["schedule"] == "s"
    assert "cannot be read" in line["reason"]


def every_end(lab: Lab, patch: pytest.MonkeyPatch) -> None:
    """Let jobs and schedules come to every end that is measured, also to the one that must not occur."""
    jobs.create("works", 0.75, handler="example.echo")
    jobs.create("dies", handler="nobody.wrote.it")
    for name in ("goes", "breaks", "fails"):
        schedules.put(name, cron="0 9 * * *")
    schedules.change(lab, "breaks", fields={"S": "{}"})
    schedules.put("loses")
    lab.advance(minutes=3)
    schedules.lose(lab, "loses")
    lab.call("GET", "/schedules/loses/ledger")
    lab.time.shift(timedelta(hours=2))
    install(patch).on("TransactWriteItems", throttled())
    lab.tick()


def test_every_metric_is_sent_by_the_functions_under_the_stacks_name(
    lab: Lab, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trap 32: an alarm that names other dimensions waits for ever."""
    every_end(lab, monkeypatch)
    sent = emf(capsys.readouterr().out)
    groups = [group for line in sent for group in line["_aws"]["CloudWatchMetrics"]]
    found = {
        (group["Namespace"], metric["Name"], metric["Unit"], tuple(sorted(names)))
        for group in groups
        for metric in group["Metrics"]
        for names in group["Dimensions"]
    }
    of_all = {("Onthedot", name, unit, SERVICE) for name, unit in UNITS.items()}
    assert found == of_all | {("Onthedot", "SlotsLost", "Count", OF_SCHEDULE)}
    assert {line["service"] for line in sent} == {"lab"}


def test_every_alarm_of_ours_is_on_a_metric_that_is_sent() -> None:
    alarms = [it for it in expand().of_type("AWS::CloudWatch::Alarm").values() if it["Namespace"] == "Onthedot"]
    assert alarms
    for alarm in alarms:
        assert alarm["MetricName"] in UNITS
        (dimension,) = alarm["Dimensions"]
        assert (dimension["Name"], referenced(dimension["Value"])) == ("service", "AWS::StackName")


def test_lateness_is_measured_from_the_time_it_was_due(capsys: Any) -> None:
    job = running(started_at=NOW + timedelta(milliseconds=250))
    telemetry.Telemetry().job(Event.JOB_STARTED, job)
    telemetry.Telemetry().job(Event.JOB_SUCCEEDED, job)
    telemetry.metrics.flush_metrics()
    (line,) = emf(capsys.readouterr().out)
    assert measured(line) == {"Lateness": [0.25]}


@pytest.mark.parametrize(("attempt", "failed"), [(0, 0), (1, 1), (3, 1)])
def test_a_death_counts_its_last_attempt_if_there_was_one(capsys: Any, attempt: int, failed: int) -> None:
    telemetry.Telemetry().job(Event.JOB_DEAD, a_job(state=State.DEAD, attempt=attempt))
    telemetry.metrics.flush_metrics()
    (line,) = emf(capsys.readouterr().out)
    assert measured(line) == {"JobsDead": [1.0], "AttemptsFailed": [float(failed)]}


def test_what_was_measured_is_written_also_on_an_error(capsys: Any) -> None:
    def crash(event: Any, context: Any) -> None:  # noqa: ARG001
        telemetry.gauge("TickAge", 7)
        raise RuntimeError("boom")

    with pytest.raises(RuntimeError, match="boom"):
        telemetry.invocation(crash)({}, Context("f"))
    (line,) = emf(capsys.readouterr().out)
    assert measured(line) == {"TickAge": [7.0]}


def test_nothing_measured_is_no_line_and_no_warning(capsys: Any) -> None:
    """Powertools warned at each stray message, in a line that nobody could read."""
    telemetry.invocation(lambda event, context: None)({}, Context("f"))  # noqa: ARG005
    assert capsys.readouterr().out == ""


def test_what_was_measured_is_written_before_the_process_ends(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[int] = []
    monkeypatch.setattr("onthedot.telemetry.os._exit", ended.append)
    telemetry.gauge("TickAge", 7)
    telemetry.end_process()
    assert ended == [1]
    assert len(emf(capsys.readouterr().out)) == 1


def test_a_crash_of_one_message_is_told_with_its_trace(lab: Lab, lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs.create("a")
    (message,) = lab.receive("JobQueue")
    lines()
    install(monkeypatch).on("UpdateItem", throttled())
    worker.handler(event_of([message]), Context("worker"))
    (line,) = lines()
    assert (line["message"], line["level"]) == ("message_failed", "ERROR")
    assert "Throttled" in line["exception"]
    assert line["function_request_id"] == Context("worker").aws_request_id


def test_what_the_adapters_tell_is_a_line_as_any_other(lab: Lab, lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    """It went past our logger: plain text, without the reason, and with no request to look for."""
    jobs.create("a", handler="example.echo")
    (message,) = lab.receive("JobQueue")
    lines()
    install(monkeypatch).on("ChangeMessageVisibility", throttled())
    worker.handler(event_of([message]), Context("worker"))
    (line,) = (line for line in lines() if line["message"] == "message_not_held")
    assert "ThrottlingException" in line["reason"]
    assert line["level"] == "WARNING"
    assert line["function_request_id"] == Context("worker").aws_request_id
    assert logging.getLogger("onthedot").propagate is False, "the runtime's own handler would write it once more"


def test_no_thread_is_left_between_two_invocations(lab: Lab) -> None:
    """It would freeze, and go on in the next one (aws-traps 53)."""
    before = set(threading.enumerate())
    for number in range(3):
        jobs.create(f"n{number}", handler="example.echo")
    worker.handler(event_of(lab.receive("JobQueue")), Context("worker"))
    text = shard_text(ShardMessage("0", wiring.world().clock.now()))
    dispatch.handler(event_of([{"MessageId": "m", "ReceiptHandle": "r", "Body": text}]), Context("dispatch"))
    assert set(threading.enumerate()) <= before


def test_the_page_names_every_line_metric_and_alarm() -> None:
    page = (ROOT / "docs/telemetry.md").read_text()
    alarms = expand().of_type("AWS::CloudWatch::Alarm").keys()
    assert {name for name in [*Event, *UNITS, *alarms] if f"`{name}`" not in page} == set()


def test_the_page_says_how_grave_each_line_is() -> None:
    page = (ROOT / "docs/telemetry.md").read_text()
    rows = re.findall(r"^\| (`[a-z_`, ]+) \| (\w+)", page, re.MULTILINE)
    levels = {name: level for names, level in rows for name in re.findall(r"\w+", names)}
    for event in JOB_EVENTS | SCHEDULE_EVENTS:
        assert levels[event] == ("warning" if event in telemetry.WORRYING else "info"), event
