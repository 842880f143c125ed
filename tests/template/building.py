"""Builds the layer as a deploy does, for another machine than the one that runs the tests.

It stays, since a cold build takes a while. Each build has a working directory of its own: SAM keeps downloaded packages
in `.aws-sam/deps` of it, and deletes those of any other build that it finds there.
"""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

from tests.template.expansion import OFFLINE, ROOT, SAM

RUNTIME = f"python{sys.version_info.major}.{sys.version_info.minor}"
PLACE = ROOT / ".local/tests-build"


def build_compiled(architecture: str, built: Path) -> Path:
    """Build the layer for another machine, of those packages alone that are compiled; `built` is this machine's."""
    source = PLACE / "compiled"
    for folder in ("shared", "functions"):
        (source / folder).mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "template.yaml", source / "template.yaml")
    (source / "shared/requirements.txt").write_text("".join(_compiled(built / "Layer/python")))
    return _build(source, architecture)


def _compiled(layer: Path) -> list[str]:
    """Return the lines of the layer's requirements whose packages hold compiled libraries on this machine."""
    records = [path for path in layer.glob("*.dist-info/RECORD") if ".so," in path.read_text()]
    names = {path.parent.name.split("-")[0].replace("_", "-").lower() for path in records}
    lines = (ROOT / "shared/requirements.txt").read_text().splitlines(keepends=True)
    return [line for line in lines if line.split("==")[0].strip().lower() in names]


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
