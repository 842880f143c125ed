"""An emulator is found again, and nothing else is ever taken for it."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from local import emulator, stack
from local.emulator import Emulator
from local.progress import Failure
from local.setup import ROOT


def test_it_starts_on_another_port_when_its_own_is_taken(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        running = emulator.start(tmp_path, port, auth=False)
        try:
            assert running.port != port
            assert emulator.answers(running)
        finally:
            emulator.stop(tmp_path, running)
    assert not emulator.runs(tmp_path)


def test_one_that_was_killed_does_not_run(tmp_path: Path) -> None:
    running = emulator.start(tmp_path, 0, auth=False)
    assert emulator.runs(tmp_path)
    os.kill(running.pid, signal.SIGKILL)
    os.waitpid(running.pid, 0)
    assert not emulator.runs(tmp_path)
    assert not emulator.answers(running)


def test_a_pid_that_belongs_to_another_process_is_left_alone(tmp_path: Path) -> None:
    stranger = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
    try:
        state = {"emulator": {"pid": stranger.pid, "port": 1, "auth": False}, "url": "", "digest": ""}
        (tmp_path / "stack.json").write_text(json.dumps(state))
        emulator.stop(tmp_path, Emulator(stranger.pid, 1, auth=False))
        assert stack.down(tmp_path) is False
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_one_that_cannot_start_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emulator, "LOCAL", tmp_path)
    (tmp_path / "ministack/bin").mkdir(parents=True)
    broken = tmp_path / "ministack/bin/python"
    broken.write_text("#!/bin/sh\necho no such module; exit 1\n")
    broken.chmod(0o755)
    with pytest.raises(Failure, match="no such module"):
        emulator.start(tmp_path / "home", 0, auth=False)


def test_it_holds_no_output_of_what_started_it(tmp_path: Path) -> None:
    started = f"emulator.start(Path({str(tmp_path)!r}), 0, auth=False).pid"
    program = f"from pathlib import Path; from local import emulator; print({started})"
    command = [sys.executable, "-c", program]
    # Would wait for the end of the emulator, and so for the time-out, if that had inherited the pipe.
    out = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60).stdout
    assert emulator.runs(tmp_path)
    emulator.stop(tmp_path, Emulator(int(out), 0, auth=False))
