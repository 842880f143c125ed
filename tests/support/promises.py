"""The promises, held against tables, queues and the journal, after faults have ended and life has gone on.

Nothing here asks the code what it meant: what clients were told, what handlers saw and what lies in the tables must
fit together.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import groupby, pairwise
from operator import attrgetter

from tests.support.journal import MAX_ATTEMPTS, TIMEOUT, Called
from tests.support.lab import Lab
from tests.support.ledgers import lost

from onthedot.adapters.items import Item, job_of
from onthedot.rules.jobs import Job, State

EVER, NEVER = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
PATIENCE = timedelta(minutes=20)
"""What waited for longer, though nothing was in its way any more, waits for ever."""


@dataclass(frozen=True, slots=True)
class Quiet:
    """From `since` on, and before `until`, no attempt of this job or of this schedule's slots may ask to begin."""

    who: str
    since: datetime
    until: datetime
    why: str


@dataclass(frozen=True, slots=True)
class Edited:
    """From `at` on, a slot after it runs with this version of its schedule, or a newer one."""

    name: str
    at: datetime
    version: int


@dataclass(slots=True)
class Told:
    """What clients were told, as far as it binds: who got no answer was promised nothing.

    `accepted` are one-off jobs by id; `revived` is when somebody asked for another life of a job, answered or not.
    `bound` is how late a job may start, where nothing but its writer and the dispatchers were in its way.
    """

    accepted: set[str] = field(default_factory=set)
    quiet: list[Quiet] = field(default_factory=list)
    edits: list[Edited] = field(default_factory=list)
    revived: dict[str, list[datetime]] = field(default_factory=dict)
    skew: timedelta = timedelta(0)
    bound: timedelta | None = None

    def job(self, job_id: str, run_at: datetime) -> None:
        """Note that a job was accepted; `run_at` is when it may start."""
        self.accepted.add(job_id)
        self.quiet.append(Quiet(job_id, EVER, run_at, "early"))


def violations(lab: Lab, told: Told, calls: Sequence[Called]) -> list[str]:
    """Return each broken promise in words, none if all are kept."""
    items = [item for item in lab.items() if "state" in item]
    jobs = {job.id: job for job in map(job_of, items)}
    return [
        *_never_lost(lab.now(), told, jobs),
        *_never_early(told, calls),
        *_in_time(told, calls),
        *_held_until_the_handler_is_called(told, calls),
        *_one_attempt_at_a_time(told, calls),
        *_a_late_finisher_changes_nothing(jobs, calls),
        *_at_least_once_with_one_key(jobs, calls),
        *_every_slot_has_an_outcome(lab),
        *_nothing_is_left_behind(lab, items),
    ]


def _never_lost(now: datetime, told: Told, jobs: dict[str, Job]) -> Iterator[str]:
    yield from (f"lost: {job_id} was accepted and is gone" for job_id in sorted(told.accepted - jobs.keys()))
    for job in jobs.values():
        if job.pending and job.run_at < now - PATIENCE:
            yield f"lost: {job.id} is {job.state} for ever, since {job.run_at}"


def _never_early(told: Told, calls: Sequence[Called]) -> Iterator[str]:
    for call in calls:
        if call.slot and call.began_at < call.slot - told.skew:
            yield f"early: {call.id} began at {call.began_at}"


def _in_time(told: Told, calls: Sequence[Called]) -> Iterator[str]:
    """Tell of what only the sweep can have found, behind the watermark. Who never began was perhaps cancelled."""
    for quiet in told.quiet:
        whole = [other for other in told.quiet if other.who == quiet.who] == [quiet]
        if told.bound is None or not whole or quiet.who not in told.accepted:
            continue
        first = min((call.began_at for call in calls if call.id == quiet.who), default=None)
        if first is not None and first > quiet.until + told.bound:
            yield f"late: {quiet.who} was due at {quiet.until}, and began at {first}"


