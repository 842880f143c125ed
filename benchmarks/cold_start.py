"""Cold start: what each function imports and wires before its first event, beside a function of boto3 alone.

Each is measured in a fresh process: CPU seconds from the interpreter's start on, and the memory that it then holds.
"""

import json
import os
import subprocess
import sys
from statistics import median

from tests.support.aside import environment

from benchmarks import ROOT
from benchmarks.canned import NOWHERE, SHARDS
from benchmarks.rows import Row

ROUNDS = 7
BARE = "boto3 alone"
FUNCTIONS = ("api", "tick", "dispatch", "worker", "dead_letters")
WIRED = "import {name}; from onthedot import wiring; wiring.world()"
PLAIN = "import boto3; boto3.client('dynamodb'); boto3.client('sqs')"
MEASURE = """
import json, resource, sys, time
from pathlib import Path
begun = time.process_time()
{work}
spent = time.process_time() - begun
status = Path("/proc/self/status")  # of this process alone; elsewhere the most that it and who started it held
lines = status.read_text().splitlines() if status.exists() else []
held = [int(line.split()[1]) for line in lines if line.startswith("VmHWM")]
most = held[0] if held else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([spent * 1000, most / 1024]))
"""


def rows() -> list[Row]:
    """Let all take turns, and compare each with boto3 alone."""
    works = {BARE: PLAIN} | {name: WIRED.format(name=name) for name in FUNCTIONS}
    rounds = [{name: _measured(work) for name, work in works.items()} for _ in range(ROUNDS)]
    found = {name: [median(each[name][part] for each in rounds) for part in (0, 1)] for name in works}
    return [
        Row(f"cold-start, {name}{what}", found[name][part], unit, BARE, found[name][part] / found[BARE][part])
        for part, (what, unit) in enumerate([("", "CPU ms"), (", memory", "MB")])
        for name in FUNCTIONS
    ]


def _measured(work: str) -> tuple[float, float]:
    path = os.pathsep.join(str(ROOT / folder) for folder in ("functions", "shared"))
    variables = {"PATH": os.environ["PATH"], "PYTHONPATH": path, "AWS_DEFAULT_REGION": "eu-central-1"}
    command = [sys.executable, "-c", MEASURE.format(work=work)]
    done = subprocess.run(  # noqa: S603 - the command is ours
        command, env=environment(NOWHERE, SHARDS) | variables, capture_output=True, text=True, check=True
    )
    spent, memory = json.loads(done.stdout)
    return spent, memory
