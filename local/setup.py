"""The environments: uv in `.local/uv`, then the project's `.venv`, the SAM CLI's and the emulator's from one uv.lock.

Three, since each pins a botocore of its own. Runs on the bare machine's Python, before anything is installed. What an
environment was made from is kept in it, so that a repeated call costs nothing.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from local.lock import hold
from local.progress import Failure, say, step

UV_VERSION = "0.13.9"
ROOT = Path(__file__).resolve().parent.parent
LOCAL = ROOT / ".local"
UV = LOCAL / "uv"

_NETWORK = "It comes from PyPI: check the network, or pip's and uv's settings for a proxy or a mirror."


@dataclass(frozen=True, slots=True)
class Environment:
    """One virtual environment and the dependency groups of pyproject.toml that fill it."""

    title: str
    place: Path
    groups: tuple[str, ...]


ENVIRONMENTS = (
    Environment("Installing the project's dependencies (.venv)", ROOT / ".venv", ("--group", "dev")),
    Environment("Installing the SAM CLI (.local/sam)", LOCAL / "sam", ("--only-group", "sam")),
    Environment("Installing the local AWS (.local/ministack)", LOCAL / "ministack", ("--only-group", "ministack")),
)

CELERY = Environment("Installing Celery (.local/celery)", LOCAL / "celery", ("--only-group", "celery"))
"""For `make bench` alone."""


def main() -> int:
    """Bring every environment to what uv.lock says; return the exit status."""
    try:
        with hold(LOCAL / "setup.lock"):
            _bootstrap()
            for environment in ENVIRONMENTS:
                _sync(environment)
    except Failure as failure:
        say(str(failure))
        return 1
    return 0


def install(environment: Environment) -> None:
    """Bring one environment to what uv.lock says, where uv is there already."""
    with hold(LOCAL / "setup.lock"):
        _sync(environment)


def _bootstrap() -> None:
    made_from = f"uv {UV_VERSION}, {_python()}"
    if _stamp(UV) == made_from:
        return
    shutil.rmtree(UV, ignore_errors=True)
    with step(f"Installing uv {UV_VERSION} (.local/uv)"):
        _run([sys.executable, "-m", "venv", str(UV)], "On Debian and Ubuntu: apt-get install python3-venv.")
        pip = [str(UV / "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        _run([*pip, f"uv=={UV_VERSION}"], _NETWORK)
        _stamped(UV, made_from)


def _sync(environment: Environment) -> None:
    inputs = b"".join((ROOT / name).read_bytes() for name in ("pyproject.toml", "uv.lock"))
    made_from = f"{hashlib.sha256(inputs).hexdigest()}, {_python()}"
    if _stamp(environment.place) == made_from:
        return
    with step(environment.title):
        command = [str(UV / "bin/uv"), "sync", "--frozen", "--quiet", "--python", sys.executable, *environment.groups]
        _run(command, _NETWORK, UV_PROJECT_ENVIRONMENT=str(environment.place))
        _stamped(environment.place, made_from)


def _python() -> str:
    """Name the interpreter and this folder: an environment outlives neither the one nor a move of the other."""
    return f"Python {sys.version_info.major}.{sys.version_info.minor} in {sys.base_prefix}, for {ROOT}"


def _run(command: list[str], advice: str, **variables: str) -> None:
    foreign = ("VIRTUAL_ENV", "PYTHONHOME", "PYTHONPATH", "UV_PYTHON", "UV_PROJECT_ENVIRONMENT")
    environment = {name: value for name, value in os.environ.items() if name not in foreign}
    environment |= {"UV_PYTHON_DOWNLOADS": "never", "UV_NO_PROGRESS": "1"} | variables
    done = subprocess.run(command, cwd=ROOT, env=environment, input="", capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(f"{done.stdout}{done.stderr}\nThis failed: {' '.join(command)}\n{advice} Then try again.")


def _stamp(place: Path) -> str | None:
    stamp = place / "made-from"
    return stamp.read_text() if stamp.exists() else None


def _stamped(place: Path, made_from: str) -> None:
    (place / "made-from").write_text(made_from)


if __name__ == "__main__":
    sys.exit(main())
