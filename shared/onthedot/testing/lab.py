"""The whole system in one process, on moto, with a clock that the test moves.

The template's functions get real events: the timer ticks on the minute, SQS delivers what its delays and visibility
allow, and what is reported as failed stays in its queue. Time jumps from one happening to the next: a month takes a
second. A minute for which nothing waits is passed over, and its tick with it; so is the look at an idle shard.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from onthedot import wiring
from onthedot.handler import HANDLERS, Handler
from onthedot.messages import read_shard
from onthedot.rules.agenda import Entry
from onthedot.rules.instants import from_text, shown
from onthedot.rules.planning import PLAN_AHEAD
from onthedot.testing import inside
from onthedot.testing.deployment import Deployment, deployed
from onthedot.testing.errors import LabError, Refused
from onthedot.testing.functions import Function, ProcessEnded, event_of, timer_event
from onthedot.testing.queues import put_off_early, queue_id
from onthedot.testing.requests import Answer, answer_of, http_event
from onthedot.testing.runs import Ran
from onthedot.testing.template import HERE, read

START = datetime(2027, 1, 4, 8, 0, 30, tzinfo=UTC)  # a Monday
MINUTE, EARLY = timedelta(minutes=1), timedelta(minutes=5)
"""How early before a job's wake the timer ticks; the look-ahead is shorter."""
NEVER = datetime.max.replace(tzinfo=UTC)


