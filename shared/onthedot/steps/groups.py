"""Groups: what is done to the jobs of a group at once."""

from onthedot.rules.jobs import Job
from onthedot.steps.bulk import Bulk, change_all, count_all
from onthedot.steps.listing import pending_of_group
from onthedot.steps.manage import Changed, cancel_as_read
from onthedot.steps.ports import World


def cancellable(world: World, group: str) -> Bulk:
    """Count the jobs of a group that would be taken back."""
    return count_all(world, pending_of_group(world, group))


def cancel_group(world: World, group: str) -> Bulk:
    """Take back the scheduled jobs of a group, at most so many; what runs is left."""

    def change(job: Job, number: int) -> Job | None:  # noqa: ARG001
        done = cancel_as_read(world, job)
        return done.job if isinstance(done, Changed) else None

    return change_all(world, pending_of_group(world, group), change, lambda _: None)
