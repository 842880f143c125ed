"""The local AWS: one MiniStack process that outlives the command that started it.

It holds a lock on `emulator.lock` for as long as it lives (it inherits the open file). So "is it still running?" is "is
the lock taken?", and a pid that the system has since given to another process is never signalled.
"""

import http.client
import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from local import account
from local.lock import take
from local.progress import Failure
from local.setup import LOCAL

PORT = 4566
START_SECONDS = 60
STOP_SECONDS = 10

# What of the caller's environment reaches the emulator, which reads dozens of variables and lends all to the functions.
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "SSL_CERT_FILE", "SSL_CERT_DIR")


@dataclass(frozen=True, slots=True)
class Emulator:
    """A running emulator."""

    pid: int
    port: int
    auth: bool

    @property
    def url(self) -> str:
        """Where every emulated service answers."""
        return f"http://127.0.0.1:{self.port}"


def start(home: Path, port: int, *, auth: bool) -> Emulator:
    """Start an emulator with its files in `home`, on a free port if `port` is taken or 0; return when it answers."""
    home.mkdir(parents=True, exist_ok=True)
    chosen = port if port and _is_free(port) else _free_port()
    _discard_scratch(home)
    (home / "tmp").mkdir()
    emulator = Emulator(_spawn(home, _environment(chosen, home / "tmp", auth=auth)), chosen, auth)
    try:
        _wait_until_ready(emulator, home)
    except BaseException:
        stop(home, emulator)
        raise
    return emulator


def runs(home: Path) -> bool:
    """Tell whether the emulator of `home` is alive."""
    lock = home / "emulator.lock"
    if not lock.exists():
        return False
    with lock.open("a") as file:
        return not take(file.fileno())


def stop(home: Path, emulator: Emulator) -> None:
    """End the emulator of `home` and the function processes it started, if it is still alive."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        if not runs(home):
            break
        os.killpg(emulator.pid, sign)
        _wait_until_gone(home)
    _discard_scratch(home)


def answers(emulator: Emulator) -> bool:
    """Tell whether the emulator takes requests."""
    connection = http.client.HTTPConnection("127.0.0.1", emulator.port, timeout=5)
    try:
        connection.request("GET", "/_ministack/health")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _environment(port: int, scratch: Path, *, auth: bool) -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return kept | {
        "AUTH": str(auth).lower(),
        "AWS_ACCESS_KEY_ID": account.ID,
        "AWS_SECRET_ACCESS_KEY": account.SECRET,
        "BIND_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(port),
        "IOT_MTLS_ENABLED": "false",
        "MINISTACK_ACCOUNT_ID": account.ID,
        "MINISTACK_REGION": account.REGION,
        "TMPDIR": str(scratch),
    }


def _spawn(home: Path, environment: Mapping[str, str]) -> int:
    # -P: without it the working directory would come first on the import path.
    command = [str(LOCAL / "ministack/bin/python"), "-P", "-m", "ministack"]
    with (home / "emulator.lock").open("a") as lock, (home / "emulator.log").open("wb") as log:
        if not take(lock.fileno()):
            raise Failure(
                f"An emulator of {home} runs, but its pid is lost. Find it (ps, a python -m ministack) and end it."
            )
        process = subprocess.Popen(
            command,
            cwd=home,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=(lock.fileno(),),
            start_new_session=True,
        )
    return _let_go(process)


def _discard_scratch(home: Path) -> None:
    """Delete the emulator's scratch files behind our back: a layer unpacked for each function can take a minute."""
    scratch = home / "tmp"
    if scratch.exists():
        scratch.rename(home / f"tmp-{time.time_ns()}")
    doomed = [str(path) for path in home.glob("tmp-*")]
    if doomed:
        nothing = subprocess.DEVNULL
        rm = ["rm", "-rf", *doomed]
        _let_go(subprocess.Popen(rm, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True))


def _let_go(process: subprocess.Popen[bytes]) -> int:
    """Return the pid of a process that is meant to outlive this one; without this, Python warns that it does."""
    process.returncode = 0
    return process.pid


def _wait_until_ready(emulator: Emulator, home: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not answers(emulator):
        if not runs(home) or time.monotonic() > deadline:
            log = home / "emulator.log"
            raise Failure(f"The local AWS did not start. The end of {log}:\n{tail(log)}")
        time.sleep(0.1)


def _wait_until_gone(home: Path) -> None:
    deadline = time.monotonic() + STOP_SECONDS
    while runs(home) and time.monotonic() < deadline:
        time.sleep(0.05)


def _is_free(port: int) -> bool:
    with socket.socket() as candidate:
        # As the emulator does it: a port that was just given up is free.
        candidate.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            candidate.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _free_port() -> int:
    with socket.socket() as candidate:
        candidate.bind(("127.0.0.1", 0))
        port: int = candidate.getsockname()[1]
        return port


def tail(log: Path, lines: int = 15) -> str:
    """Return the last lines of a log."""
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])
