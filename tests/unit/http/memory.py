"""A world in memory, for tests of what lies between an event and a step."""

# ruff: noqa: D102, ARG002 - the ports say what each method does and takes

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from onthedot.http.app import application
from onthedot.rules.agenda import Entry, group_partition, shard_of
from onthedot.rules.events import Event
from onthedot.rules.history import Record
from onthedot.rules.jobs import Job
from onthedot.rules.schedules import Schedule, ScheduleState
from onthedot.rules.timing import Timing
from onthedot.steps.ports import Depth, Index, Placed, Refusal, Shard, ShardRow, World, Written
from onthedot.steps.ports_of_schedules import Allowed, Marked, Refused, Slots

START = datetime(2027, 1, 1, tzinfo=UTC)
SHARDS = 4


@dataclass(slots=True)
class Clock:
    """A clock that the test sets, and tokens that are counted."""

    time: datetime = START
    tokens: Any = field(default_factory=count)

    def now(self) -> datetime:
        return self.time

    def token(self) -> str:
        return f"{next(self.tokens):024x}"

    def chance(self) -> float:
        return 0.5

    def pause(self) -> None:
        """Wait for nothing."""

    def wait(self, span: timedelta) -> None:
        self.time += span


@dataclass(slots=True)
class Jobs:
    """The jobs by their keys; `broken` is raised by the next calls, by id."""

    clock: Clock
    rows: dict[tuple[str, str], Job] = field(default_factory=dict)
    broken: dict[str, Exception] = field(default_factory=dict)
    asked_for: list[str] = field(default_factory=list)

    def add(self, job: Job, now: datetime) -> Written:
        self._break(job.id)
        there = self.rows.get(job.key)
        if there is not None and not there.has_expired(now):
            return Written(False, there)
        self.rows[job.key] = job
        return Written(True, job)

    def get(self, schedule: str, slot: str) -> Job | None:
        self.asked_for.append(schedule)
        if (schedule, slot) in self.rows:
            self._break(self.rows[schedule, slot].id)
        return self.rows.get((schedule, slot))

    def start(self, entry: Entry, owner: str, now: datetime, timeout: timedelta) -> Written:
        raise NotImplementedError

    def remove(self, job: Job) -> bool:
        return self.rows.pop(job.key, None) is not None

    def change(self, before: Job, after: Job) -> Written:
        there = self.rows.get(before.key)
        if there != before:
            return Written(False, there)
        self.rows[after.key] = after
        return Written(True, after)

    def _break(self, job_id: str) -> None:
        if job_id in self.broken:
            raise self.broken[job_id]


@dataclass(slots=True)
class Payloads:
    """Payloads of over 100 bytes lie beside their jobs."""

    rows: dict[str, str] = field(default_factory=dict)
    read: int = 0

    def fits(self, job: Job) -> bool:
        return job.payload.size <= 100

    def store(self, schedule: str, name: str, text: str, kept_until: datetime) -> None:
        self.rows[name] = text

    def expire(self, schedule: str, name: str, at: datetime) -> None:
        """Forget nothing."""

    def text(self, job: Job) -> str:
        [text] = self.texts([job.placed])
        if text is None:
            raise LookupError(job.id)
        return text

    def texts(self, placed: Sequence[Placed]) -> list[str | None]:
        payloads = [payload for _, payload in placed]
        self.read += sum(payload.size for payload in payloads)
        return [each.text if each.text is not None else self.rows.get(each.stored_as or "") for each in payloads]


