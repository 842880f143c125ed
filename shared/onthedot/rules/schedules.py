"""The schedule: what is stored of it, its states, and what each change makes of it.

    active --pause--> paused --resume--> active        active --no further slot--> ended
       |
       +--its definition cannot be read--> broken --edit--> active

`planned_until` is how far its slots have become jobs. An edit takes it back to `since`, the time of the edit, so that
what was planned ahead is planned again by the new rule; jobs of an older `version` with a later slot are superseded.
`busy` is the slot that runs, and `waiting` the one that waits for it, where slots must not overlap. Only workers write
these two, and they leave the stamp alone.

`stamp` is drawn anew at each write: two who read the same row cannot both write it, whatever they change.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from onthedot.rules.instants import MILLISECOND
from onthedot.rules.jobs import Job, Payload
from onthedot.rules.slots import Slot
from onthedot.rules.timing import Timing


class ScheduleState(StrEnum):
    """Where a schedule is in its life."""

    ACTIVE = "active"  # its slots become jobs
    PAUSED = "paused"  # somebody stopped it; what passes meanwhile is not missed
    ENDED = "ended"  # its timetable has no further slot
    BROKEN = "broken"  # its definition cannot be read; an edit mends it


class OnResume(StrEnum):
    """What becomes of the slots that passed during a pause."""

    SKIP = "skip"  # they are not missed: skipped
    MISSED = "missed"  # they are missed, and the schedule's policy decides


@dataclass(frozen=True, slots=True)
class Coming:
    """A slot that comes, and the local time it stands for: `2027-03-28T03:00:00`, or with a `*` the second time."""

    at: datetime
    local: str


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause: since when and, if that is known, until when; why, and who made it."""

    since: datetime
    until: datetime | None
    reason: str | None
    by: str
    on_resume: OnResume

    @property
    def last_until(self) -> datetime:
        """The last instant of a pause that ends by itself: a slot at its end is the first that runs again."""
        assert self.until is not None, "it does not end by itself"
        return self.until - MILLISECOND

    def ended_at(self, now: datetime) -> datetime:
        """Return its last instant, if it is over or somebody ends it now."""
        return min(now, self.last_until) if self.until else now

    def holds(self, now: datetime) -> bool:
        """Tell whether the pause is not over yet."""
        return self.until is None or now < self.until


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """A schedule as it is stored. `fields` are the definition as it was written, without the payload."""

    name: str
    generation: str
    version: int
    state: ScheduleState
    fields: Mapping[str, Any]
    payload: Payload
    payload_hash: str
    since: datetime
    planned_until: datetime
    created_at: datetime
    changed_at: datetime
    changed_by: str
    stamp: str
    next_at: datetime | None = None
    next_local: str | None = None
    paced_until: datetime | None = None
    paused: Pause | None = None
    broken: str | None = None
    tzdata: str | None = None
    resumed_at: datetime | None = None
    busy: str | None = None
    waiting: str | None = None

    @property
    def key(self) -> str:
        """The partition key of its jobs."""
        return f"schedule#{self.name}"

    @property
    def placed(self) -> tuple[str, Payload]:
        """Its payload, and the partition that it lies in if it lies apart."""
        return self.key, self.payload

    @property
    def readable(self) -> bool:
        """Whether its row could be read; else only its name is known."""
        return bool(self.generation)

    def is_paused(self, now: datetime) -> bool:
        """Tell whether its jobs may not start now."""
        return self.paused is not None and self.paused.holds(now)


def begins_at(schedule: Schedule, now: datetime, timing: Timing) -> datetime:
    """Return when a change of a schedule begins: now, and not before the version that is there.

    A slow clock would take back, after an edit by a fast one, slots that are neither one's. What no clock within the
    skew allowed has written is not believed: it would hold up every change until then.
    """
    return max(now, schedule.since) if schedule.since <= now + 2 * timing.max_skew else now


def coming(slot: Slot) -> Coming:
    """Return a slot as one that comes."""
    return Coming(slot.instant, _mark((slot.meant or slot.local).isoformat(), slot.fold))


def mark_of(job: Job) -> str:
    """Return the local time that a job stands for, as `Coming` has it."""
    return _mark(job.meant or job.local_slot or "", job.fold or 0)


def _mark(local_text: str, fold: int) -> str:
    return local_text[:19] + "*" * fold


def with_next(schedule: Schedule, next_slot: Coming | None) -> Schedule:
    """Return the schedule in its place on the index of what is due; with nothing to come it has ended.

    Then no time zone database times it any more, and none will move it. A slot that was given back ends that.
    """
    if next_slot is None:
        return replace(schedule, state=ScheduleState.ENDED, next_at=None, next_local=None, tzdata=None)
    state = ScheduleState.ACTIVE if schedule.state is ScheduleState.ENDED else schedule.state
    return replace(schedule, state=state, next_at=next_slot.at, next_local=next_slot.local)


def paused(schedule: Schedule, pause: Pause, stamp: str) -> Schedule:
    """Return the schedule under a pause. What was planned ahead is taken back: its slots come after the pause, or not.

    `next_at` is when the pause ends by itself, if it does.
    """
    return replace(
        schedule,
        state=ScheduleState.PAUSED,
        paused=pause,
        planned_until=min(schedule.planned_until, pause.since),
        next_at=pause.until,
        next_local=None,
        stamp=stamp,
    )


def resumed(schedule: Schedule, at: datetime, stamp: str) -> Schedule:
    """Return the schedule after its pause; slots that passed meanwhile are left behind, unless they are missed.

    Where a pause is ended before its time, what was planned to follow it may have more before it now.
    """
    pause = schedule.paused
    missed = pause is not None and pause.on_resume is OnResume.MISSED
    early = pause is not None and pause.until is not None and at < pause.last_until
    return replace(
        schedule,
        state=ScheduleState.ACTIVE,
        paused=None,
        resumed_at=at,
        planned_until=schedule.planned_until if missed else at if early else max(schedule.planned_until, at),
        stamp=stamp,
    )
