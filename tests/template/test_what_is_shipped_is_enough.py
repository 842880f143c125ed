"""The built artefacts and the layer hold all that a function needs, for the machine that it runs on.

The local AWS lends functions its own packages, so it would not notice one that is missing.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from local import sam
from tests.template.building import build_compiled
from tests.template.expansion import FUNCTIONS, Template, expand

MACHINE_OF_ELF = {62: "x86_64", 183: "arm64"}
UNZIPPED_LIMIT = 250 * 1024 * 1024
IMPORT = """
import importlib, json, sys
module, name = sys.argv[1].split(".")
sys.path[:0] = sys.argv[2:]
assert callable(getattr(importlib.import_module(module), name))
import boto3, botocore
print(json.dumps([boto3.__file__, botocore.__file__]))
"""


def machines(directory: Path) -> set[str]:
    """Return the machines that compiled libraries below a directory are for."""
    heads = (path.read_bytes()[:20] for path in directory.rglob("*.so*"))
    return {MACHINE_OF_ELF[int.from_bytes(head[18:20], "little")] for head in heads if head.startswith(b"\x7fELF")}


def environment(template: Template, name: str) -> dict[str, str]:
    """Return a function's variables as Lambda would set them; what only a deploy knows is a stand-in."""
    variables = template.properties(name)["Environment"]["Variables"]
    known = {key: str(it) if isinstance(it, str | int) else "https://queue/1/stand-in" for key, it in variables.items()}
    return known | {
        "ONTHEDOT_ALLOWED_TARGET_ARNS": "",
        "AWS_REGION": "eu-central-1",
        "AWS_DEFAULT_REGION": "eu-central-1",
    }


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_imports_with_its_artefact_and_the_layer_alone(template: Template, built: Path, name: str) -> None:
    """The layer ships its own boto3 too, which must win over the runtime's."""
    layer = built / "Layer/python"
    handler = template.properties(name)["Handler"]
    command = [sys.executable, "-I", "-S", "-B", "-c", IMPORT, handler, str(built / name), str(layer)]
    done = subprocess.run(command, env=environment(template, name), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert all(Path(it).is_relative_to(layer) for it in json.loads(done.stdout.splitlines()[-1]))


def test_the_layer_is_compiled_for_this_machine(built: Path) -> None:
    assert machines(built / "Layer") == {sam.machine()["Architecture"]}


def test_an_arm64_layer_holds_nothing_compiled_for_another_machine(built: Path) -> None:
    """Trap 24: without BuildArchitecture it gets x86_64 libraries, which fail in AWS only."""
    assert machines(build_compiled("arm64", built)) == {"arm64"}


def test_lambda_takes_it(built: Path) -> None:
    """Function and layer may hold 250 MB unzipped."""
    sizes = {it: sum(path.stat().st_size for path in (built / it).rglob("*")) for it in (*FUNCTIONS, "Layer")}
    assert max(sizes[it] for it in FUNCTIONS) + sizes["Layer"] < UNZIPPED_LIMIT


def test_no_test_is_shipped(built: Path) -> None:
    shipped = [it for name in FUNCTIONS for it in (built / name).rglob("*.py")]
    assert shipped
    assert not any("test" in path.name for path in shipped)


def test_the_layer_says_what_it_is_for() -> None:
    """Traps 23 and 24: SAM keeps each old version otherwise, 30 MB each."""
    (layer,) = expand(Runtime="python3.12", Architecture="arm64").of_type("AWS::Lambda::LayerVersion").values()
    assert (layer["CompatibleRuntimes"], layer["CompatibleArchitectures"]) == (["python3.12"], ["arm64"])
    (resource,) = (it for it in expand().resources.values() if it["Type"] == "AWS::Lambda::LayerVersion")
    assert resource["DeletionPolicy"] == "Delete"
