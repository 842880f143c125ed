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

from onthedot.testing.template import Resolver

ROOT = Path(__file__).parents[2]
SAM = ROOT / ".local/sam/bin"
OFFLINE = os.environ | {"AWS_DEFAULT_REGION": "eu-central-1", "SAM_CLI_TELEMETRY": "0"}
FUNCTIONS = ("Api", "Tick", "Dispatch", "Worker", "DeadLetters")

Props = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Template:
    """One expansion of template.yaml."""

    parameters: dict[str, Props]
    refusals: list[str]
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
    said = [each for rule in raw["Rules"].values() for each in rule["Assertions"]]
    refusals = [each["AssertDescription"] for each in said if not resolver.resolve(each["Assert"])]
    return Template(raw["Parameters"], refusals, resolver.resolve(kept), raw["Outputs"])


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