@dataclass(slots=True)
class Indexes:
    """What the jobs' indexes show; `stale` entries name jobs that have moved since, `calls` counts the reads."""

    jobs: Jobs
    stale: list[str] = field(default_factory=list)
    calls: int = 0

    def page(
        self, index: Index, partition: str, after: str, until: str, limit: int, handler: str | None = None
    ) -> list[str]:
        self.calls += 1
        found = [text for text in self._entries(index, partition, handler) if after < text <= until]
        return sorted(found)[:limit]

    def of_schedule(self, schedule: str, after: str, limit: int) -> list[Job]:
        self.calls += 1
        jobs = [job for job in self.jobs.rows.values() if job.schedule == schedule and job.slot > after]
        return sorted(jobs, key=lambda job: job.slot)[:limit]

    def newest(self, schedule: str, start: str, before: str, limit: int) -> list[Job]:
        self.calls += 1
        jobs = [job for job in self.jobs.rows.values() if job.schedule == schedule and start <= job.slot < before]
        return sorted(jobs, key=lambda job: job.slot, reverse=True)[:limit]

    def read(self, keys: Sequence[tuple[str, str]]) -> list[Job]:
        self.calls += 1
        assert len(set(keys)) == len(keys) <= 100, "BatchGetItem refuses the same key twice, and over 100"
        return [self.jobs.rows[key] for key in keys if key in self.jobs.rows]

    def _entries(self, index: Index, partition: str, handler: str | None) -> list[str]:
        entries = list(self.stale) if index is Index.AGENDA and partition == "0" else []
        for job in self.jobs.rows.values():
            if handler not in {None, job.handler}:
                continue
            match index:
                case Index.AGENDA if job.entry and shard_of(job.schedule, SHARDS) == partition:
                    entries.append(job.entry)
                case Index.DEAD if job.state == "dead" and shard_of(job.schedule, SHARDS) == partition:
                    entries.append(str(Entry(job.since, *job.key)))
                case Index.GROUPS if job.group and group_partition(job.group, *job.key) == partition:
                    entries.append(str(Entry(job.created_at, *job.key)))
        return entries


@dataclass(slots=True)
class Shards:
    """What the dispatchers left behind."""

    rows: list[ShardRow] = field(default_factory=list)

    def all(self) -> list[ShardRow]:
        return self.rows

    def acquire(self, *_: Any) -> Shard | None:
        raise NotImplementedError

    def move(self, shard: Shard, watermark: str) -> bool:
        raise NotImplementedError

    def claim_sweep(self, shard: Shard, now: datetime) -> bool:
        raise NotImplementedError

    def release(self, shard: Shard) -> None:
        raise NotImplementedError


@dataclass(slots=True)
class Schedules:
    """The schedules by their names; a write finds the places of jobs that are there already not free."""

    jobs: Jobs
    rows: dict[str, Schedule] = field(default_factory=dict)
    records: list[Record] = field(default_factory=list)

    def get(self, name: str) -> Schedule | None:
        return self.rows.get(name)

    def read(self, names: Sequence[str]) -> list[Schedule]:
        return [self.rows[name] for name in names if name in self.rows]

    def due(self, shard: str, after: datetime, until: datetime) -> Iterator[list[str]]:
        raise NotImplementedError

    def timed_otherwise(self, shard: str, database: str) -> Iterator[list[str]]:
        raise NotImplementedError

    def oldest_due(self, shard: str) -> datetime | None:
        due = [row.next_at for row in self.rows.values() if row.next_at and shard_of(row.key, SHARDS) == shard]
        return min(due, default=None)

    def page(self, after: str, limit: int) -> tuple[list[tuple[str, Schedule]], str | None]:
        names = sorted(name for name in self.rows if name > after)
        return [(name, self.rows[name]) for name in names[:limit]], names[limit - 1] if len(names) > limit else None

    def write(
        self,
        before: Schedule | None,
        after: Schedule | None,
        records: Sequence[Record],
        jobs: Sequence[Job] = (),
        withdrawn: Sequence[Job] = (),
    ) -> Refused | None:
        name = (after or before).name  # type: ignore[union-attr]
        if self.rows.get(name) != before:
            return Refused(changed=True)
        taken = tuple(job for job in jobs if job.key in self.jobs.rows)
        if taken:
            return Refused(changed=False, not_free=taken)
        self.rows.pop(name, None)
        if after is not None:
            self.rows[name] = after
        self.jobs.rows |= {job.key: job for job in jobs}
        for job in withdrawn:
            del self.jobs.rows[job.key]
        self.records += records
        return None

    def history(self, name: str) -> list[Record]:
        return sorted((record for record in self.records if record.name == name), key=lambda record: record.part)

    def last_version(self, name: str) -> int:
        return max((record.facts["version"] for record in self.history(name) if "fields" in record.facts), default=0)

    def mark(self, name: str, slots: Slots, allowed: Allowed) -> Marked:
        there = self.rows.get(name)
        if there is None or not all(getattr(there, key) in may for key, may in allowed.items()):
            return Marked(False, there)
        self.rows[name] = replace(there, **slots)  # type: ignore[arg-type]
        return Marked(True, self.rows[name])

    def mark_broken(self, schedule: Schedule, reason: str, stamp: str) -> bool:
        self.rows[schedule.name] = replace(schedule, state=ScheduleState.BROKEN, broken=reason, stamp=stamp)
        return True


