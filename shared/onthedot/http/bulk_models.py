"""The shapes of what is done to many at once."""

from onthedot.http.flags import DryRunQuery
from onthedot.http.forms import InstantIn
from onthedot.http.models import Name, Shape, absent
from onthedot.http.schedule_models import Rate


class Bulk(Shape):
    """How many were done, or would be, at most 500 in a call; with `more`, call again."""

    count: int
    more: bool


class RetryJobRequest(Shape):
    """Sending a job again has nothing to say."""


class DeadRetryRequest(Shape):
    """Which dead jobs go again: of a handler, and dead before a time; and how many of this call start in a minute.

    Give `before` in a loop: what dies anew is dead after it, so that the loop ends.
    """

    handler: Name = absent()
    before: InstantIn = absent()
    rate: Rate = absent()


class GroupQuery(DryRunQuery):
    """The group whose jobs are meant."""

    group: Name
