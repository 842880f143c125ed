"""A load on a deployment, second by second, in amounts of jobs: what waits where, for what, and how late it starts.

    created -> API -> table + agenda                     finish: table + agenda
    due ----> agenda -> dispatchers -> SQS -> workers -> start: table -> handler ->
    slots --> dispatchers -> table + agenda -> SQS -> ...

A worker whose finish must wait stays taken. Write units are those that tests count: a job's create, start and finish
cost the table one each, its create and finish the agenda one each; a slot in its transaction costs them 2 and 1.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil, inf

from benchmarks.scale.deployment import Deployment, speeds
from benchmarks.scale.dispatching import Dispatching
from benchmarks.scale.limits import GATEWAY, OF_SLOT, Limit
from benchmarks.scale.loads import Load
from benchmarks.scale.measured import Measured
from benchmarks.scale.partitions import Partitions, alone, by_hash
from benchmarks.scale.workers import Queue, Source

PATIENCE = 900
"""Units: seconds after the last job is due in which all must have ended; what has not started then is given up."""
Amounts = defaultdict[int, float]
TINY = 1e-3
"""Jobs that are none: what is left of a division."""


@dataclass(slots=True)
class Result:
    """What came of it.

    `late` has the jobs that started by how late, `held` the job-seconds of waiting by the limit, `use` the most that a
    second took of each limit, `uncreated` the job-seconds that clients waited, `left` what was not done at the end.
    """

    jobs: float
    late: Amounts
    held: defaultdict[Limit, float] = field(default_factory=lambda: defaultdict(float))
    use: dict[Limit, float] = field(default_factory=dict)
    uncreated: float = 0
    left: dict[str, float] = field(default_factory=dict)

    def percentile(self, share: float) -> float:
        """Return how late this share of all jobs has started at most; infinite when so many have not."""
        seen = 0.0
        for late in sorted(self.late):
            seen += self.late[late]
            if seen >= share * self.jobs - TINY:
                return late
        return inf

    @property
    def binds(self) -> Limit | None:
        """The limit for which most was waited, if anything was."""
        return max(self.held, key=lambda limit: self.held[limit], default=None)

    def wait(self, limit: Limit, jobs: float) -> None:
        """Note that jobs waited a second for a limit."""
        if jobs > TINY:
            self.held[limit] += jobs

    def used(self, limit: Limit, part: float) -> None:
        """Note which part of a limit was taken."""
        self.use[limit] = max(part, self.use.get(limit, 0))


class Simulation:
    """The state between two seconds."""

    def __init__(self, load: Load, deployment: Deployment, measured: Measured) -> None:
        self.load, self.deployment = load, deployment
        self.speeds = speeds(deployment, measured, load.handler, load.request)
        self.dispatching = Dispatching(load.due, load.slots, deployment, self.speeds)
        self.agenda = Partitions(deployment.shards, _crowds(deployment))
        self.source, self.queue = Source(deployment), Queue()
        self.on_time, self.ending = Amounts(float), Amounts(float)
        self.done = defaultdict[str, float](float)
        self.at_gateway = self.at_work = 0.0
        self.slow: Limit | None = None
        self.result = Result(sum(load.due.values()) + sum(load.slots.values()), self.queue.late)

    def run(self) -> Result:
        """Let time pass until all has ended, or patience has."""
        now = 0
        while now <= self.load.last or (sum(self._left().values()) > TINY and now < self.load.last + PATIENCE):
            self._second(now)
            now += 1
        self.result.left = {kind: round(jobs, 3) for kind, jobs in self._left().items()}
        return self.result

    def _left(self) -> dict[str, float]:
        jobs, done = self.result.jobs, self.done
        created = sum(self.load.created.values())
        return {"create": created - done["create"], "start": jobs - done["start"], "finish": jobs - done["finish"]}

    def _second(self, now: int) -> None:
        handed, planned, at_work = self.dispatching.second(now)
        for due, jobs in [*handed.items(), *planned.items()]:
            if due > now:
                self.on_time[due] += jobs
            else:
                self.queue.add(due, jobs)
        self.queue.add(now, self.on_time.pop(now, 0))
        self._count_behind(now, sum(planned.values()))
        api = self._create(now, at_work)
        starts = self._workers(now, at_work + api)
        self.agenda.add("finish", self.ending.pop(now, 0))
        self.agenda.add("plan", sum(planned.values()))
        self._write(now, starts)

    def _count_behind(self, now: int, planned: float) -> None:
        """Note what is due and was not handed over."""
        self.done["due"] += self.load.due.get(now, 0) + self.load.slots.get(now, 0)
        behind = self.done["due"] - self.done["start"] - self.queue.length
        throttled = self.dispatching.plans_left <= 0
        self.result.wait(Limit.SCHEDULES if throttled else Limit.DISPATCH, behind)
        self.result.used(Limit.DISPATCH, self.dispatching.use())
        self.result.used(Limit.SCHEDULES, planned * OF_SLOT / self.deployment.schedule_writes)

    def _create(self, now: int, dispatchers: float) -> float:
        """Let the gateway and the API's function pass what the clients ask for; return the invocations of the API."""
        self.at_gateway += self.load.created.get(now, 0)
        passes = min(self.deployment.requests, GATEWAY) * self.load.request
        runs = max(0.0, self.deployment.concurrency - dispatchers) / self.speeds.create
        passed = min(self.at_gateway, passes, runs)
        self.at_gateway -= passed
        self.result.used(Limit.API, passed / passes)
        self.result.wait(Limit.API if passes <= runs else Limit.ACCOUNT, self.at_gateway)
        self.result.uncreated += self.at_gateway + self.agenda.waiting("create")
        self.agenda.add("create", passed)
        return passed * self.speeds.create

    def _workers(self, now: int, others: float) -> float:
        """Return how many jobs the workers could start, and note for what the others wait: for writes, if any do."""
        limits = self.source.limits(now, others)
        binding = min(limits, key=lambda limit: limits[limit])
        each = self.deployment.batch / self.speeds.invocation
        taken = min(limits[binding], self.agenda.waiting("finish") / self.deployment.batch)
        starts = min(self.queue.length, (limits[binding] - taken) * each)
        self.result.wait(self.slow or binding, self.queue.length - starts)
        self.at_work = starts / each + taken
        for limit in (Limit.WORKERS, Limit.ACCOUNT, Limit.IN_FLIGHT):
            self.result.used(limit, self.at_work / limits[limit] if limits[limit] > 0 else 1)
        self.result.used(Limit.SOURCE, self.at_work / self.source.most)
        return starts

    def _write(self, now: int, starts: float) -> None:
        """Write what table and agenda take; what they do not take waits."""
        waiting = {kind: self.agenda.waiting(kind) for kind in ("create", "finish", "plan")}
        wanted = starts + waiting["create"] + waiting["finish"] + OF_SLOT * waiting["plan"]
        share = min(1.0, self.deployment.writes / wanted) if wanted else 1.0
        self.result.used(Limit.TABLE, wanted * share / self.deployment.writes)
        self.result.used(Limit.AGENDA, share * self.agenda.use())
        written, began = self.agenda.write(share), starts * share
        self.queue.start(now, began)
        self.source.passed(self.at_work, self.queue.length)
        self.ending[now + ceil(self.speeds.invocation)] += began
        by_table = (wanted - starts) * (1 - share) + starts - began
        by_agenda = sum(waiting.values()) * share - sum(written.values())
        self.result.wait(Limit.TABLE, by_table)
        self.result.wait(Limit.AGENDA, by_agenda)
        slower = Limit.TABLE if by_table > by_agenda else Limit.AGENDA
        self.slow = slower if by_table + by_agenda > TINY else None
        for kind, jobs in (("start", began), ("create", written["create"]), ("finish", written["finish"])):
            self.done[kind] += jobs


def _crowds(here: Deployment) -> Mapping[int, int]:
    return alone(here.shards) if here.rehearsed else by_hash(here.shards, here.writes)


def simulate(load: Load, deployment: Deployment, measured: Measured) -> Result:
    """Return what comes of a load on a deployment."""
    return Simulation(load, deployment, measured).run()
