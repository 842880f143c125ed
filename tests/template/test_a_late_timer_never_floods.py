"""The timer fires each minute, and after an outage no old tick comes back (trap 3)."""

from tests.template.expansion import Template, referenced


def test_it_fires_each_minute_at_tick(template: Template) -> None:
    (schedule,) = template.of_type("AWS::Scheduler::Schedule").values()
    assert schedule["ScheduleExpression"] == "rate(1 minute)"
    assert schedule["FlexibleTimeWindow"] == {"Mode": "OFF"}
    assert referenced(schedule["Target"]["Arn"]) == "Tick"
    assert referenced(schedule["Target"]["RoleArn"]) == "TimerRole"


def test_the_scheduler_gives_up_after_a_minute(template: Template) -> None:
    """It would try 185 times in 24 hours by default."""
    (schedule,) = template.of_type("AWS::Scheduler::Schedule").values()
    assert schedule["Target"]["RetryPolicy"] == {"MaximumRetryAttempts": 2, "MaximumEventAgeInSeconds": 60}


def test_lambda_gives_up_at_once(template: Template) -> None:
    """It would try a throttled tick for up to 6 hours by default."""
    (config,) = template.of_type("AWS::Lambda::EventInvokeConfig").values()
    assert referenced(config["FunctionName"]) == "Tick"
    assert (config["MaximumRetryAttempts"], config["MaximumEventAgeInSeconds"]) == (0, 60)
