"""What handlers did: each call of one is written down, while it does what it always does."""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from threading import Lock
from typing import Any

from onthedot.handler import Function, Handler, Job


@dataclass(frozen=True, slots=True)
class Ran:
    """One call of a handler, which is one attempt.

    It has `ended_at` when it is over, and then either what it `returned` or the `error` that it raised.
    """

    id: str
    handler: str
    schedule: str | None
    slot: datetime | None
    local_slot: datetime | None
    attempt: int
    payload: Any
    idempotency_key: str
    started_at: datetime
    ended_at: datetime | None = None
    returned: Any = None
    error: BaseException | None = None


@dataclass(frozen=True, slots=True)
class Noted(Mapping[str, Handler]):
    """The handlers that there are, each of which has its calls noted."""

    handlers: Mapping[str, Handler]
    calls: list[Ran] = field(default_factory=list)
    alone: Lock = field(default_factory=Lock)

    def __getitem__(self, name: str) -> Handler:
        handler = self.handlers[name]
        return replace(handler, function=self._noting(handler))

    def __iter__(self) -> Iterator[str]:
        return iter(self.handlers)

    def __len__(self) -> int:
        return len(self.handlers)

    def _noting(self, handler: Handler) -> Function:
        def call(job: Job) -> Any:
            place = self._begin(handler.name, job)
            try:
                returned = handler.function(job)
            except BaseException as error:
                self._end(place, error=error)
                raise
            self._end(place, returned=deepcopy(returned))
            return returned

        return call

    def _begin(self, name: str, job: Job) -> int:
        ran = Ran(
            id=job.id,
            handler=name,
            schedule=job.schedule,
            slot=job.slot,
            local_slot=job.local_slot,
            attempt=job.attempt,
            payload=deepcopy(job.payload),
            idempotency_key=job.idempotency_key,
            started_at=datetime.now(UTC),
        )
        with self.alone:
            self.calls.append(ran)
            return len(self.calls) - 1

    def _end(self, place: int, **how: Any) -> None:
        self.calls[place] = replace(self.calls[place], ended_at=datetime.now(UTC), **how)
