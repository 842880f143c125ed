"""Builds the template as a deploy does, for the Python that runs the tests, into directories of its own.

They stay, since a cold build takes half a minute. Each build has a working directory of its own: SAM keeps downloaded
packages in `.aws-sam/deps` of it, and deletes those of any other build that it finds there.
"""

import os
import platform
import shutil
import subprocess
import sys
import venv
from pathlib import Path

from tests.template.expansion import OFFLINE, ROOT, SAM

RUNTIME = f"python{sys.version_info.major}.{sys.version_info.minor}"
MACHINE = "arm64" if platform.machine() in ("arm64", "aarch64") else "x86_64"
PLACE = ROOT / ".local/tests-build"


def build_all() -> Path:
    """Build all for this machine; return the directory that holds a directory for each resource."""
    return _build(ROOT, MACHINE)


def build_dependencies(architecture: str) -> Path:
    """Build all without our own code, so that only a change of the dependencies builds the layer anew."""
    source = PLACE / "dependencies"
    for folder in ("shared", "functions"):
        (source / folder).mkdir(parents=True, exist_ok=True)
    for name in ("template.yaml", "shared/requirements.txt"):
        shutil.copy(ROOT / name, source / name)
    return _build(source, architecture)


def _build(source: Path, architecture: str) -> Path:
    place = PLACE / architecture / source.name
    into = place / "artefacts"
    place.mkdir(parents=True, exist_ok=True)
    overrides = ["--parameter-overrides", f"Runtime={RUNTIME}", f"Architecture={architecture}"]
    places = ["--build-dir", str(into), "--cache-dir", str(place / "cache"), "--cached"]
    command = [str(SAM / "sam"), "build", *overrides, *places, "--template", str(source / "template.yaml")]
    path = f"{_python_with_pip().parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(command, cwd=place, env=OFFLINE | {"PATH": path}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return into


def _python_with_pip() -> Path:
    """Return the runtime's own Python with pip, which `sam build` looks for on PATH."""
    home = PLACE / RUNTIME
    python = home / "bin" / RUNTIME
    if not python.exists():
        venv.create(home, with_pip=True, clear=True, symlinks=True)
    return python
