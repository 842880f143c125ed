"""Every promise that can be watched has an alarm, on a metric that exists, that rings also when it falls silent."""

import ast
import json
import os
import subprocess
import sys
from typing import Any

import pytest
from tests.template.expansion import ROOT, Template, expand, referenced

from onthedot.telemetry import COUNTED

OURS, LAMBDA, SQS = "Onthedot", "AWS/Lambda", "AWS/SQS"
DEPTH = "ApproximateNumberOfMessagesVisible"
STACK = ("service", "AWS::StackName")
SILENCE_IS_THE_FAULT = "breaching"
SILENCE_IS_GOOD = "notBreaching"

EXPECTED = {
    "TimerSilentAlarm": (LAMBDA, "Invocations", ("FunctionName", "Tick"), SILENCE_IS_THE_FAULT),
    "TickAgeAlarm": (OURS, "TickAge", STACK, SILENCE_IS_THE_FAULT),
    "WatermarkAgeAlarm": (OURS, "WatermarkAge", STACK, SILENCE_IS_THE_FAULT),
    "OldestOverdueAlarm": (OURS, "OldestOverdue", STACK, SILENCE_IS_THE_FAULT),
    "LatenessAlarm": (OURS, "Lateness", STACK, SILENCE_IS_GOOD),
    "JobsDeadAlarm": (OURS, "JobsDead", STACK, SILENCE_IS_GOOD),
    "SlotsLostAlarm": (OURS, "SlotsLost", STACK, SILENCE_IS_GOOD),
    "SchedulesBrokenAlarm": (OURS, "SchedulesBroken", STACK, SILENCE_IS_GOOD),
    "SchedulesFailedAlarm": (OURS, "SchedulesFailed", STACK, SILENCE_IS_GOOD),
    "DispatchErrorsAlarm": (LAMBDA, "Errors", ("FunctionName", "Dispatch"), SILENCE_IS_GOOD),
    "WorkerErrorsAlarm": (LAMBDA, "Errors", ("FunctionName", "Worker"), SILENCE_IS_GOOD),
    "WorkerThrottlesAlarm": (LAMBDA, "Throttles", ("FunctionName", "Worker"), SILENCE_IS_GOOD),
    "DispatchRecursionAlarm": (LAMBDA, "RecursiveInvocationsDropped", ("FunctionName", "Dispatch"), SILENCE_IS_GOOD),
    "WorkerRecursionAlarm": (LAMBDA, "RecursiveInvocationsDropped", ("FunctionName", "Worker"), SILENCE_IS_GOOD),
    "DeadLettersRecursionAlarm": (
        LAMBDA, "RecursiveInvocationsDropped", ("FunctionName", "DeadLetters"), SILENCE_IS_GOOD,
    ),
    "JobDeadLetterAlarm": (SQS, DEPTH, ("QueueName", "JobDeadLetterQueue"), SILENCE_IS_GOOD),
    "ShardDeadLetterAlarm": (SQS, DEPTH, ("QueueName", "ShardDeadLetterQueue"), SILENCE_IS_GOOD),
    "StrayAlarm": (SQS, DEPTH, ("QueueName", "StrayQueue"), SILENCE_IS_GOOD),
    "TimerDeadLetterAlarm": (SQS, DEPTH, ("QueueName", "TimerDeadLetterQueue"), SILENCE_IS_GOOD),
}  # fmt: skip
COUNTED_FAULTS = {"SlotsLost": 1, "SchedulesBroken": 1, "SchedulesFailed": 3}
SEND = """
from onthedot.telemetry import gauge, metrics
gauge("TickAge", 1)
metrics.flush_metrics()
"""
TOPIC = "arn:aws:sns:eu-central-1:111122223333:alarms"


def watched(alarm: dict[str, Any]) -> tuple[str, str, tuple[str, str], str]:
    """Return what an alarm looks at, and what it takes silence for."""
    (dimension,) = alarm["Dimensions"]
    pair = (dimension["Name"], referenced(dimension["Value"]))
    return alarm["Namespace"], alarm["MetricName"], pair, alarm["TreatMissingData"]


def test_the_alarms_are_these(template: Template) -> None:
    """Traps 31 and 32: a dead timer emits nothing, idle queues neither, and dimensions must match exactly."""
    alarms = template.of_type("AWS::CloudWatch::Alarm")
    assert {name: watched(it) for name, it in alarms.items()} == EXPECTED


