"""Work: what one message becomes: a start, an attempt, a finish, and whether the message is acknowledged.

A message is acknowledged only when it has nothing more to tell. In doubt it comes back, and the table decides again.
"""

from dataclasses import dataclass
from typing import Protocol

from onthedot.messages import read_job
from onthedot.rules.agenda import Entry, rest_of
from onthedot.rules.errors import Unavailable
from onthedot.rules.instants import seconds_up
from onthedot.rules.policies import Policies
from onthedot.steps.finish import Ending, Failure, finish
from onthedot.steps.heartbeat import Hold, Pulse
from onthedot.steps.ports import World
from onthedot.steps.start import Attempt, Drop, Wait, give_back, is_too_slow, start


class Runner(Protocol):
    """Runs handlers."""

    def policies(self) -> Policies:
        """Return what the handlers say of their attempts."""

    def run(self, attempt: Attempt, payload: str, pulse: Pulse) -> Ending:
        """Call the job's handler, and return how that ended."""


@dataclass(frozen=True, slots=True)
class Worked:
    """What became of a message, and whether its handler is still running past its timeout."""

    acknowledged: bool
    stuck: bool = False


def work(world: World, text: str, runner: Runner, hold: Hold) -> Worked:
    """Do what the message asks for."""
    entry = entry_in(world, text)
    if entry is None:
        return Worked(acknowledged=True)
    _wait_for_the_rest(world, entry)
    match start(world, entry, runner.policies()):
        case Drop():
            return Worked(acknowledged=True)
        case Wait(span):
            hold(seconds_up(span))
            return Worked(acknowledged=False)
        case Attempt() as attempt:
            return _attempt(world, attempt, runner, hold)


def _wait_for_the_rest(world: World, entry: Entry) -> None:
    """Wait for the job's time, where its message was sent to come a little early.

    Before the start, which reads the clock anew: no lease runs yet, and whoever dies meanwhile has changed nothing.
    """
    if rest := rest_of(entry, world.clock.now(), world.timing):
        world.clock.wait(rest)


def entry_in(world: World, text: str) -> Entry | None:
    """Return what a message wakes; one that is no job is kept with the strays."""
    entry = read_job(text)
    if entry is None:
        world.strays.keep(text, "this message is no job")
    return entry


def _attempt(world: World, attempt: Attempt, runner: Runner, hold: Hold) -> Worked:
    pulse = Pulse(world, attempt, hold)
    pulse.begin()
    attempt = pulse.attempt
    try:
        payload = world.payloads.text(attempt.job)
    except LookupError as error:
        return _finished(world, attempt, Failure(str(error), "payload gone", final=True))
    except Unavailable:
        return _given_back(world, attempt, hold)
    if is_too_slow(world, attempt):
        return _given_back(world, attempt, hold)
    ending = runner.run(attempt, payload, pulse)
    return _finished(world, pulse.attempt, ending)


def _finished(world: World, attempt: Attempt, ending: Ending) -> Worked:
    """Finish the attempt. A stuck handler is told of even if that fails, or it would go on in the next invocation."""
    stuck = isinstance(ending, Failure) and ending.stuck
    try:
        return Worked(finish(world, attempt, ending), stuck)
    except Exception:
        if not stuck:
            raise
        return Worked(acknowledged=False, stuck=True)


def _given_back(world: World, attempt: Attempt, hold: Hold) -> Worked:
    give_back(world, attempt)
    hold(0)
    return Worked(acknowledged=False)
