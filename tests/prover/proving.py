"""Plays a history to its end, lets life go on without faults, and holds the promises against what is there then."""

import os
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from tests.prover.actors import Kind
from tests.prover.clients import Clients
from tests.prover.histories import History, Step, Verb, off_for
from tests.prover.play import Play
from tests.prover.stage import SHARDS, staged
from tests.support.databases import new_database
from tests.support.journal import JOURNAL
from tests.support.lab import START, Lab, forget
from tests.support.promises import violations

from onthedot.rules.jobs import State

PARTS = (Kind.TICK.value, Kind.DISPATCH.value, Kind.WORKER.value, Kind.DEAD_LETTERS.value, "sqs", "dynamodb")
CALM = timedelta(minutes=7)
"""How long whoever is frozen may take to wake up and end."""
REST = timedelta(minutes=4)
PAUSE = timedelta(minutes=10)
BOUND = timedelta(minutes=14)
"""How late a job may start that the queue has not lost, outages apart: less than the sweep takes to find it."""
MOST_PAUSES = 20
PENDING = (State.SCHEDULED, State.RUNNING)


@dataclass(slots=True)
class Counts:
    """What histories were made of."""

    histories: int = 0
    faults: int = 0
    jobs: int = 0
    attempts: int = 0
    violations: int = 0

    def add(self, play: Play, broken: list[str]) -> None:
        """Count one."""
        self.histories += 1
        self.faults += play.fates.total()
        self.jobs += sum("state" in item for item in play.lab.items())
        self.attempts += len(JOURNAL.calls)
        self.violations += len(broken)


@dataclass(slots=True)
class Life:
    """One history as it is played."""

    play: Play
    clients: Clients
    database: ExitStack
    later: list[tuple[datetime, str]] = field(default_factory=list)

    def live(self, steps: tuple[Step, ...]) -> None:
        """Let all happen, each in its time, and then let faults end and life go on."""
        for step in steps:
            self._advance(timedelta(seconds=step.after))
            self._take(step)
        self._advance(REST)
        self._settle()

    def _advance(self, span: timedelta) -> None:
        end = self.play.lab.now() + span
        for at, part in sorted(self.later):
            if at <= end:
                self.play.advance(at - self.play.lab.now())
                self.play.off[part] -= 1
                self.later.remove((at, part))
        self.play.advance(end - self.play.lab.now())

    def _take(self, step: Step) -> None:
        match step.verb:
            case Verb.OFF:
                part = PARTS[step.which]
                self.play.off[part] += 1
                self.later.append((self.play.lab.now() + off_for(step.value), part))
            case Verb.PURGE:
                self.play.lab.purge()
            case Verb.DUPLICATE:
                self._duplicate(step)
            case Verb.GROW:
                os.environ["ONTHEDOT_SHARDS"] = str(SHARDS + 1 + step.which % 2)
                forget()
            case Verb.REZONE:
                self.database.enter_context(new_database())
            case verb:
                getattr(self.clients, verb.value)(step.which, step.value)

    def _duplicate(self, step: Step) -> None:
        lab = self.play.lab
        messages = lab.messages()
        if messages:
            body = messages[step.which % len(messages)].body
            lab.sqs.send_message(QueueUrl=lab.urls["JobQueue"], MessageBody=body, DelaySeconds=step.value * 60)

    def _settle(self) -> None:
        self.play.off.clear()
        self.play.weather = replace(self.play.weather, faults=0, deaths=0, freezes=0)
        until = self.play.lab.now() + CALM
        while self.play.actors and self.play.lab.now() < until:
            self.play.advance(timedelta(seconds=30))
        for _ in range(MOST_PAUSES):
            if not any(item.get("state", {}).get("S") in PENDING for item in self.play.lab.items()):
                break
            self.play.lab.advance(minutes=PAUSE / timedelta(minutes=1))


def prove(lab: Lab, history: History, counts: Counts) -> list[str]:
    """Play a history, count what it was made of, and return the promises that broke."""
    length = sum((timedelta(seconds=step.after) for step in history.steps), REST)
    with staged(lab, history.weather) as play, ExitStack() as database:
        play.told.bound = BOUND + _off(history) if _is_calm(history) else None
        Life(play, Clients(play, START + length), database).live(history.steps)
        broken = violations(lab, play.told, JOURNAL.calls)
        counts.add(play, broken)
        return broken


def _is_calm(history: History) -> bool:
    """Tell whether nothing but writers and dispatchers can make a job late."""
    purged = any(step.verb is Verb.PURGE for step in history.steps)
    return history.weather.calm_workers and not history.weather.freezes and not purged


def _off(history: History) -> timedelta:
    return sum((off_for(step.value) for step in history.steps if step.verb is Verb.OFF), timedelta(0))
