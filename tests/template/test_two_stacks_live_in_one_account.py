"""Nothing has a name that a second stack would need too, and one capability is enough to deploy."""

import tomllib

from tests.template.expansion import ROOT, Template

NAMES = {
    "AlarmName", "FunctionName", "LogGroupName", "QueueName", "RoleName", "TableName"
}  # fmt: skip
NAMED_BY_OTHERS = {"AWS::Lambda::EventSourceMapping", "AWS::Lambda::Permission", "AWS::Lambda::EventInvokeConfig"}


def test_no_resource_has_a_fixed_name(template: Template) -> None:
    """Traps 17, 27 and 28: a named resource cannot be replaced, and a named role needs another capability."""
    named = {
        name: found
        for name, it in template.resources.items()
        if it["Type"] not in NAMED_BY_OTHERS and (found := NAMES & it.get("Properties", {}).keys())
    }
    assert named == {}


def test_cloudformation_names_the_timer(template: Template) -> None:
    """Trap 19: SAM would call it TickMinute in every stack."""
    (schedule,) = template.of_type("AWS::Scheduler::Schedule").values()
    assert "Name" not in schedule


def test_the_layer_carries_the_stacks_name(template: Template) -> None:
    (layer,) = template.of_type("AWS::Lambda::LayerVersion").values()
    assert layer["LayerName"] == {"Fn::Sub": "${AWS::StackName}-layer"}


def test_no_export_is_shared(template: Template) -> None:
    assert not any("Export" in it for it in template.outputs.values())


def test_deploying_takes_one_capability_and_no_account_id() -> None:
    text = (ROOT / "samconfig.toml").read_text()
    config = tomllib.loads(text)["default"]
    assert config["deploy"]["parameters"]["capabilities"] == "CAPABILITY_IAM"
    assert config["build"]["parameters"] == {"cached": True, "parallel": True}
    assert "arn:" not in text