def sent_names() -> set[str]:
    """Return every metric that the code names."""
    files = [*ROOT.glob("functions/*.py"), *ROOT.glob("shared/onthedot/**/*.py")]
    calls = [node for file in files for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)]
    named = [it for it in calls if ast.unparse(it.func).endswith(("gauge", "add_metric"))]
    literal = {str(it.args[0].value) for it in named if it.args and isinstance(it.args[0], ast.Constant)}
    return literal | set(COUNTED.values())


def test_our_code_sends_what_our_alarms_wait_for(template: Template) -> None:
    alarms = template.of_type("AWS::CloudWatch::Alarm").values()
    assert {it["MetricName"] for it in alarms if it["Namespace"] == OURS} <= sent_names()


def test_it_sends_them_under_the_dimension_that_our_alarms_name(template: Template) -> None:
    """Trap 32: an alarm on other dimensions waits for ever. The line is a real one."""
    environment = {"PYTHONPATH": "shared", "PATH": os.environ["PATH"], "POWERTOOLS_SERVICE_NAME": "stack"}
    done = subprocess.run(
        [sys.executable, "-c", SEND], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    line = json.loads(done.stdout.splitlines()[-1])
    (sent,) = line["_aws"]["CloudWatchMetrics"]
    assert (sent["Namespace"], sent["Dimensions"], line["service"]) == (OURS, [["service"]], "stack")
    variables = template.properties("Worker")["Environment"]["Variables"]
    assert referenced(variables["POWERTOOLS_SERVICE_NAME"]) == STACK[1]


def test_a_dead_shard_queue_is_seen_elsewhere(template: Template) -> None:
    """Trap 38: its messages may expire before they are dead letters."""
    assert {"DispatchErrorsAlarm", "WatermarkAgeAlarm"} <= template.of_type("AWS::CloudWatch::Alarm").keys()


def test_no_alarm_is_on_a_metric_that_ignores_silence(template: Template) -> None:
    """Trap 30: alarms on AWS/DynamoDB ignore missing data, and never return to OK."""
    assert not any(it["Namespace"] == "AWS/DynamoDB" for it in template.of_type("AWS::CloudWatch::Alarm").values())


def test_what_must_not_fall_silent_is_looked_at_across_a_lost_tick(template: Template) -> None:
    """Ticks may be 179 s apart; a shorter period would be empty, and ring, on a healthy day."""
    alarms = template.of_type("AWS::CloudWatch::Alarm").values()
    breaching = [it for it in alarms if it["TreatMissingData"] == SILENCE_IS_THE_FAULT]
    assert all(it["Period"] >= 180 for it in breaching)
    assert len(breaching) == 4


def test_a_silent_timer_rings_within_3_minutes(template: Template) -> None:
    alarm = template.properties("TimerSilentAlarm")
    assert (alarm["ComparisonOperator"], alarm["Threshold"]) == ("LessThanThreshold", 1)
    assert (alarm["Statistic"], alarm["Period"] * alarm["EvaluationPeriods"]) == ("Sum", 180)


@pytest.mark.parametrize("name", sorted(EXPECTED.keys() - {"TimerSilentAlarm"}))
def test_the_others_ring_above_their_threshold(template: Template, name: str) -> None:
    alarm = template.properties(name)
    assert alarm["ComparisonOperator"] == "GreaterThanThreshold"
    assert alarm["Threshold"] == {"TickAge": 200, "WatermarkAge": 200, "OldestOverdue": 1800, "Lateness": 60}.get(
        alarm["MetricName"], 0
    )


def test_one_throttle_wakes_nobody_and_one_lost_slot_or_broken_schedule_does(template: Template) -> None:
    """The next tick plans what a throttle kept from being planned; a broken schedule waits for a person."""
    periods = {name: template.properties(f"{name}Alarm")["EvaluationPeriods"] for name in COUNTED_FAULTS}
    assert periods == COUNTED_FAULTS


def test_alarms_call_somebody_only_when_there_is_somebody() -> None:
    for alarm in expand().of_type("AWS::CloudWatch::Alarm").values():
        assert not alarm.keys() & {"AlarmActions", "OKActions"}
    for alarm in expand(AlarmTopicArn=TOPIC).of_type("AWS::CloudWatch::Alarm").values():
        assert alarm["AlarmActions"] == alarm["OKActions"] == [TOPIC]


def test_every_alarm_says_what_is_wrong(template: Template) -> None:
    texts = [it["AlarmDescription"] for it in template.of_type("AWS::CloudWatch::Alarm").values()]
    assert all(len(it) > 20 for it in texts)