@dataclass(slots=True)
class Queue:
    """What was sent, and when it is due."""

    sent: list[tuple[Entry, datetime]] = field(default_factory=list)

    def send(self, entries: Sequence[Entry], due_at: Callable[[Entry], datetime]) -> list[Refusal]:
        self.sent += [(entry, due_at(entry)) for entry in entries]
        return []

    def keep(self, text: str, reason: str) -> None:
        raise NotImplementedError


@dataclass(slots=True)
class Journal:
    """What was told."""

    told: list[tuple[Event, str]] = field(default_factory=list)

    def job(self, event: Event, job: Job) -> None:
        self.told.append((event, job.id))

    def schedule(self, event: Event, name: str, count: int = 1, reason: str | None = None) -> None:
        self.told.append((event, name))

    def shard(self, event: Event, shard: str, handed_over: int, refused: int) -> None:
        raise NotImplementedError


def one_by_one(function: Callable[[Any], Any], items: Iterable[Any], /) -> list[Any]:
    return [function(item) for item in items]


@dataclass(slots=True)
class Answer:
    """What the API answered: parsed, and the very text."""

    status: int
    body: Any
    text: str
    headers: dict[str, str]
    event: dict[str, Any]


class Api:
    """The API on a world in memory."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.jobs = Jobs(self.clock)
        self.schedules = Schedules(self.jobs)
        self.payloads = Payloads()
        self.indexes = Indexes(self.jobs)
        self.shards = Shards()
        self.queue = Queue()
        self.crashes: list[Exception] = []
        self.depths: dict[str, Depth] = {"job": Depth(1, 2, 3)}
        self.world = World(
            clock=self.clock,
            jobs=self.jobs,
            schedules=self.schedules,
            payloads=self.payloads,
            indexes=self.indexes,
            shards=self.shards,
            queue=self.queue,
            strays=self.queue,
            depths=lambda: self.depths,
            journal=Journal(),
            side_by_side=one_by_one,
            timing=Timing(),
            shard_count=SHARDS,
        )
        self.handle = application(lambda: self.world, self.crashes.append)

    def call(self, method: str, path: str, body: Any = None, query: Mapping[str, Any] | None = None) -> Answer:
        """Call with a JSON body, or with a text as it is."""
        return self.send(event(method, path, body, query))

    def send(self, event: Mapping[str, Any]) -> Answer:
        """Send an event as it is."""
        answer = self.handle(event, None)
        headers = {name: values[0] for name, values in answer["multiValueHeaders"].items()}
        assert not answer["isBase64Encoded"]
        return Answer(answer["statusCode"], json.loads(answer["body"]), answer["body"], headers, answer)

    def create(self, **fields: Any) -> Answer:
        """Create a job of `example.echo`."""
        return self.call("POST", "/jobs", {"handler": "example.echo", **fields})

    def change(self, job_id: str, **fields: Any) -> Job:
        """Set a job's fields, as another step would."""
        key = (f"job#{job_id}", "-")
        self.jobs.rows[key] = replace(self.jobs.rows[key], **fields)
        return self.jobs.rows[key]


def event(method: str, path: str, body: Any = None, query: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the event of API Gateway for a call."""
    values = {name: value if isinstance(value, list) else [value] for name, value in (query or {}).items()}
    return {
        "resource": "/{proxy+}",
        "path": path,
        "httpMethod": method,
        "headers": {},
        "multiValueHeaders": {},
        "queryStringParameters": {name: several[-1] for name, several in values.items()} or None,
        "multiValueQueryStringParameters": values or None,
        "pathParameters": {"proxy": path.lstrip("/")},
        "requestContext": {"stage": "live", "path": f"/live{path}", "httpMethod": method},
        "body": body if isinstance(body, str) or body is None else json.dumps(body),
        "isBase64Encoded": False,
    }
