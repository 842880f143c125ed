"""The commands behind `make run`, `make up` and `make down`."""

import argparse
import sys

from rich.console import Console

from local import account, stack, terminal, tour
from local.progress import Failure, say


def main() -> int:
    """Run one command; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m local")
    commands = parser.add_subparsers(dest="command", required=True)
    up = commands.add_parser("up", help="start it in the background")
    up.add_argument("--auth", choices=("true", "false"), help="enforce IAM policies; left out: as it runs, else false")
    commands.add_parser("down", help="stop it")
    run = commands.add_parser("run", help="start it and watch three jobs")
    run.add_argument("--once", action="store_true", help="end when the first job has succeeded")
    arguments = parser.parse_args()
    try:
        with account.isolated():
            match arguments.command:
                case "up":
                    return _up(arguments.auth)
                case "down":
                    return _down()
                case _:
                    return _run(once=arguments.once)
    except Failure as failure:
        say(str(failure))
        return 1
    except KeyboardInterrupt:
        say("Interrupted; the same command goes on from here")
        return 130


def _up(auth: str | None) -> int:
    running = stack.up(auth=None if auth is None else auth == "true")
    print(f"ONTHEDOT_URL={running.url}")
    return 0


def _down() -> int:
    say("Stopped" if stack.down() else "Nothing is running")
    return 0


def _run(*, once: bool) -> int:
    with terminal.interruptible():
        ours = not stack.is_up()
        try:
            running = stack.up()
            if not once:
                say("Ctrl-C stops it")
            tour.guide(running.client, Console(), once=once)
        except KeyboardInterrupt:
            say("Interrupted")
        finally:
            if ours:
                stack.down()
                say("Stopped the local AWS")
            else:
                say("Left the local AWS running, as it was before; `make down` stops it")
    return 0


if __name__ == "__main__":
    sys.exit(main())
