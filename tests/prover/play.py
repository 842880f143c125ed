"""The play: processes that go on call by call, in the order of their own times, while faults fall on them.

All that happens is drawn from the weather's seed, so that a history is the same each time it is played.
"""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from botocore.client import BaseClient
from moto.sqs.exceptions import ReceiptHandleIsInvalid
from moto.sqs.models import sqs_backends
from tests.crashes.faults import Call, unreached
from tests.prover.actors import Actor, Kind
from tests.prover.fates import Fate, Weather, suffer
from tests.prover.lagging import WRITES, Indexes
from tests.support.batons import HOLDERS, Worker
from tests.support.lab import ACCOUNT, REGION, Context, Lab
from tests.support.promises import Told
from tests.support.worlds import Died

import tick
from onthedot import Job

QUEUES = {"ShardQueue": Kind.DISPATCH, "JobQueue": Kind.WORKER, "JobDeadLetterQueue": Kind.DEAD_LETTERS}
MINUTE = timedelta(minutes=1)
AT_ONCE = 4
FAR = datetime.max.replace(tzinfo=UTC)


@dataclass(slots=True)
class Play:
    """One deployment, who acts in it, and the weather. What is `off`, a kind of actor or a service, does nothing.

    `aws` is what calls were made by, had nobody come between.
    """

    lab: Lab
    weather: Weather
    chance: Random
    told: Told
    indexes: Indexes
    next_tick: datetime
    aws: Callable[[BaseClient, str, dict[str, Any]], Any]
    actors: list[Actor] = field(default_factory=list)
    off: Counter[str] = field(default_factory=Counter)
    fates: Counter[Fate] = field(default_factory=Counter)

    def begin(self, kind: Kind, does: Callable[[], Any], afterwards: Callable[[], Any] = lambda: None) -> Actor:
        """Let an actor begin."""
        ahead = timedelta(seconds=self.chance.uniform(-1, 1) * self.weather.skew)
        actor = Actor(kind, Worker(does), self.lab.now(), ahead, Random(self.chance.random()), afterwards=afterwards)
        self.actors.append(actor)
        return actor

    def advance(self, span: timedelta) -> None:
        """Let time pass, and all happen that happens in it."""
        end = self.lab.now() + span
        while (next_at := min(self._actor_at(), self.next_tick, self._message_at())) <= end:
            self.lab.time.move_to(max(next_at, self.lab.now()))
            self._happen(next_at)
        self.lab.time.move_to(end)

    def call(self, client: BaseClient, operation: str, arguments: dict[str, Any]) -> Any:
        """Make a call to AWS, if an actor makes it when its turn has come, and as its fate wills."""
        if not HOLDERS:
            return self.aws(client, operation, arguments)
        actor = self._acting()
        actor.take(actor.chance.uniform(0.005, 0.05))
        if self.off[_service(client)]:
            raise unreached(actor.take)
        calm = self.weather.calm_workers and actor.kind is Kind.WORKER
        fate = None if calm else self.weather.fate(actor.chance, operation)
        self.fates.update([fate] if fate else [])
        try:
            return suffer(fate, Call(operation, arguments, self._answered, client), actor.take, actor.chance)
        except Died:
            actor.die()
            raise

    def ahead(self) -> timedelta:
        """Return how far the clock of whoever acts now is ahead."""
        return self._acting().ahead if HOLDERS else timedelta(0)

    def asked(self) -> tuple[datetime, datetime]:
        """Return when whoever acts now last asked the jobs and the schedules."""
        now, asked = self.lab.now(), self._acting().asked if HOLDERS else {}
        return asked.get("jobs", now), asked.get("schedules", now)

    def inside(self, job: Job) -> None:
        """Be inside a handler for as long as the job takes."""
        if HOLDERS:
            self._acting().take((job.payload or {}).get("seconds", 0))

    def wait(self, span: timedelta) -> None:
        """Wait as a worker does for the last second."""
        if HOLDERS:
            self._acting().take(span.total_seconds())

    def _answered(self, client: BaseClient, operation: str, arguments: dict[str, Any]) -> Any:
        """Return AWS's answer to whoever acts; note whom they asked, and what their write has changed."""

        def do() -> Any:
            return self.aws(client, operation, arguments)

        table, asked = arguments.get("TableName"), self._acting().asked
        if table == self.lab.tables["JobsTable"] and operation == "UpdateItem":
            asked["jobs"] = self.lab.now()
        if table == self.lab.tables["SchedulesTable"] and operation in {"GetItem", "UpdateItem"}:
            asked["schedules"] = self.lab.now()
        if "IndexName" in arguments:
            with self.indexes.behind():
                return do()
        return self.indexes.write(operation, arguments, do) if operation in WRITES else do()

    def _acting(self) -> Actor:
        return next(actor for actor in self.actors if actor.worker is HOLDERS[0])

    def _actor_at(self) -> datetime:
        return min((actor.ready_at for actor in self.actors), default=FAR)

    def _message_at(self) -> datetime:
        return min(map(self.lab.seen_next, self._free()), default=FAR)

    def _free(self) -> list[str]:
        """Return the queues whose functions may begin another invocation."""
        busy = Counter(actor.kind for actor in self.actors)
        return [queue for queue, kind in QUEUES.items() if not self.off[kind] and busy[kind] < AT_ONCE]

    def _happen(self, at: datetime) -> None:
        if self.next_tick == at:
            self._tick()
        elif self._actor_at() == at:
            self._step(min(self.actors, key=lambda actor: actor.ready_at))
        else:
            self._receive(min(self._free(), key=self.lab.seen_next))

    def _tick(self) -> None:
        """Fire the timer, somewhere in its minute; now and then it does not come, or twice."""
        minute = self.next_tick.replace(second=0, microsecond=0)
        self.next_tick = minute + MINUTE + timedelta(seconds=self.chance.uniform(0, 30))
        times = 1 if not self.weather.faults else self.chance.choices([1, 0, 2], [90, 5, 5])[0]
        for _ in range(0 if self.off[Kind.TICK] else times):
            self.begin(Kind.TICK, lambda: tick.handler({}, Context("tick")))

    def _receive(self, queue: str) -> None:
        """Receive a message as the event source does."""
        backend, name = sqs_backends[ACCOUNT][REGION], self.lab.urls[queue].rsplit("/", 1)[1]
        for message in backend.receive_message(name, 1, 0, None):  # type: ignore[arg-type] # None: as the queue has it
            self._invoke(
                queue, {"MessageId": message.id, "Body": message.body, "ReceiptHandle": message.receipt_handle}
            )

    def _invoke(self, queue: str, message: dict[str, Any]) -> None:
        acknowledged: list[bool] = []

        def does() -> None:
            acknowledged.append(not self.lab.answer(queue, [message]))

        def delete() -> None:
            if acknowledged == [True]:
                with suppress(ReceiptHandleIsInvalid):  # it was received again meanwhile
                    name = self.lab.urls[queue].rsplit("/", 1)[1]
                    sqs_backends[ACCOUNT][REGION].delete_message(name, message["ReceiptHandle"])

        self.begin(QUEUES[queue], does, delete)

    def _step(self, actor: Actor) -> None:
        if actor.step():
            self.actors.remove(actor)
            error = actor.worker.error
            if error is not None and (actor.kind is not Kind.TICK or isinstance(error, AssertionError)):
                raise error
            actor.afterwards()


def _service(client: BaseClient) -> str:
    return str(client.meta.service_model.service_name)
