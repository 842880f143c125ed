"""The template as CloudFormation would see it: expanded by SAM, with parameters, conditions and mappings resolved.

References between resources stay as they are written, since only AWS knows what they become.
"""

import atexit
import json
import os
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any, cast

ROOT = Path(__file__).parents[2]
SAM = ROOT / ".local/sam/bin"
OFFLINE = os.environ | {"AWS_DEFAULT_REGION": "eu-central-1", "SAM_CLI_TELEMETRY": "0"}
FUNCTIONS = ("Api", "Tick", "Dispatch", "Worker", "DeadLetters")
NOTHING = object()

Props = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Template:
    """One expansion of template.yaml."""

    parameters: dict[str, Props]
    resources: dict[str, Props]
    outputs: dict[str, Props]

    def of_type(self, kind: str) -> dict[str, Props]:
        """Return the properties of every resource of a type, by logical id."""
        return {name: it.get("Properties", {}) for name, it in self.resources.items() if it["Type"] == kind}

    def properties(self, name: str) -> Props:
        """Return the properties of one resource."""
        return cast("Props", self.resources[name]["Properties"])


def expand(**parameters: str | int) -> Template:
    """Expand template.yaml under parameters that differ from its defaults."""
    return _expand(json.dumps(parameters, sort_keys=True))


@cache
def _expand(parameters: str) -> Template:
    raw = _translate(parameters)
    values = {name: it.get("Default") for name, it in raw["Parameters"].items()} | json.loads(parameters)
    lists = {name for name, it in raw["Parameters"].items() if it["Type"] == "CommaDelimitedList"}
    values |= {name: values[name].split(",") for name in lists}
    resolver = Resolver(values, raw["Mappings"], raw["Conditions"])
    kept = {name: it for name, it in raw["Resources"].items() if resolver.holds(it.get("Condition"))}
    return Template(raw["Parameters"], resolver.resolve(kept), raw["Outputs"])


def _translate(parameters: str) -> dict[str, Any]:
    into, out = _translator()
    into.write(parameters + "\n")
    into.flush()
    answer = out.readline()
    assert answer, "SAM's translator refuses the template; the reason stands above"
    return cast("dict[str, Any]", json.loads(answer))


@cache
def _translator() -> tuple[IO[str], IO[str]]:
    """Start the process that expands, which ends with this one."""
    python = SAM / "python"
    assert python.exists(), "the SAM CLI is missing: make setup"
    command = [str(python), str(Path(__file__).with_name("expand.py")), str(ROOT / "template.yaml")]
    process = subprocess.Popen(command, env=OFFLINE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(process.communicate)
    return cast("IO[str]", process.stdin), cast("IO[str]", process.stdout)


@dataclass(frozen=True, slots=True)
class Resolver:
    """Evaluates what does not depend on a deployed resource."""

    values: dict[str, Any]
    mappings: dict[str, Any]
    conditions: dict[str, Any]

    def holds(self, condition: str | None) -> bool:
        """Tell whether a condition, if any, is met."""
        return condition is None or bool(self.resolve(self.conditions[condition]))

    def resolve(self, node: Any) -> Any:
        """Resolve a part of the template and all below it."""
        match node:
            case {"Ref": "AWS::NoValue"}:
                return NOTHING
            case {"Ref": name} if name in self.values:
                return self.values[name]
            case {"Fn::If": [condition, yes, no]}:
                return self.resolve(yes if self.holds(condition) else no)
            case {"Fn::Equals": [left, right]}:
                return str(self.resolve(left)) == str(self.resolve(right))
            case {"Fn::Not": [inner]}:
                return not self.resolve(inner)
            case {"Fn::FindInMap": [name, first, second]}:
                return self.mappings[name][str(self.resolve(first))][second]
            case dict():
                return _joined({key: it for key, value in node.items() if (it := self.resolve(value)) is not NOTHING})
            case list():
                return [it for value in node if (it := self.resolve(value)) is not NOTHING]
            case _:
                return node


def _joined(node: Props) -> Any:
    match node:
        case {"Fn::Join": [str(between), [*parts]]} if all(isinstance(it, str) for it in parts):
            return between.join(parts)
        case _:
            return node


def referenced(node: Any) -> str:
    """Name what a Ref, GetAtt or Sub points to: `JobsTable`, or `JobsTable/index/agenda`."""
    match node:
        case {"Ref": str(name)} | {"Fn::GetAtt": [str(name), *_]}:
            return name
        case {"Fn::GetAtt": str(name)}:
            return name.split(".")[0]
        case {"Fn::Sub": str(text)}:
            return text.removeprefix("${").replace(".Arn}", "")
        case str():
            return node
        case _:
            raise AssertionError(f"not a reference: {node}")


def listed(node: Any) -> list[Any]:
    """Return a value that may stand alone or in a list, as a list."""
    return node if isinstance(node, list) else [node]
