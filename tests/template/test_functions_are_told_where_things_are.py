"""Every function finds its settings in the environment, and runs on one runtime with one layer."""

from tests.template.expansion import FUNCTIONS, Template, expand, referenced

POINTERS = {
    "ONTHEDOT_JOBS_TABLE": "JobsTable",
    "ONTHEDOT_SCHEDULES_TABLE": "SchedulesTable",
    "ONTHEDOT_SHARDS_TABLE": "ShardsTable",
    "ONTHEDOT_JOB_QUEUE_URL": "JobQueue",
    "ONTHEDOT_JOB_DEAD_LETTER_QUEUE_URL": "JobDeadLetterQueue",
    "ONTHEDOT_SHARD_QUEUE_URL": "ShardQueue",
    "ONTHEDOT_SHARD_DEAD_LETTER_QUEUE_URL": "ShardDeadLetterQueue",
    "ONTHEDOT_STRAY_QUEUE_URL": "StrayQueue",
    "ONTHEDOT_TIMER_DEAD_LETTER_QUEUE_URL": "TimerDeadLetterQueue",
    "POWERTOOLS_SERVICE_NAME": "AWS::StackName",
}
VALUES = {
    "ONTHEDOT_SHARDS": 4,
    "ONTHEDOT_DISPATCHERS": 2,
    "ONTHEDOT_LOOKAHEAD_SECONDS": 200,
    "ONTHEDOT_RETENTION_DAYS": 30,
    "ONTHEDOT_WORKER_TIMEOUT_SECONDS": 120,
    "ONTHEDOT_WORKER_WAIT_MILLISECONDS": 0,
    "POWERTOOLS_LOG_LEVEL": "INFO",
    "PYTHONTZPATH": "",
}
TARGETS = "ONTHEDOT_ALLOWED_TARGET_ARNS"


def test_the_environment_is_this(template: Template) -> None:
    """Traps 55 and 32: with no PYTHONTZPATH zones are the pinned package's; the service is the alarms' dimension."""
    for name in FUNCTIONS:
        variables = template.properties(name)["Environment"]["Variables"]
        assert {it: referenced(variables[it]) for it in POINTERS} == POINTERS
        assert {it: variables[it] for it in VALUES} == VALUES
        assert variables.keys() == POINTERS.keys() | VALUES.keys() | {TARGETS}


def test_the_allowed_targets_arrive_as_one_text() -> None:
    assert expand().properties("Worker")["Environment"]["Variables"][TARGETS] == ""
    two = "arn:aws:sqs:eu-central-1:111122223333:a,arn:aws:sqs:eu-central-1:111122223333:b"
    assert expand(AllowedTargetArns=two).properties("Worker")["Environment"]["Variables"][TARGETS] == two


def test_the_look_ahead_spans_a_lost_tick_and_no_more(template: Template) -> None:
    """Trap 4: two ticks may be 179 s apart, and 20 s go by on the way.

    Above, RECHECK (300 s) bounds it, less index lag, skew and the time of a write.
    """
    look_ahead = template.parameters["LookAheadSeconds"]
    assert 3 * 60 - 1 + 20 <= look_ahead["MinValue"] <= look_ahead["Default"]
    assert look_ahead["MaxValue"] <= 300 - (2 * 2 + 20 + 60)


def test_all_run_on_one_runtime_with_one_layer() -> None:
    """Trap 56. On an emulator both must be the machine's own, so both are parameters."""
    template = expand(Runtime="python3.11", Architecture="x86_64")
    functions = template.of_type("AWS::Lambda::Function")
    assert functions.keys() == set(FUNCTIONS)
    (layer,) = template.of_type("AWS::Lambda::LayerVersion")
    for function in functions.values():
        assert (function["Runtime"], function["Architectures"]) == ("python3.11", ["x86_64"])
        assert function["Layers"] == [{"Ref": layer}]


def test_no_code_is_inline(template: Template) -> None:
    assert not any("ZipFile" in it["Code"] for it in template.of_type("AWS::Lambda::Function").values())


def test_names_of_what_was_made_are_outputs(template: Template) -> None:
    made = {"AWS::DynamoDB::Table": "Name", "AWS::SQS::Queue": "Url", "AWS::Lambda::Function": "FunctionName"}
    expected = {f"{name}{suffix}": name for kind, suffix in made.items() for name in template.of_type(kind)}
    found = {name: referenced(it["Value"]) for name, it in template.outputs.items() if name != "ApiUrl"}
    assert found == expected
