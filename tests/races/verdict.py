"""Whether a race kept the promises: each function returns what broke one, from what was noted and what was found."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

from tests.races.crowd import Fates
from tests.races.journal import Call
from tests.races.load import slots
from tests.races.playing import RETRY_AFTER

OUTCOMES = {"succeeded", "dead", "skipped", "cancelled"}
TIED = {"skip", "wait"}
"""Under these policies no two slots of a schedule run at once."""
ROUNDING = 0.002
"""Times are cut to the millisecond. Units: seconds."""


@dataclass(frozen=True, slots=True)
class Race:
    """What is known of a race when it is over."""

    calls: Sequence[Call]
    fates: Fates
    accepted: set[str]
    schedules: Mapping[str, dict[str, Any]]
    jobs: Mapping[str, dict[str, Any]]
    became: Mapping[str, dict[str, Any]]

    def by_job(self) -> dict[str, list[Call]]:
        """Return the calls of each job. Order: by their begin."""
        found = defaultdict[str, list[Call]](list)
        for call in self.calls:
            found[call.job].append(call)
        return found

    def stood_still(self, call: Call) -> bool:
        """Tell whether the process of a call was frozen, from its message's delivery to its end."""
        until = call.ended_at or float("inf")
        mine = [each for each in self.fates.freezes if each.pid == call.pid]
        return any(each.since < until and each.until > call.delivered_at for each in mine)

    def excused(self, call: Call) -> bool:
        """Tell whether the process of a call could not go on as it should."""
        return call.pid in self.fates.killed | self.fates.ended or self.stood_still(call)


def violations(race: Race) -> list[str]:
    """Return all that a race did against the promises."""
    rules = (lost, early, repeated, at_once, overwritten, unlike, unaccounted, out_of_turn)
    return [f"{rule.__name__}: {what}" for rule in rules for what in rule(race)]


def lost(race: Race) -> Iterator[str]:
    """Each job that was accepted, or made for a slot, has an outcome."""
    yield from (f"{name} was accepted and is gone" for name in race.accepted - race.jobs.keys())
    yield from (f"{name} is {job['state']}" for name, job in race.jobs.items() if job["state"] not in OUTCOMES)
    yield from (f"{name} ran and is gone" for name in race.by_job().keys() - race.jobs.keys())


def early(race: Race) -> Iterator[str]:
    """No call begins before its time, nor before the wait that the call before it asked for."""
    for call in race.calls:
        if call.begun_at < call.due_at - ROUNDING:
            yield f"{call.job} ran {call.due_at - call.begun_at:.3f} s before its time"
    for calls in race.by_job().values():
        for one, other in pairwise(calls):
            asked = one.how == "asked" and one.ended_at is not None and not race.excused(one)
            if asked and other.begun_at < (one.ended_at or 0) + RETRY_AFTER - ROUNDING:
                yield f"attempt {other.attempt} of {other.job} came before the wait that was asked for"


def repeated(race: Race) -> Iterator[str]:
    """Each attempt calls the handler once."""
    counts = Counter((call.job, call.attempt) for call in race.calls)
    yield from (
        f"attempt {attempt} of {job} was made {count} times" for (job, attempt), count in counts.items() if count > 1
    )


def at_once(race: Race) -> Iterator[str]:
    """No call begins while another of the same job has time; after that only where the other could not be stopped."""
    for calls in race.by_job().values():
        for one, other in pairwise(call for call in calls if not _woke_late(race, call)):
            if one.ended_at is not None and one.ended_at <= other.begun_at:
                continue
            if other.begun_at < one.until or not race.excused(one):
                yield f"attempts {one.attempt} and {other.attempt} of {one.job} ran at once"


def _woke_late(race: Race, call: Call) -> bool:
    """Tell whether a process was frozen after it had won its job, and before it called the handler."""
    freezes = race.fates.freezes
    return any(each.pid == call.pid and call.delivered_at < each.until <= call.begun_at + 1 for each in freezes)


def overwritten(race: Race) -> Iterator[str]:
    """Each job has become what its last attempt made of it: a late finisher changes nothing."""
    for name, calls in race.by_job().items():
        job, last = race.jobs.get(name, {}), max(calls, key=lambda call: call.attempt)
        if job.get("state") == "succeeded":
            made = {"call": last.name, "attempt": last.attempt}
            if job["result"] != made or job["attempt"] != last.attempt or last.how != "well":
                yield f"{name} has the result {job['result']} in attempt {job['attempt']}; its last call was {made}"
        elif last.how == "well" and not race.excused(last):
            yield f"{name} is {job.get('state')} ({job.get('reason')}), and its last attempt went well"


def unlike(race: Race) -> Iterator[str]:
    """All attempts of a job have one idempotency key, and no two jobs have the same."""
    jobs_of = defaultdict[str, set[str]](set)
    for call in race.calls:
        jobs_of[call.key].add(call.job)
        if race.jobs.get(call.job, {}).get("key") != call.key:
            yield f"attempt {call.attempt} of {call.job} had another idempotency key"
    yield from (f"{jobs} have one idempotency key" for jobs in jobs_of.values() if len(jobs) > 1)


def unaccounted(race: Race) -> Iterator[str]:
    """Each slot is once in its ledger, with an outcome; none has a job that the ledger does not name."""
    for name, schedule in race.schedules.items():
        became = race.became[name]
        wanted = [slot.timestamp() for slot in slots(schedule, datetime.fromisoformat(became["created_at"]))]
        rows = became["ledger"]
        if sum(row.get("count", 1) for row in rows) != len(wanted):
            yield f"{name} has {sum(row.get('count', 1) for row in rows)} slots in its ledger; {len(wanted)} passed"
        yield from (f"{name}: {row}" for row in rows if row["outcome"]["kind"] not in OUTCOMES)
        found = [datetime.fromisoformat(row["slot"]).timestamp() for row in rows if "slot" in row]
        yield from (f"{name} has no slot at {slot}" for slot in found if slot not in wanted)
        jobs = {job["id"] for job in race.jobs.values() if job["schedule"] == name}
        told = {row["job"] for row in rows if "job" in row}
        yield from (f"{job} is not in the ledger of {name}" for job in jobs - told)


def out_of_turn(race: Race) -> Iterator[str]:
    """Where slots take turns, one is called only after the one before it has its outcome."""
    calls = race.by_job()
    for name, schedule in race.schedules.items():
        if schedule["overlap"] in TIED:
            ran = [job for job in race.jobs.values() if job["schedule"] == name and job["id"] in calls]
            spans = sorted((_begin(race, calls[job["id"]]), job["finished_at"] or 0, job["id"]) for job in ran)
            for (_, end, one), (begin, _, other) in pairwise(spans):
                if begin < end - ROUNDING:
                    yield f"{other} began {end - begin:.3f} s before {one} had its outcome"


def _begin(race: Race, calls: list[Call]) -> float:
    return min((call.begun_at for call in calls if not _woke_late(race, call)), default=calls[0].begun_at)
