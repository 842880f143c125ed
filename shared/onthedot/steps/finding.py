"""Finding: pages of schedules, and of the jobs of one."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from onthedot.rules.instants import to_text
from onthedot.rules.jobs import Job
from onthedot.rules.missed import EVER
from onthedot.rules.reading import read_schedule, state_of
from onthedot.rules.schedules import Schedule, ScheduleState
from onthedot.steps.listing import SIZE_WITHOUT, Found, Page
from onthedot.steps.ports import World

FIRST_SLOT, PAST_SLOTS = "0", "a"
"""Before and after every slot, which begins with a digit, and before whatever else lies beside the jobs."""
READ_AT_ONCE = 200
MOST_READS = 25
"""Reads of one page; rows of a schedule's past count too, so a page may be short."""


@dataclass(frozen=True, slots=True)
class WantedSchedules:
    """Which schedules are asked for."""

    prefix: str = ""
    group: str | None = None
    state: ScheduleState | None = None

    def takes(self, schedule: Schedule, now: datetime) -> bool:
        """Tell whether a schedule, as it is now, is asked for."""
        return (
            schedule.name.startswith(self.prefix)
            and self.group in {None, schedule.fields.get("group")}
            and (self.state is None or self.state is state_of(schedule, read_schedule(schedule), now))
        )


@dataclass(frozen=True, slots=True)
class SchedulesPage:
    """Some schedules, each with its position, and where the next page starts; nowhere when this is the last one."""

    found: list[tuple[str, Schedule]]
    next: str | None


def schedules_page(world: World, wanted: WantedSchedules, after: str, limit: int, room: int) -> SchedulesPage:
    """Return the page after a position: at most `limit` schedules, whose payloads take about `room` bytes."""
    now, found, position = world.clock.now(), list[tuple[str, Schedule]](), after
    for _ in range(MOST_READS):
        rows, following = world.schedules.page(position, READ_AT_ONCE)
        for position, schedule in rows:
            if not wanted.takes(schedule, now):
                continue
            found.append((position, schedule))
            room -= schedule.payload.size + SIZE_WITHOUT
            if len(found) == limit or room <= 0:
                return SchedulesPage(found, position)
        if following is None:
            return SchedulesPage(found, None)
        position = following
    return SchedulesPage(found, position)


def newest_jobs(world: World, schedule: str, bounds: tuple[str, str], limit: int) -> Page:
    """Return the jobs of a schedule's slots within bounds, the newest first; the second bound is outside."""
    start, before = bounds
    jobs, now = world.indexes.newest(schedule, start, before, limit + 1), world.clock.now()
    shown = [Found(job.slot, job) for job in jobs[:limit] if not job.has_expired(now)]
    return Page(shown, jobs[limit - 1].slot if len(jobs) > limit else None)


def newest_slots(world: World, schedule: str, most: int) -> Iterator[Job]:
    """Return the jobs of a schedule's slots, the newest first, at most so many."""
    before = PAST_SLOTS
    for _ in range(0, most, READ_AT_ONCE):
        jobs = world.indexes.newest(schedule, FIRST_SLOT, before, READ_AT_ONCE)
        yield from jobs
        if len(jobs) < READ_AT_ONCE:
            return
        before = jobs[-1].slot


def jobs_between(
    world: World, schedule: str, after: datetime, until: datetime, at_once: int = READ_AT_ONCE
) -> Iterator[Job]:
    """Return the jobs of the slots after one instant, up to another and with it. Order: by slot."""
    position, last, full = to_text(after), min(to_text(until), PAST_SLOTS), True
    while full:
        jobs = world.indexes.of_schedule(schedule, position, at_once)
        full = len(jobs) == at_once
        for job in jobs:
            position = job.slot
            if job.slot > last:
                return
            yield job


def untouched_jobs(world: World, schedule: str, after: datetime) -> Iterator[Job]:
    """Return the jobs of slots after an instant that no attempt has touched. Order: by slot."""
    return (job for job in jobs_between(world, schedule, after, EVER) if job.untouched)
