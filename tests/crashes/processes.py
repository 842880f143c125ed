"""The processes of the lab: each invocation of a function is one, and what befalls its calls befalls it alone.

Calls are counted by process, not by thread, since handlers and batches have threads of their own. Who is dead calls
nobody any more, on whatever thread: its handler does not go on. Whose time is over is killed as Lambda does it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Any

import pytest
from botocore.client import BaseClient
from tests.crashes.faults import Call, Kind, befall, befalls, unreached
from tests.support.lab import Lab
from tests.support.worlds import Died

import api
import dead_letters
import dispatch
import tick
import worker

BY_LAMBDA = {"ReceiveMessage", "DeleteMessage"}
"""What the lab calls as AWS's own event source does."""
NO_ANSWER = 502
"""What API Gateway answers for a function that has died."""


@dataclass(slots=True)
class Process:
    """One invocation, and how it fares."""

    until: datetime
    dead: bool = False
    cut_off: bool = False

    def live(self) -> None:
        """Go on, if it lives."""
        self.dead = self.dead or datetime.now(UTC) > self.until
        if self.dead:
            raise Died


@dataclass(slots=True)
class Play:
    """What befalls which of the calls that processes make from now on, nothing without a kind.

    `made` are those calls, `got` is what AWS got meanwhile, but for what it calls itself.
    """

    lab: Lab
    number: int = -1
    kind: Kind | None = None
    made: list[str] = field(default_factory=list)
    got: list[str] = field(default_factory=list)
    reached: bool = False
    processes: list[Process] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    alone: Any = field(default_factory=Lock)

    def called(self, call: Call) -> Any:
        """Answer a call: the lab's own calls are nobody's process."""
        if not self.processes:
            return call()
        process = self.processes[-1]
        process.live()
        if process.cut_off:
            raise unreached(self.lab.time.shift)
        kind = self._meets(call.operation)
        if kind is None:
            return self._answered(call)
        process.dead = kind in {Kind.DIES_BEFORE, Kind.DIES_AFTER}
        process.cut_off = kind is Kind.CUT_OFF
        return befall(kind, call, self.lab.time.shift)

    def _meets(self, operation: str) -> Kind | None:
        with self.alone:
            number = len(self.made)
            self.made.append(operation)
        if self.kind is None or number != self.number or not befalls(self.kind, operation):
            return None
        self.reached = True
        return self.kind

    def _answered(self, call: Call) -> Any:
        """Return AWS's answer; what the lab refuses because AWS would is a fault of ours, whoever catches it."""
        try:
            return call()
        except AssertionError as error:
            self.broken.append(f"{call.operation}: {error}")
            raise

    def as_process(self, function: Callable[..., Any], lost: Callable[[Any], Any]) -> Callable[..., Any]:
        """Return a function each of whose invocations is a process; `lost` says what is known of one that died."""

        def invoked(event: Any, context: Any) -> Any:
            left = timedelta(milliseconds=context.get_remaining_time_in_millis())
            process = Process(datetime.now(UTC) + left)
            self.processes.append(process)
            try:
                answer = function(event, context)
                process.live()
                return answer
            except (Died, Exception):
                return lost(event)
            finally:
                process.dead = True
                self.processes.remove(process)

        return invoked


def _unanswered(_: Any) -> dict[str, Any]:
    return {"statusCode": NO_ANSWER, "body": ""}


def _unacknowledged(event: Any) -> dict[str, Any]:
    return {"batchItemFailures": [{"itemIdentifier": record["messageId"]} for record in event["Records"]]}


FUNCTIONS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (api, _unanswered),
    (tick, lambda _: None),
    (dispatch, _unacknowledged),
    (worker, _unacknowledged),
    (dead_letters, _unacknowledged),
)


@contextmanager
def playing(play: Play) -> Iterator[Play]:
    """Have each invocation be a process, whose calls are counted, and befallen by what the play says."""
    made = BaseClient._make_api_call  # type: ignore[attr-defined]

    def call(client: BaseClient, operation: str, arguments: dict[str, Any]) -> Any:
        return play.called(Call(operation, arguments, made, client))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BaseClient, "_make_api_call", call)
        for module, lost in FUNCTIONS:
            patch.setattr(module, "handler", play.as_process(module.handler, lost))
        before = len(play.lab.calls)
        yield play
        play.got = [call.operation for call in play.lab.calls[before:] if call.operation not in BY_LAMBDA]
