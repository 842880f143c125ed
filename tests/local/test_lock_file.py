"""What the layer ships is what the lock says."""

import os
import subprocess

from local.setup import ROOT, UV


def test_the_layer_s_requirements_are_those_of_the_lock() -> None:
    command = [str(UV / "bin/uv"), "export", "--quiet", "--frozen", "--offline", "--only-group", "layer"]
    asked = [*command, "--no-hashes", "--no-annotate", "--no-header"]
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "UV_PYTHON_DOWNLOADS": "never"}
    locked = subprocess.run(asked, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout
    assert (ROOT / "shared/requirements.txt").read_text() == locked, "run `make lock`"
