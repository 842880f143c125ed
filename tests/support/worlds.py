"""Worlds that are not as one hopes: clocks that differ, answers that get lost, queues that refuse."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, cast

from onthedot import wiring
from onthedot.clock import SystemClock
from onthedot.steps.ports import World


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
        for name in ("jobs", "payloads", "indexes", "shards", "queue")
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
    """A client before whose first call (of one operation) something happens."""

    client: Any
    operation: str
    first: Callable[[], Any] | None

    def __getattr__(self, name: str) -> Any:
        """Return the operation; the first one after what happens."""
        if name == self.operation and self.first is not None:
            first, self.first = self.first, None
            first()
        return getattr(self.client, name)


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
