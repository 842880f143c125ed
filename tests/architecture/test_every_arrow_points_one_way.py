"""Who may import whom, kept by reading the code.

functions -> wiring -> adapters -> steps (their ports) -> rules
"""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[2]
SHARED, FUNCTIONS = ROOT / "shared", ROOT / "functions"
STUBS = {"mypy_boto3_dynamodb", "mypy_boto3_sqs"}
LAYER = {"boto3", "botocore", "pydantic", "aws_lambda_powertools", "tzdata"}

OURS = {
    "rules": {"rules"},
    "messages": {"rules"},
    "clock": {"rules"},
    "settings": {"rules"},
    "handler": {"rules"},
    "client": set(),
    "onthedot": {"handler"},
    "steps": {"steps", "ports", "rules", "messages"},
    "ports": {"ports", "rules"},
    "attempt": {"rules", "steps", "handler"},
    "telemetry": {"rules", "ports"},
    "adapters": {"adapters", "ports", "rules", "messages"},
    "outgoing": {"outgoing", "handler"},
    "http": {"http", "steps", "ports", "rules", "onthedot"},
    "wiring": {"adapters", "attempt", "clock", "handler", "outgoing", "ports", "rules", "settings", "telemetry"},
    "functions": {"handler", "http", "messages", "onthedot", "outgoing", "steps", "telemetry", "wiring"},
    "testing": {"testing", "adapters", "handler", "messages", "onthedot", "rules", "wiring"},
}
"""What of ours each part may import."""
THEIRS = {
    "adapters": {"botocore", *STUBS},
    "client": {"botocore"},
    "http": {"pydantic", "aws_lambda_powertools"},
    "outgoing": {"botocore"},
    "telemetry": {"aws_lambda_powertools"},
    "testing": {"boto3", "botocore", "moto", "pytest", "time_machine", "yaml"},
    "wiring": {"boto3", *STUBS},
}
"""What of others' each part may import, beside the standard library."""
FOR_OTHERS = {"client", "testing"}
"""What is in the package for people and tests, and what no function imports."""
READS_OS = {"wiring", "telemetry", *FOR_OTHERS}
READS_ENVIRONMENT = {"wiring", *FOR_OTHERS}
KEEPS_TIME = {"clock", "testing"}
TIME_AND_CHANCE = {"time", "random", "secrets", "uuid"}
ASKED_FOR_TIME = {"now", "today", "utcnow", "urandom"}


@dataclass(frozen=True, slots=True)
class Module:
    """A module of ours: its dotted name, the part that it belongs to, and its code."""

    name: str
    part: str
    tree: ast.Module
    lines: int

    @property
    def imports(self) -> set[str]:
        """Every module that it imports, by its dotted name."""
        found: set[str] = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{self.name} imports relatively"
                assert node.module is not None
                found |= {module_named(node.module, alias.name) for alias in node.names}
        return found


def module_named(package: str, name: str) -> str:
    """Return the module that `from package import name` means."""
    inner = f"{package}.{name}"
    return inner if package.startswith("onthedot") and inner in paths() else package


@cache
def paths() -> dict[str, Path]:
    """Return the file of each module of ours, by its dotted name."""
    found: dict[str, Path] = {}
    for root in (SHARED, FUNCTIONS):
        for path in root.rglob("*.py"):
            found[".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")] = path
    return found


def part_of(name: str) -> str:
    if not name.startswith("onthedot"):
        return "functions"
    words = name.split(".")
    return "ports" if name.startswith("onthedot.steps.ports") else words[1] if len(words) > 1 else "onthedot"


@cache
def modules() -> list[Module]:
    """Return every module of ours."""
    texts = {name: path.read_text() for name, path in paths().items()}
    return [Module(name, part_of(name), ast.parse(text), len(text.splitlines())) for name, text in texts.items()]


