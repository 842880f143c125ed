"""Counts write units as DynamoDB's emulator does (`ReturnConsumedCapacity`), index writes included."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Self

from tests.support.jobs import entry
from tests.support.worlds import client_of

from onthedot.rules.agenda import Entry
from onthedot.rules.jobs import Job
from onthedot.rules.policies import Policies
from onthedot.steps.ports import Refusal, World
from onthedot.steps.start import Attempt, start

WRITES = ("PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems")


@dataclass(slots=True)
class Meter:
    """Counts the write units of a client's calls, by step."""

    units: dict[str, float] = field(default_factory=dict)
    step: str | None = None

    @classmethod
    def under(cls, world: World) -> Self:
        """Return what counts the writes of a world."""
        meter = cls()
        events = client_of(world, "jobs").meta.events
        for call in WRITES:
            events.register(f"provide-client-params.dynamodb.{call}", meter.ask)
            events.register(f"after-call.dynamodb.{call}", meter.count)
        return meter

    @contextmanager
    def of(self, step: str) -> Iterator[None]:
        """Count what is written inside under this name."""
        self.step, self.units[step] = step, 0
        yield
        self.step = None

    def ask(self, params: dict[str, Any], **_: Any) -> None:
        """Ask DynamoDB to say what a call costs."""
        params["ReturnConsumedCapacity"] = "INDEXES"

    def count(self, parsed: dict[str, Any], **_: Any) -> None:
        """Add what a call cost; a transaction tells it for each table.

        A refused write tells nothing; it is taken to cost a unit for each KB of the item that refused it: one, here.
        """
        if self.step and "Error" in parsed:
            self.units[self.step] += 1
        elif self.step:
            told = parsed["ConsumedCapacity"]
            self.units[self.step] += sum(each["CapacityUnits"] for each in (told if isinstance(told, list) else [told]))


class Nowhere:
    """A queue that takes everything and brings it to nobody."""

    def send(self, entries: Sequence[Entry], due_at: Callable[[Entry], datetime]) -> list[Refusal]:  # noqa: ARG002
        """Accept every message."""
        return []


def begin(world: World, job: Job) -> Attempt:
    """Start the job as its message does."""
    attempt = start(world, entry(job), Policies())
    assert isinstance(attempt, Attempt)
    return attempt
