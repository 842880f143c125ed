"""Up and down: one emulator with the template deployed on it, described by `stack.json` in its home folder."""

import json
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import boto3
from botocore.credentials import Credentials

from local import account, emulator, sam
from local.emulator import Emulator
from local.lock import hold
from local.progress import Failure, say, step
from local.setup import LOCAL
from onthedot.client import Client

HEALTHY_SECONDS = 90


@dataclass(frozen=True, slots=True)
class Stack:
    """A deployed stack: its emulator, where its API is, and the hash of what was deployed (empty: nothing yet)."""

    emulator: Emulator
    url: str = ""
    digest: str = ""

    @property
    def client(self) -> Client:
        """Return a client of the API, signing as the local account."""
        return Client(self.url, Credentials(account.ID, account.SECRET), account.REGION)


def up(
    home: Path = LOCAL,
    *,
    auth: bool | None = None,
    port: int = emulator.PORT,
    parameters: Mapping[str, str] | None = None,
) -> Stack:
    """Bring up the stack of `home`, or a running one to what the files now say; return when it is healthy.

    `auth`: whether the emulator enforces IAM, None for what runs; `port`: the one to start on, 0 for any.
    """
    parameters = parameters or {}
    with hold(home / "stack.lock"):
        stack = _running(home, auth) or _start(home, port, auth=bool(auth))
        digest = sam.digest(parameters)
        if stack.digest != digest or not _is_there(stack):
            stack = _deploy(home, stack, parameters, digest)
        _wait_until_healthy(home, stack)
    return stack


def down(home: Path = LOCAL) -> bool:
    """Stop the stack of `home`; return whether one was running."""
    with hold(home / "stack.lock"):
        stack = _read(home)
        if stack:
            emulator.stop(home, stack.emulator)
        (home / "stack.json").unlink(missing_ok=True)
    return stack is not None


def is_up(home: Path = LOCAL) -> bool:
    """Tell whether a stack of `home` is running now."""
    return _read(home) is not None


def _running(home: Path, auth: bool | None) -> Stack | None:
    stack = _read(home)
    if not stack:
        return None
    if auth in (None, stack.emulator.auth) and emulator.answers(stack.emulator):
        return stack
    say("Starting the local AWS anew: it hangs, or was started with another AUTH")
    emulator.stop(home, stack.emulator)
    return None


def _start(home: Path, port: int, *, auth: bool) -> Stack:
    with step("Starting the local AWS (MiniStack)"):
        stack = Stack(emulator.start(home, port, auth=auth))
        _write(home, stack)
    if port not in (0, stack.emulator.port):
        say(f"Port {port} is taken; using {stack.emulator.port}")
    return stack


def _deploy(home: Path, stack: Stack, parameters: Mapping[str, str], digest: str) -> Stack:
    # One build folder for every home: two stacks that come up at once take turns.
    with hold(sam.BUILD / "lock"):
        sam.deploy(stack.emulator, parameters)
    api = urlsplit(sam.outputs(stack.emulator)["ApiUrl"])
    url = f"{stack.emulator.url}/_aws/execute-api/{api.netloc.partition('.')[0]}{api.path}"
    deployed = replace(stack, url=url, digest=digest)
    with step("Starting the functions"):
        _start_functions(deployed)
    _write(home, deployed)
    return deployed


def _is_there(stack: Stack) -> bool:
    """Tell whether the API answers at all: somebody may have reset the emulator."""
    return stack.client.call("GET", "/health").status in (200, 503)


def _wait_until_healthy(home: Path, stack: Stack) -> None:
    answer = stack.client.call("GET", "/health")
    if answer.status == 200:
        return
    with step("Waiting until it is healthy"):
        deadline = time.monotonic() + HEALTHY_SECONDS
        while answer.status != 200 and time.monotonic() < deadline:
            time.sleep(0.2)
            answer = stack.client.call("GET", "/health")
    if answer.status != 200:
        raise Failure(
            f"The stack is up, but not healthy: {answer.status} {answer.text}\nIts log: {home / 'emulator.log'}"
        )


def _start_functions(stack: Stack) -> None:
    """Spare the first jobs the wait for the timer's first tick, a minute, and for the start of a worker."""
    outputs = sam.outputs(stack.emulator)
    _invoke(stack, outputs["TickFunctionName"], {})
    _invoke(stack, outputs["WorkerFunctionName"], {"Records": []})


def _invoke(stack: Stack, function: str, event: object) -> None:
    functions = boto3.client("lambda", endpoint_url=stack.emulator.url)
    done = functions.invoke(FunctionName=function, Payload=json.dumps(event).encode())
    if "FunctionError" in done:
        raise Failure(f"The stack is up, but {function} failed: {done['Payload'].read().decode()}")


def _read(home: Path) -> Stack | None:
    with suppress(FileNotFoundError):
        kept = json.loads((home / "stack.json").read_text())
        if emulator.runs(home):
            return Stack(Emulator(**kept["emulator"]), kept["url"], kept["digest"])
    return None


def _write(home: Path, stack: Stack) -> None:
    running = {"pid": stack.emulator.pid, "port": stack.emulator.port, "auth": stack.emulator.auth}
    kept = {"emulator": running, "url": stack.url, "digest": stack.digest}
    (home / "stack.json").write_text(json.dumps(kept))