def functions_of(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    yield from (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def test_every_part_is_known() -> None:
    assert {module.part for module in modules()} <= OURS.keys()


def test_a_module_imports_of_ours_only_what_is_below_it() -> None:
    """A step that knew an adapter could not be tried without AWS; a rule that knew a step could not be tried alone."""
    for module in modules():
        own = {name for name in module.imports if name.split(".")[0] in {"onthedot", "handlers"} or name in paths()}
        inside = {name for name in own if part_of(name) == module.part == "functions"}
        assert {part_of(name) for name in own - inside} <= OURS[module.part], module.name


def test_a_module_imports_of_others_only_what_its_part_is_for() -> None:
    for module in modules():
        others = {name.split(".")[0] for name in module.imports} - {"onthedot", "handlers"} - sys.stdlib_module_names
        assert others - {name.split(".")[0] for name in paths()} <= THEIRS.get(module.part, set()), module.name


def test_the_router_stays_with_http_and_the_logger_with_telemetry() -> None:
    """The router and pydantic cost every cold start of a worker, who needs neither."""
    for module in modules():
        powertools = {name for name in module.imports if name.startswith("aws_lambda_powertools")}
        router = {name for name in powertools if name.startswith("aws_lambda_powertools.event_handler")}
        assert not router or module.part == "http", module.name
        assert not powertools - router or module.part == "telemetry", module.name


def test_there_is_no_circle() -> None:
    names = {module.name for module in modules()}
    arrows = {module.name: module.imports & names - {module.name} for module in modules()}
    assert list(TopologicalSorter(arrows).static_order())


def test_what_is_for_others_is_imported_by_nothing_that_runs() -> None:
    """A worker that imported the test kit would need moto, and its cold start would take seconds."""
    for module in modules():
        others = {part_of(name) for name in module.imports if name.startswith("onthedot.")} & FOR_OTHERS
        assert others <= {module.part}, module.name


def test_only_the_clock_reads_time_or_chance() -> None:
    """Everything else is handed `now`, so that a test can move it (aws-traps 52); the test kit is what moves it."""
    for module in modules():
        if module.part in KEEPS_TIME:
            continue
        assert not module.imports & TIME_AND_CHANCE, module.name
        asked = [
            node for node in ast.walk(module.tree) if isinstance(node, ast.Attribute) and node.attr in ASKED_FOR_TIME
        ]
        of_whom = {ast.unparse(node.value) for node in asked}
        assert not of_whom & {"datetime", "date", "datetime.datetime", "datetime.date", "os"}, module.name


def test_only_the_wiring_reads_the_environment() -> None:
    for module in modules():
        assert "os" not in module.imports or module.part in READS_OS, module.name
        reads = any(
            isinstance(node, ast.Attribute | ast.Name | ast.alias)
            and getattr(node, "attr", getattr(node, "id", getattr(node, "name", "")))
            in {"environ", "getenv", "environb"}
            for node in ast.walk(module.tree)
        )
        assert not reads or module.part in READS_ENVIRONMENT, module.name


def test_nothing_is_printed() -> None:
    for module in modules():
        calls = [node.func for node in ast.walk(module.tree) if isinstance(node, ast.Call)]
        assert "print" not in {call.id for call in calls if isinstance(call, ast.Name)}, module.name


def test_a_module_fits_on_a_screen_or_two() -> None:
    for module in modules():
        thin = module.part == "functions" and "." not in module.name
        assert module.lines <= (60 if thin else 250), module.name


def test_a_function_fits_in_a_glance() -> None:
    """25 lines is the aim; a table or a form may take a few more."""
    for module in modules():
        long = {node.name: (node.end_lineno or 0) - node.lineno + 1 for node in functions_of(module.tree)}
        assert {name: lines for name, lines in long.items() if lines > 30} == {}, module.name


def test_most_functions_are_small() -> None:
    """The admired code has a median of 4 to 5 lines, and 90 % under 20."""
    lines = sorted(
        (node.end_lineno or 0) - node.lineno + 1 for module in modules() for node in functions_of(module.tree)
    )
    assert lines[len(lines) // 2] <= 8
    assert lines[len(lines) * 9 // 10] <= 20


def test_the_package_is_imported_as_users_do_and_names_what_they_need() -> None:
    (package,) = (module for module in modules() if module.name == "onthedot")
    names = next(node for node in package.tree.body if isinstance(node, ast.Assign))
    assert ast.literal_eval(names.value) == ["Discard", "Job", "RetryAfter", "Stopped", "handler"]


def test_what_the_parts_need_is_in_the_layer() -> None:
    needed = set().union(*(theirs for part, theirs in THEIRS.items() if part not in FOR_OTHERS)) - STUBS
    assert needed <= LAYER
    shipped = (SHARED / "requirements.txt").read_text().replace("-", "_")
    assert all(f"{name}==" in shipped for name in LAYER)
