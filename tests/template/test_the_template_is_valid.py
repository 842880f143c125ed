"""`sam validate --lint` is clean, and asks nobody: it runs with AWS pointed at a closed port."""

import subprocess

from tests.template.expansion import OFFLINE, ROOT, SAM


def test_sam_validates_and_lints_it() -> None:
    command = [str(SAM / "sam"), "validate", "--lint", "--template", "template.yaml"]
    nobody = {"AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_MAX_ATTEMPTS": "1"}
    done = subprocess.run(command, cwd=ROOT, env=OFFLINE | nobody, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