def _held_until_the_handler_is_called(told: Told, calls: Sequence[Called]) -> Iterator[str]:
    for call in calls:
        for quiet in told.quiet:
            of_its_schedule = call.slot is not None and call.schedule == quiet.who
            asked_at = call.schedule_asked_at if of_its_schedule else call.job_asked_at
            if (of_its_schedule or call.id == quiet.who) and quiet.since <= asked_at < quiet.until - told.skew:
                yield f"{quiet.why}: {call.id} asked at {asked_at}, in {quiet}"
        for edit in told.edits:
            concerned = call.schedule == edit.name and call.slot and call.slot > edit.at + told.skew
            asked_after = call.attempt == 1 and call.schedule_asked_at >= edit.at
            if concerned and asked_after and call.payload["version"] < edit.version:
                yield f"superseded: {call.id} ran version {call.payload['version']}, after {edit}"


def _one_attempt_at_a_time(told: Told, calls: Sequence[Called]) -> Iterator[str]:
    """Two attempts are at once while the first has time left; who is frozen beyond that is fenced."""
    for _, group in groupby(sorted(calls, key=attrgetter("id", "began_at")), attrgetter("id")):
        attempts = list(group)
        for first, second in pairwise(attempts):
            if second.began_at < min(first.ended_at or NEVER, first.began_at + TIMEOUT):
                yield f"two at once: {first} and {second}"
    for _, group in groupby(sorted(calls, key=attrgetter("key", "began_at")), attrgetter("key")):
        attempts = list(group)
        for life in _lives(attempts, told.revived.get(attempts[0].id, [])):
            numbers = [call.attempt for call in life]
            if numbers != sorted(set(numbers)) or (numbers and numbers[-1] > MAX_ATTEMPTS):
                yield f"attempts of {attempts[0].id} are {numbers}"


def _lives(attempts: list[Called], revived: list[datetime]) -> Iterator[list[Called]]:
    bounds = [EVER, *sorted(revived), NEVER]
    for start, end in pairwise(bounds):
        yield [call for call in attempts if start <= call.began_at < end]


def _a_late_finisher_changes_nothing(jobs: dict[str, Job], calls: Sequence[Called]) -> Iterator[str]:
    made = {call.result: call for call in calls if call.result}
    for job in jobs.values():
        if job.state is State.SUCCEEDED:
            winner = made.get(json.loads(job.result or "null"))
            if winner is None or (winner.id, winner.attempt) != (job.id, job.attempt):
                yield f"unfenced: {job.id} has attempt {job.attempt}, and the result of {winner}"
        elif job.result is not None:
            yield f"unfenced: {job.id} is {job.state} and has a result"


def _at_least_once_with_one_key(jobs: dict[str, Job], calls: Sequence[Called]) -> Iterator[str]:
    keys: dict[str, str] = {}
    for call in calls:
        if keys.setdefault(call.key, call.id) != call.id:
            yield f"one key for two jobs: {call.key}"
        job = jobs.get(call.id)
        if (
            job is not None
            and call.began_at >= job.created_at
            and job.idempotency_key != call.key
            and not call.schedule
        ):
            yield f"another key in attempt {call.attempt} of {call.id}"


def _every_slot_has_an_outcome(lab: Lab) -> Iterator[str]:
    for name in sorted({item["name"]["S"] for item in lab.items("SchedulesTable")}):
        yield from (f"silence: the ledger of {name} misses {first} to {last}" for first, last in lost(lab, name))


def _nothing_is_left_behind(lab: Lab, items: Sequence[Item]) -> Iterator[str]:
    for item in items:
        job = job_of(item)
        if job.pending != ("agenda" in item) or job.pending != ("expires_at" not in item):
            yield f"{job.id} is {job.state}, with {sorted({'agenda', 'expires_at'} & item.keys())}"
    yield from (f"stray: {message.body}" for message in lab.messages("StrayQueue"))
