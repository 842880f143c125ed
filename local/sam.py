"""Builds the real template.yaml and deploys it to the local AWS, with the SAM CLI as for a real account.

Runtime and architecture are the machine's own, since the emulator runs functions as plain processes.
"""

import hashlib
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import boto3

from local import account, mend
from local.emulator import Emulator, tail
from local.lock import hold
from local.progress import Failure, step
from local.setup import LOCAL, ROOT, UV

STACK = "onthedot"
BUCKET = "onthedot-artifacts"
BUILD = LOCAL / "build"

# Inside, so that a build that is broken off, which empties the folder first, leaves none.
_MADE_FROM = BUILD / "artefacts/made-from"
_BUILD_OPTIONS = (
    *("--cached", "--parallel"),
    *("--build-dir", str(BUILD / "artefacts"), "--cache-dir", str(BUILD / "cache")),
)
_DEPLOY_OPTIONS = (
    *("--template-file", str(BUILD / "artefacts/template.yaml")),
    *("--stack-name", STACK, "--s3-bucket", BUCKET, "--region", account.REGION, "--capabilities", "CAPABILITY_IAM"),
    *("--no-confirm-changeset", "--no-fail-on-empty-changeset", "--no-progressbar"),
)
# A section that samconfig.toml does not have: what a person saved there for a real account is none of ours.
_NO_CONFIG = ("--config-env", "local")


def machine() -> dict[str, str]:
    """Return the template parameters that this machine decides."""
    arm = platform.machine().lower() in ("arm64", "aarch64")
    runtime = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return {"Runtime": runtime, "Architecture": "arm64" if arm else "x86_64"}


def digest(parameters: Mapping[str, str]) -> str:
    """Hash all that a deployment is made from."""
    found = hashlib.sha256(repr(sorted(parameters.items())).encode())
    for path in sorted(_sources()):
        found.update(f"\0{path.relative_to(ROOT)}\0".encode())
        found.update(path.read_bytes())
    return found.hexdigest()


def deploy(emulator: Emulator, parameters: Mapping[str, str]) -> None:
    """Build what changed and bring the stack to it."""
    build()
    with step("Deploying template.yaml to the local AWS (sam deploy)"):
        boto3.client("s3", endpoint_url=emulator.url).create_bucket(Bucket=BUCKET)
        endpoint = {"AWS_ENDPOINT_URL": emulator.url}
        _sam("deploy", *_DEPLOY_OPTIONS, *_overrides(machine() | dict(parameters)), environment=endpoint)
        mend.deployment(STACK, emulator.url)


def build() -> Path:
    """Build what changed, one at a time; return the directory that holds a directory for each resource.

    Two builds at once, of stacks that were started together, would empty each other's folder.
    """
    with hold(LOCAL / "build.lock"):
        if not _is_built():
            with step("Building the functions and their layer (sam build)"):
                made_from = digest(machine())
                _sam("build", *_BUILD_OPTIONS, *_overrides(machine()))
                _MADE_FROM.write_text(made_from)
    return BUILD / "artefacts"


def outputs(emulator: Emulator) -> dict[str, str]:
    """Return the outputs of the deployed stack."""
    stacks = boto3.client("cloudformation", endpoint_url=emulator.url).describe_stacks(StackName=STACK)["Stacks"]
    return {output["OutputKey"]: output["OutputValue"] for output in stacks[0]["Outputs"]}


def _is_built() -> bool:
    return _MADE_FROM.exists() and _MADE_FROM.read_text() == digest(machine())


def _sources() -> list[Path]:
    found = [path for folder in ("functions", "shared") for path in (ROOT / folder).rglob("*") if path.is_file()]
    return [ROOT / "template.yaml", *(path for path in found if "__pycache__" not in path.parts)]


def _overrides(settings: Mapping[str, str]) -> list[str]:
    return ["--parameter-overrides", *(f"{name}={value}" for name, value in settings.items())]


def _sam(command: str, *arguments: str, environment: Mapping[str, str] = MappingProxyType({})) -> None:
    log = LOCAL / f"sam-{command}.log"
    whole = os.environ | {
        **environment,
        # sam build runs the runtime's own python with pip: uv's environment has both, under every name it looks for.
        "PATH": f"{UV / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "SAM_CLI_POLL_DELAY": "0.3",
        "SAM_CLI_TELEMETRY": "0",
    }
    line = [str(LOCAL / "sam/bin/python"), "-m", "samcli", command, *_NO_CONFIG, *arguments]
    with log.open("wb") as output, open(os.devnull) as nothing:
        status = subprocess.call(line, cwd=ROOT, env=whole, stdin=nothing, stdout=output, stderr=output)
    if status:
        raise Failure(f"sam {command} failed. The end of {log}:\n{tail(log)}\nMend what it names, then try again.")
