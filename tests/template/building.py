"""Builds the template as a deploy does, for the Python that runs the tests, into a directory of its own."""

import os
import platform
import subprocess
import sys
import venv
from pathlib import Path

from tests.template.expansion import OFFLINE, ROOT, SAM

RUNTIME = f"python{sys.version_info.major}.{sys.version_info.minor}"
MACHINE = "arm64" if platform.machine() in ("arm64", "aarch64") else "x86_64"
PIP = ROOT / ".local/build-python"
CACHE = ROOT / ".local/build-cache"


def build(into: Path, architecture: str, *resources: str) -> Path:
    """Build all, or the named resources, and return the directory that holds a directory for each."""
    overrides = ["--parameter-overrides", f"Runtime={RUNTIME}", f"Architecture={architecture}"]
    places = ["--build-dir", str(into), "--cache-dir", str(CACHE / architecture)]
    command = [str(SAM / "sam"), "build", *resources, *overrides, *places, "--template", str(ROOT / "template.yaml")]
    path = f"{python_with_pip().parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(command, env=OFFLINE | {"PATH": path}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return into


def python_with_pip() -> Path:
    """Return the runtime's own Python with pip, which `sam build` looks for on PATH."""
    python = PIP / "bin" / RUNTIME
    if not python.exists():
        venv.create(PIP, with_pip=True, clear=True, symlinks=True)
    return python
