"""What the steps ask of the schedules."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from onthedot.rules.history import Record
from onthedot.rules.jobs import Job
from onthedot.rules.schedules import Schedule


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a schedule was not written: it has changed since it was read, or for these jobs the place was not free."""

    changed: bool
    not_free: tuple[Job, ...] = ()


@dataclass(frozen=True, slots=True)
class Marked:
    """What became of marking a schedule: whether it was done, and the schedule as it is now, if it is there."""

    won: bool
    schedule: Schedule | None


Slots = Mapping[str, str | None]
"""What `busy` and `waiting` shall be; what is not named stays."""
Allowed = Mapping[str, frozenset[str | None]]
"""What `busy`, `waiting` and what else is named may be for that."""


class Schedules(Protocol):
    """The schedules, a row each, and what is kept of their past.

    Every write is on condition that the row is as it was read; a repeated call that meets its own write has won.
    """

    def get(self, name: str) -> Schedule | None:
        """Return the schedule as it is now (strongly consistent)."""

    def read(self, names: Sequence[str]) -> list[Schedule]:
        """Return many schedules as they are now (strongly consistent), in no order, without those that are gone."""

    def due(self, shard: str, after: datetime, until: datetime) -> Iterator[list[str]]:
        """Return the names of the shard's schedules with `after < next_at <= until`, in order, page by page.

        Eventually consistent: the row decides.
        """

    def timed_otherwise(self, shard: str, database: str) -> Iterator[list[str]]:
        """Return the names of the shard's schedules that another time zone database than this has timed, page by page.

        Eventually consistent: the row decides.
        """

    def oldest_due(self, shard: str) -> datetime | None:
        """Return the least `next_at` of the shard's schedules; `None` when none has any (eventually consistent)."""

    def page(self, after: str, limit: int) -> tuple[list[tuple[str, Schedule]], str | None]:
        """Return some of all schedules, each with its position, and the position of the last row that was read.

        Order: the table's own. At most `limit` rows are read, those of the past too; no position means the end.
        """

    def write(
        self,
        before: Schedule | None,
        after: Schedule | None,
        records: Sequence[Record],
        jobs: Sequence[Job] = (),
        withdrawn: Sequence[Job] = (),
    ) -> Refused | None:
        """Write a schedule, what is kept of its past and new jobs of it, all or nothing; `None` when that is done.

        Shape: at most 100 of all. A job is written where there is none, or one of a former generation that is not
        running, or one of an older version that is untouched and would now be superseded. One that is `withdrawn` is
        deleted, if it is as it was read. A payload that the schedule names anew is adopted: it expires no more.
        """

    def history(self, name: str) -> list[Record]:
        """Return what is kept of a schedule's past (strongly consistent). Order: by kind, then by time."""

    def last_version(self, name: str) -> int:
        """Return the number of the last version that is kept of a schedule's past (strongly consistent); 0 for none."""

    def mark(self, name: str, slots: Slots, allowed: Allowed) -> Marked:
        """Write which slots run and wait, if those that do are allowed to; the stamp stays."""

    def mark_broken(self, schedule: Schedule, reason: str, stamp: str) -> bool:
        """Write that a schedule cannot be read, and take it off the index of what is due."""
