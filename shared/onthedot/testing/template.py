"""What `template.yaml` says, read as plain YAML with CloudFormation's tags.

Neither SAM nor a process is asked: a lab must begin in milliseconds. What only AWS knows is named after the resource:
a table has its logical id as its name, and so has a queue.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from onthedot.testing.errors import NoTemplate, ParameterRefused

ACCOUNT, REGION, STACK = "123456789012", "eu-central-1", "lab"
HERE = Path(__file__).parents[3] / "template.yaml"
NOTHING = object()
PSEUDO: dict[str, Any] = {
    "AWS::AccountId": ACCOUNT,
    "AWS::Partition": "aws",
    "AWS::Region": REGION,
    "AWS::StackName": STACK,
    "AWS::URLSuffix": "amazonaws.com",
}

Props = dict[str, Any]
Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Template:
    """One reading of a template, under parameters."""

    path: Path
    globals: Props
    resources: Mapping[str, Props]

    def of_type(self, kind: str) -> dict[str, Props]:
        """Return the properties of every resource of a type, by logical id."""
        return {name: it.get("Properties", {}) for name, it in self.resources.items() if it["Type"] == kind}


def read(path: Path, parameters: Values) -> Template:
    """Read a template under parameters that differ from its defaults.

    Raises: NoTemplate, ParameterRefused.
    """
    if not path.is_file():
        raise NoTemplate(f"there is no template at {path}; Lab(template=...) names another")
    return _read(path, path.stat().st_mtime_ns, tuple(sorted(parameters.items())))


@cache
def _read(path: Path, _: int, parameters: tuple[tuple[str, Any], ...]) -> Template:
    raw = yaml.load(path.read_text(), Loader=_Loader)  # noqa: S506 - a safe loader, which also knows CloudFormation's tags
    values = chosen(raw.get("Parameters", {}), dict(parameters))
    everything = PSEUDO | values | dict(_references(raw["Resources"]))
    resolver = Resolver(everything, raw.get("Mappings", {}), raw.get("Conditions", {}))
    kept = {name: it for name, it in raw["Resources"].items() if resolver.holds(it.get("Condition"))}
    return Template(path, resolver.resolve(raw.get("Globals", {})), resolver.resolve(kept))


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Reads YAML, and `!Ref X` as `{"Ref": "X"}`, `!GetAtt X.Arn` as `{"Fn::GetAtt": ["X", "Arn"]}`."""


def _tagged(loader: Any, tag: str, node: yaml.Node) -> Props:
    match node:
        case yaml.ScalarNode():
            value = loader.construct_scalar(node)
        case yaml.SequenceNode():
            value = loader.construct_sequence(node, deep=True)
        case _:
            value = loader.construct_mapping(node, deep=True)
    if tag in ("Ref", "Condition"):
        return {tag: value}
    return {f"Fn::{tag}": value.split(".", 1) if tag == "GetAtt" and isinstance(value, str) else value}


_Loader.add_multi_constructor("!", _tagged)


def chosen(declared: Mapping[str, Props], given: Values) -> dict[str, Any]:
    """Return the value of each parameter, as the template takes it.

    Raises: ParameterRefused.
    """
    if unknown := given.keys() - declared.keys():
        raise ParameterRefused(f"the template has no parameter {sorted(unknown)}; it has {sorted(declared)}")
    for name, value in given.items():
        if (rule := _broken(declared[name], value)) is not None:
            raise ParameterRefused(f"{name} cannot be {value!r}: its {rule} is {declared[name][rule]}")
    values = {name: it.get("Default", "") for name, it in declared.items()} | dict(given)
    lists = {name for name, it in declared.items() if it["Type"] == "CommaDelimitedList"}
    return values | {name: str(values[name]).split(",") for name in lists}


def _broken(declared: Props, value: Any) -> str | None:
    rules = {
        "MinValue": lambda least: float(value) >= least,
        "MaxValue": lambda most: float(value) <= most,
        "AllowedValues": lambda allowed: str(value) in map(str, allowed),
        "AllowedPattern": lambda pattern: all(re.search(pattern, each) for each in _each(declared, value)),
    }
    return next((name for name, holds in rules.items() if name in declared and not holds(declared[name])), None)  # type: ignore[no-untyped-call]


def _each(declared: Props, value: Any) -> list[str]:
    return str(value).split(",") if declared["Type"] == "CommaDelimitedList" else [str(value)]


def _references(resources: Mapping[str, Props]) -> Iterator[tuple[str, str]]:
    """Tell what `!Ref X` and `!GetAtt X.Arn` are, as AWS would say them of a resource that is named as its id."""
    for name, it in resources.items():
        match it["Type"]:
            case "AWS::SQS::Queue":
                yield name, f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/{name}"
                yield f"{name}.Arn", f"arn:aws:sqs:{REGION}:{ACCOUNT}:{name}"
                yield f"{name}.QueueName", name
            case "AWS::DynamoDB::Table":
                yield name, name
                yield f"{name}.Arn", f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{name}"
            case _:
                yield name, name


@dataclass(frozen=True, slots=True)
class Resolver:
    """Evaluates what can be evaluated with these values, and leaves the rest as it is written."""

    values: Values
    mappings: Props
    conditions: Props

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
            case {"Fn::GetAtt": [str(name), str(what)]} if f"{name}.{what}" in self.values:
                return self.values[f"{name}.{what}"]
            case {"Fn::If": [condition, yes, no]}:
                return self.resolve(yes if self.holds(condition) else no)
            case {"Fn::FindInMap": [name, first, second]}:
                return self.mappings[name][str(self.resolve(first))][second]
            case dict():
                return self._whole(
                    {key: it for key, value in node.items() if (it := self.resolve(value)) is not NOTHING}
                )
            case list():
                return [it for value in node if (it := self.resolve(value)) is not NOTHING]
            case _:
                return node

    def _whole(self, node: Props) -> Any:
        """Evaluate a function whose arguments are resolved."""
        match node:
            case {"Condition": str(name)} if len(node) == 1:
                return self.holds(name)
            case {"Fn::Equals": [left, right]}:
                return str(left) == str(right)
            case {"Fn::Not": [inner]}:
                return not inner
            case {"Fn::And": list(all_of)}:
                return all(all_of)
            case {"Fn::Or": list(any_of)}:
                return any(any_of)
            case {"Fn::Join": [str(between), [*parts]]} if all(isinstance(it, str) for it in parts):
                return between.join(parts)
            case {"Fn::Sub": str(text)} if all(name in self.values for name in _named(text)):
                return re.sub(r"\$\{([^}!]+)\}", lambda found: str(self.values[found[1]]), text)
            case _:
                return node


def _named(text: str) -> list[str]:
    return re.findall(r"\$\{([^}!]+)\}", text)
