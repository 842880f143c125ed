"""Worlds that are not as one hopes: clocks that differ, answers that get lost, queues that refuse."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, cast

from onthedot import wiring
from onthedot.clock import SystemClock
from onthedot.handler import HANDLERS
from onthedot.rules.policies import Policies, Policy
from onthedot.steps.finish import Ending
from onthedot.steps.heartbeat import Pulse
from onthedot.steps.ports import Payloads, World
from onthedot.steps.start import Attempt


class Skewed(SystemClock):
    """A clock that is ahead of the others, or behind. It pauses for no time."""

    def __init__(self, seconds: float = 0) -> None:
        self.ahead = timedelta(seconds=seconds)

    def now(self) -> datetime:
        """Return the time as this clock has it."""
        return super().now() + self.ahead

    def pause(self) -> None:
        """Go on at once."""


def skewed(seconds: float) -> World:
    """Return the world of a machine whose clock is ahead by so many seconds."""
    return with_clock(Skewed(seconds))


def with_clock(clock: SystemClock) -> World:
    """Return the world of a machine with this clock."""
    world = wiring.world()
    parts: dict[str, Any] = {
        name: replace(cast(Any, getattr(world, name)), clock=clock)
        for name in ("jobs", "schedules", "payloads", "indexes", "shards", "queue")
    }
    return replace(world, clock=clock, **parts)


def with_client(world: World, part: str, client: Any) -> World:
    """Return the world with another AWS client under one of its parts."""
    changed: dict[str, Any] = {part: replace(cast(Any, getattr(world, part)), client=client)}
    return replace(world, **changed)


def client_of(world: World, part: str) -> Any:
    """Return the AWS client under one of the world's parts."""
    return cast(Any, getattr(world, part)).client


@dataclass(slots=True)
class Repeating:
    """A client that loses every first answer: the SDK repeats the call, which then meets its own write."""

    client: Any
    meanwhile: Callable[[], Any] = lambda: None

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return the operation, done twice."""
        operation = getattr(self.client, name)

        def twice(**arguments: Any) -> Any:
            operation(**arguments)
            self.meanwhile()
            return operation(**arguments)

        return twice


@dataclass(slots=True)
class Interrupted:
    """A client before whose next calls of one operation something happens: to each call what the list says."""

    client: Any
    operation: str
    happenings: list[Callable[[], Any]]

    def __getattr__(self, name: str) -> Any:
        """Return the operation, after what happens before it."""
        if name == self.operation and self.happenings:
            happening = self.happenings.pop(0)
            return lambda **arguments: (happening(), getattr(self.client, name)(**arguments))[1]
        return getattr(self.client, name)


def raising(error: BaseException) -> Callable[[], Any]:
    """Return something that happens: an error."""

    def happening() -> Any:
        raise error

    return happening


@dataclass(slots=True)
class Picky:
    """An SQS client that refuses what the test says; what it accepts is really sent."""

    client: Any
    refuses: Callable[[str], dict[str, Any] | Exception | None]
    batches: list[list[str]] = field(default_factory=list)
    accepted: list[str] = field(default_factory=list)

    def send_message_batch(self, **arguments: Any) -> dict[str, Any]:
        """Send what is not refused; an exception refuses the whole call."""
        entries = arguments["Entries"]
        assert len({one["Id"] for one in entries}) == len(entries), "BatchEntryIdsNotDistinct"
        assert 1 <= len(entries) <= 10, "EmptyBatchRequest or TooManyEntriesInBatchRequest"
        self.batches.append([one["MessageBody"] for one in entries])
        refused = {one["Id"]: self.refuses(one["MessageBody"]) for one in entries}
        for answer in refused.values():
            if isinstance(answer, Exception):
                raise answer
        accepted = [one for one in entries if refused[one["Id"]] is None]
        self.accepted += [one["MessageBody"] for one in accepted]
        if accepted:
            self.client.send_message_batch(QueueUrl=arguments["QueueUrl"], Entries=accepted)
        return {"Failed": [{"Id": number, **answer} for number, answer in refused.items() if isinstance(answer, dict)]}


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs handlers as the worker does, and allows more than one attempt."""

    max_attempts: int = 3

    def policies(self) -> Policies:
        """Return what governs the attempts of each handler."""
        return Policies({name: Policy(max_attempts=self.max_attempts) for name in HANDLERS})

    def run(self, attempt: Attempt, payload: str, pulse: Pulse) -> Ending:
        """Call the job's handler."""
        return wiring.attempts(timedelta(seconds=120)).run(attempt, payload, pulse)


@dataclass(slots=True)
class Stalling:
    """Payloads whose reader stalls: something happens before they are there."""

    payloads: Payloads
    meanwhile: Callable[[], Any]

    def __getattr__(self, name: str) -> Any:
        """Return what is asked for, after what happens."""
        if name == "text":
            self.meanwhile()
        return getattr(self.payloads, name)


def stalling(world: World, meanwhile: Callable[[], Any]) -> World:
    """Return a world in which something happens between a won start and its handler."""
    return replace(world, payloads=cast(Payloads, Stalling(world.payloads, meanwhile)))


@dataclass(slots=True)
class Holds:
    """Notes for how long a message was hidden. Units: seconds."""

    spans: list[int] = field(default_factory=list)

    def __call__(self, seconds: int) -> None:
        """Note one."""
        self.spans.append(seconds)


class Died(BaseException):
    """A process ends here."""


def die() -> Any:
    """End the process."""
    raise Died


def time_for(pages: int) -> Callable[[], bool]:
    """Return a clock of the function's time: there is some for so many pages."""
    left = iter([True] * pages)
    return lambda: next(left, False)