class Lab:
    """One deployment of the template, and the time in it, from `start` on.

    `parameters` are the template's: `Lab(Shards=3)`. `environment` has variables for the functions besides those that
    the template gives them. What is in `off` gets no events: functions by their names, such as `worker`.
    """

    def __init__(
        self,
        *,
        start: datetime = START,
        template: Path = HERE,
        environment: Mapping[str, str] | None = None,
        **parameters: str | int,
    ) -> None:
        if start.tzinfo is None:
            raise LabError(f"a lab starts at an instant, and {start} has no offset: datetime(..., tzinfo=UTC)")
        self._deployed: AbstractContextManager[Deployment] = deployed(
            read(template, parameters), start, environment or {}
        )
        self.off: set[str] = set()
        self.next_tick = start.replace(second=0, microsecond=0) + MINUTE

    def __enter__(self) -> Self:
        deployment = self._deployed.__enter__()
        self.time, self.calls, self._noted = deployment.time, deployment.calls, deployment.noted
        self.dynamodb, self.sqs = deployment.dynamodb, deployment.sqs
        self.urls, self.tables, self.functions = deployment.urls, deployment.tables, deployment.functions
        self._feeds = {queue: function for function in self.functions for queue in function.queues}
        [self._timer] = [function for function in self.functions if function.every]
        [self._api] = [function for function in self.functions if function.http]
        self.rhythm = self._timer.every or MINUTE
        self._known: list[Handler] = []
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._deployed.__exit__(kind, error, trace)

    def now(self) -> datetime:
        """Return the lab's time."""
        return datetime.now(UTC)

    def call(self, method: str, path: str, body: Any = None, **query: str) -> Answer:
        """Call the API as API Gateway does, and return its answer, whatever that is."""
        return answer_of(self._api(http_event(method, path, body, query)))

    def ask(self, method: str, path: str, body: Any = None, **query: str) -> Any:
        """Call the API, and return the body of its answer.

        Raises: Refused, with the problem that the API told.
        """
        answer = self.call(method, path, body, **query)
        if answer.status >= 400:
            raise Refused(f"{method} {path}", answer.status, answer.body)
        return answer.body

    def schedule(self, name: str, **fields: Any) -> dict[str, Any]:
        """Create or replace a schedule, with the fields that the API takes; raises Refused."""
        return dict(self.ask("PUT", f"/schedules/{name}", fields))

    def create(self, handler: str, **fields: Any) -> dict[str, Any]:
        """Create a job, with the fields that the API takes, and return it; raises Refused."""
        return dict(self.ask("POST", "/jobs", {"handler": handler} | fields))

    def job(self, job_id: str) -> dict[str, Any]:
        """Return a job as the API shows it; raises Refused."""
        return dict(self.ask("GET", f"/jobs/{job_id}"))

    def ledger(self, name: str, **query: str) -> list[dict[str, Any]]:
        """Return what became of every slot of a schedule, page by page; raises Refused."""
        return list(self._pages(f"/schedules/{name}/ledger", query))

    def dead(self) -> list[dict[str, Any]]:
        """Return the jobs that are dead."""
        return list(self._pages("/jobs", {"state": "dead"}))

    def strays(self) -> list[str]:
        """Return the text of each message that was no job."""
        return [message.body for message in inside.messages(queue_id("stray"))]

    def ran(self, handler: str | None = None) -> list[Ran]:
        """Return the calls of a handler, or of all. Order: as they began.

        Raises: LabError when there is no such handler, since a name that is misspelt never runs.
        """
        if handler is not None and handler not in HANDLERS:
            raise LabError(f"no handler is named {handler!r}; known: {', '.join(sorted(HANDLERS))}")
        return [call for call in self._noted.calls if handler in (None, call.handler)]

    def advance(self, **span: float) -> None:
        """Let time pass, and all happen that happens in it; the span is said as `timedelta` takes it."""
        self.advance_to(self.now() + timedelta(**span))

    def advance_to(self, end: datetime) -> None:
        """Let time pass until an instant, and all happen that happens until then."""
        if end.tzinfo is None or end < self.now():
            raise LabError(f"time passes from {self.now()} on, to an instant with an offset; {end} is none")
        inside.expire(self.now())
        if self.next_tick < self.now():
            self.next_tick = self.now().replace(second=0, microsecond=0) + MINUTE
        self.settle()
        while (happening := min([self._skip_idle_minutes(), *map(self.seen_next, self._delivering())])) <= end:
            self.time.move_to(max(happening, self.now()))
            if happening >= self.next_tick:
                self.next_tick += self.rhythm
                if self._on(self._timer):
                    self.minute()
            self.settle()
        self.time.move_to(end)

    @contextmanager
    def outage(self, *functions: str) -> Iterator[None]:
        """Give these functions no events for a while: of `tick`, `dispatch`, `worker` and `dead_letters`."""
        names = {function.name for function in self.functions if not function.http}
        if unknown := set(functions) - names:
            raise LabError(f"{sorted(unknown)} cannot be off; there are {sorted(names)}")
        before, self.off = self.off, self.off | set(functions)
        try:
            yield
        finally:
            self.off = before

    def tick(self) -> None:
        """Fire the timer once, and look at all shards."""
        self._timer(timer_event(shown(self.now())))
        shards = queue_id("shard")
        if self._on(self._feeds[shards]):
            self.deliver(shards)

    def minute(self) -> None:
        """Fire the timer once, and look at the shards in which something waits: of another nothing would come."""
        self._timer(timer_event(shown(self.now())))
        shards, waiting = queue_id("shard"), self._waiting(wiring.settings().timing.look_ahead)
        inside.drop(shards, lambda text: waiting.get(read_shard(text).shard, NEVER) > self.now())
        if self._on(self._feeds[shards]):
            self.deliver(shards)

    def settle(self) -> None:
        """Deliver what is visible now, until nothing is."""
        while sum(self.deliver(queue) for queue in self._delivering()):
            pass

    def deliver(self, queue: str) -> int:
        """Give what a queue shows now to its function, as many messages at once as it takes; return how many."""
        count, most = 0, self._feeds[queue].queues[queue]
        while messages := self._seen_now(queue):
            for first in range(0, len(messages), most):
                self.invoke(queue, messages[first : first + most])
            count += len(messages)
        return count

    def receive(self, queue: str) -> list[dict[str, Any]]:
        """Receive up to ten messages of a queue."""
        answer = self.sqs.receive_message(
            QueueUrl=self.urls[queue], MaxNumberOfMessages=10, MessageSystemAttributeNames=["All"]
        )
        messages: list[dict[str, Any]] = answer.get("Messages", [])
        return messages

    def invoke(self, queue: str, messages: list[dict[str, Any]], remaining: int | None = None) -> set[str]:
        """Give messages to a queue's function, delete those it acknowledges, return the bodies of the others."""
        failed = self.answer(queue, messages, remaining)
        for message in messages:
            if message["MessageId"] not in failed:
                self.sqs.delete_message(QueueUrl=self.urls[queue], ReceiptHandle=message["ReceiptHandle"])
        return {message["Body"] for message in messages if message["MessageId"] in failed}

    def answer(self, queue: str, messages: list[dict[str, Any]], remaining: int | None = None) -> list[str]:
        """Give messages to a queue's function, and return the ids of those it does not acknowledge."""
        if self._known != (known := list(HANDLERS.values())):  # one that the test has only now registered
            self._known = known
            wiring.policies.cache_clear()
        try:
            answer = self._feeds[queue](event_of(messages, queue), remaining)
        except ProcessEnded:
            return [message["MessageId"] for message in messages]
        return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]

    def seen_next(self, queue: str) -> datetime:
        """Return when a queue shows its next message."""
        return min(map(inside.seen_at, inside.messages(queue)), default=NEVER)

    def _seen_now(self, queue: str) -> list[dict[str, Any]]:
        put_off_early(queue, self.now())
        return self.receive(queue) if self.seen_next(queue) <= self.now() else []

    def _pages(self, path: str, query: Mapping[str, str]) -> Iterator[dict[str, Any]]:
        page = self.ask("GET", path, **query)
        yield from page["items"]
        if cursor := page.get("next_cursor"):
            yield from self._pages(path, {**query, "cursor": cursor})

    def _on(self, function: Function) -> bool:
        return not self.off & {function.name, *function.queues}

    def _delivering(self) -> list[str]:
        return [queue for queue, function in self._feeds.items() if self._on(function)]

    def _waiting(self, ahead: timedelta) -> dict[str, datetime]:
        """Return from when on a look at each shard may find something, `ahead` of what is on the agenda."""
        here, waiting = wiring.settings(), dict[str, datetime]()
        agenda = [(shard, Entry.parse(text).wake - ahead) for shard, text in inside.pairs(here.jobs_table, "agenda")]
        due = [(shard, from_text(text) - PLAN_AHEAD) for shard, text in inside.pairs(here.schedules_table, "next_at")]
        for shard, at in agenda + due:
            waiting[shard] = min(at, waiting.get(shard, at))
        return waiting

    def _skip_idle_minutes(self) -> datetime:
        """Pass over the ticks that would find nothing on the agenda, and return the next one."""
        if not self._on(self._timer) or not (waiting := self._waiting(EARLY)):
            return NEVER
        self.next_tick += max(timedelta(0), (min(waiting.values()) - self.next_tick) // MINUTE * MINUTE)
        return self.next_tick
