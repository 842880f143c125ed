"""Each function logs to a group of its own that expires, as text, since metrics are lines of it."""

import pytest
from tests.template.expansion import FUNCTIONS, Template, expand, referenced


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_function_has_a_declared_log_group(template: Template, name: str) -> None:
    """Trap 27: one that Lambda makes never expires, and made late it blocks the next deploy."""
    assert referenced(template.properties(name)["LoggingConfig"]["LogGroup"]) == f"{name}Log"


def test_every_log_group_expires() -> None:
    groups = expand(LogRetentionDays=7, ApiLogs="true").of_type("AWS::Logs::LogGroup")
    assert groups.keys() == {"GatewayLog", *(f"{it}Log" for it in FUNCTIONS)}
    assert all(it["RetentionInDays"] == 7 for it in groups.values())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_quieter_log_loses_no_metric(name: str) -> None:
    """Trap 34: with LogFormat JSON and a level above INFO, Lambda drops lines without a level, as metrics are."""
    function = expand(LogLevel="ERROR").properties(name)
    assert function["LoggingConfig"].keys() == {"LogGroup"}
    assert function["Environment"]["Variables"]["POWERTOOLS_LOG_LEVEL"] == "ERROR"
