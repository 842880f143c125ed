"""What a cold start imports, in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
IMPORT = """
import json, sys, time
begun = time.process_time()
import {name}
print(json.dumps([time.process_time() - begun, sorted(sys.modules)]))
"""
FOR_OTHERS = {"onthedot.client", "onthedot.testing", "moto", "pytest", "rich"}
HEAVY = {"pydantic", "aws_lambda_powertools.event_handler", "onthedot.http", *FOR_OTHERS}
INIT_SECONDS = 10
"""Source: docs.aws.amazon.com/lambda, runtimes-context (aws-traps 53)."""


def imported(name: str) -> tuple[float, set[str]]:
    """Return how long the import takes (CPU, since other tests run beside it), and all modules there are after it."""
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join([str(ROOT / "functions"), str(ROOT / "shared")]),
        "PYTHONTZPATH": "",
        "AWS_DEFAULT_REGION": "eu-central-1",
    }
    command = [sys.executable, "-W", "error", "-c", IMPORT.format(name=name)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    seconds, modules = json.loads(done.stdout)
    return seconds, set(modules)


@pytest.mark.parametrize("name", ["tick", "dispatch", "worker", "dead_letters"])
def test_a_function_imports_what_it_needs_and_no_more(name: str) -> None:
    """It is imported with no settings, as in a build; pydantic and the router are for the API alone."""
    seconds, modules = imported(name)
    assert not modules & HEAVY
    assert seconds < INIT_SECONDS / 2


def test_the_api_needs_neither_client_nor_a_test() -> None:
    seconds, modules = imported("api")
    assert not modules & FOR_OTHERS
    assert seconds < INIT_SECONDS / 2
