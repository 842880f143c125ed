"""Every crash point of a flow: each call that it makes, and each kind of fault that may befall that call.

How many calls there are is found by playing, so a call that is new is covered without anybody listing it. A play is:

    renew the lab     before     act: the fault is in here     perhaps the client repeats     life goes on     promises
"""

from dataclasses import dataclass, field
from math import ceil
from zlib import crc32

from tests.crashes.clients import Client
from tests.crashes.faults import Kind, befalls
from tests.crashes.flows import Flow
from tests.crashes.judging import wrong_after
from tests.crashes.processes import Play, playing
from tests.crashes.renewal import renew
from tests.support.journal import JOURNAL
from tests.support.lab import Lab
from tests.support.proving import IN_FULL

FEW = 2
"""Points of a flow that are played in short."""


@dataclass(frozen=True, slots=True)
class Point:
    """A call of a flow, what befalls it, and whether its client asks again."""

    flow: str
    number: int
    operation: str
    kind: Kind
    repeats: bool

    def __str__(self) -> str:
        again = ", and the client repeats" if self.repeats else ""
        return f"{self.flow}: {self.operation} (call {self.number}) {self.kind}{again}"


@dataclass(slots=True)
class Played:
    """The points of a flow that were played, and what was wrong after which.

    `made` are the calls of the flow alone, as they were counted, `got` those that AWS got.
    """

    made: list[str]
    got: list[str]
    points: list[Point] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    jobs: int = 0
    attempts: int = 0


def play_points(lab: Lab, flow: Flow, *, in_full: bool = IN_FULL) -> Played:
    """Play a flow alone, and then at each of its points; in short at some of them."""
    played = play_alone(lab, flow)
    for number, kind in every_point(played.made) if in_full else some_points(flow.name, played.made):
        for repeats in [False, True] if in_full else [number % 2 == 0]:
            point = Point(flow.name, number, played.made[number], kind, repeats)
            wrong, was_unsure = play_point(lab, flow, point)
            played.points.append(point)
            played.jobs += sum("state" in item for item in lab.items())
            played.attempts += len(JOURNAL.calls)
            played.wrong += wrong
            if not was_unsure:
                break
    return played


def play_alone(lab: Lab, flow: Flow) -> Played:
    """Play a flow undisturbed."""
    play, _, wrong = _play(lab, flow, Play(lab))
    return Played(play.made, play.got, wrong=[f"{flow.name}, undisturbed: {what}" for what in wrong])


def play_point(lab: Lab, flow: Flow, point: Point) -> tuple[list[str], bool]:
    """Play a flow at a point; return what was wrong after it, and whether its client had reason to ask again."""
    play, client, wrong = _play(lab, flow, Play(lab, point.number, point.kind), repeats=point.repeats)
    assert play.reached, f"not reached: {point}"
    return [f"{point}: {what}" for what in wrong], client.was_unsure


def every_point(made: list[str]) -> list[tuple[int, Kind]]:
    """Return each call with each kind of fault that may befall it."""
    return [(number, kind) for number, operation in enumerate(made) for kind in Kind if befalls(kind, operation)]


def some_points(name: str, made: list[str]) -> list[tuple[int, Kind]]:
    """Return calls at equal distances, each with another kind; where to begin depends on the flow's name alone."""
    start, step = crc32(name.encode()), ceil(len(made) / FEW)
    numbers = range(start % step, len(made), step)
    kinds = [[kind for kind in Kind if befalls(kind, made[number])] for number in numbers]
    return [
        (number, may[(start // step + turn) % len(may)])
        for turn, (number, may) in enumerate(zip(numbers, kinds, strict=True))
    ]


def _play(lab: Lab, flow: Flow, play: Play, *, repeats: bool = False) -> tuple[Play, Client, list[str]]:
    client = _prepared(lab, flow)
    with playing(play):
        flow.act(client)
    if repeats:
        client.repeat()
    lab.advance(hours=flow.hours)
    return play, client, wrong_after(lab, flow, client, play)


def _prepared(lab: Lab, flow: Flow) -> Client:
    """Do what comes before a flow, in a lab as new, and return who goes on from there."""
    renew(lab)
    client = Client(lab)
    flow.before(client)
    client.begin()
    return client
