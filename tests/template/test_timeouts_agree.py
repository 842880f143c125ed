"""No function outlives the message it works on, or the caller who waits for it."""

import pytest
from tests.template.expansion import Template, expand, referenced

SLACK_SECONDS = 60
ALLOWED = expand().parameters["WorkerTimeoutSeconds"]["AllowedValues"]


@pytest.mark.parametrize("seconds", ALLOWED)
def test_a_message_stays_hidden_while_its_function_runs_and_not_much_longer(seconds: int) -> None:
    """Trap 5: Lambda refuses a shorter visibility; a longer one is what a throttle or an early crash costs."""
    template = expand(WorkerTimeoutSeconds=seconds)
    for source in template.of_type("AWS::Lambda::EventSourceMapping").values():
        timeout = template.properties(referenced(source["FunctionName"]))["Timeout"]
        visibility = template.properties(referenced(source["EventSourceArn"]))["VisibilityTimeout"]
        assert timeout <= visibility <= timeout + SLACK_SECONDS


def test_the_default_job_fits_the_shortest_worker() -> None:
    """A job takes up to 60 s by default, and the worker needs a margin to start it and one to record how it ended."""
    assert min(ALLOWED) >= 60 + 2 * 15
    assert max(ALLOWED) <= 900


def test_the_workers_timeout_is_the_one_its_code_is_told() -> None:
    template = expand(WorkerTimeoutSeconds=300)
    worker = template.properties("Worker")
    assert worker["Timeout"] == 300
    assert worker["Environment"]["Variables"]["ONTHEDOT_WORKER_TIMEOUT_SECONDS"] == 300


def test_the_api_stops_before_the_gateway_gives_up(template: Template) -> None:
    """Trap 12: past 29 s the caller gets 504 while the function goes on writing."""
    assert template.properties("Api")["Timeout"] < 29


def test_dispatch_ends_before_the_next_tick(template: Template) -> None:
    assert template.properties("Dispatch")["Timeout"] == 50
    assert template.properties("Tick")["Timeout"] < 60
