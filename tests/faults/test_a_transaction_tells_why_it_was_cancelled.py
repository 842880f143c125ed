"""Only a write whose own condition failed has lost; whatever else cancels a transaction says nothing of it (trap 2).

Read otherwise, a throttle was another planner that had won, and its slots were dropped in silence.
"""

from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from botocore.exceptions import ClientError
from tests.faults.failing import cancelled, refused
from tests.support.worlds import Skewed

from onthedot.adapters.aws import CONFLICTS_BORNE
from onthedot.adapters.transactions import MOST, transact
from onthedot.rules.errors import Throttled, Unavailable
from onthedot.rules.planning import MOST_JOBS

FAILED, CONFLICT, NONE = "ConditionalCheckFailed", "TransactionConflict", None
SLOW, FULL = "ThrottlingError", "ProvisionedThroughputExceeded"
LOST = [
    ([FAILED, NONE, NONE], {0}),
    ([NONE, FAILED, NONE], {1}),
    ([FAILED, NONE, FAILED], {0, 2}),
    ([CONFLICT, FAILED, NONE], {1}),
    ([FAILED, CONFLICT, SLOW], {0}),
    ([FULL, SLOW, FAILED], {2}),
    ([FAILED, "SomethingNew", NONE], {0}),
]
PASSING = [
    ([CONFLICT, NONE, NONE], Unavailable),
    ([NONE, CONFLICT, CONFLICT], Unavailable),
    ([SLOW, NONE, NONE], Throttled),
    ([NONE, FULL, NONE], Throttled),
    ([SLOW, CONFLICT, FULL], Throttled),
    ([CONFLICT, FULL, NONE], Throttled),
]
UNKNOWN = [
    ["ItemCollectionSizeLimitExceeded", NONE],
    ["ValidationError", NONE],
    ["DuplicateItem", NONE],
    ["SomethingNew", CONFLICT],
    [NONE, NONE],
    [],
]
WRITES = [{"Put": {"TableName": "t", "Item": {}}}] * 3


@dataclass(slots=True)
class Client:
    """A client that raises what is given, call by call, and then does as it is asked."""

    errors: list[Exception]
    calls: list[dict[str, Any]] = field(default_factory=list)

    def transact_write_items(self, **arguments: Any) -> dict[str, Any]:
        """Do all writes or none."""
        self.calls.append(arguments)
        if self.errors:
            raise self.errors.pop(0)
        return {}


def lost(client: Client) -> set[int]:
    """Return the writes of a transaction that lost."""
    return set(transact(cast(Any, client), Skewed(), WRITES, "token"))


@pytest.mark.parametrize(("reasons", "expected"), LOST, ids=str)
def test_who_lost_is_who_failed_its_own_condition(reasons: list[str | None], expected: set[int]) -> None:
    client = Client([cancelled(*reasons)])
    assert lost(client) == expected
    assert len(client.calls) == 1


@pytest.mark.parametrize(("reasons", "_"), PASSING, ids=str)
@pytest.mark.parametrize("times", [1, 2])
def test_what_passes_is_done_again_under_its_own_token(reasons: list[str | None], _: Any, times: int) -> None:
    client = Client([cancelled(*reasons)] * times)
    assert lost(client) == set()
    assert len(client.calls) == times + 1
    assert all(call == {"TransactItems": WRITES, "ClientRequestToken": "token"} for call in client.calls)


@pytest.mark.parametrize(("reasons", "error"), PASSING, ids=str)
def test_what_does_not_pass_is_load_or_outage(reasons: list[str | None], error: type[Unavailable]) -> None:
    client = Client([cancelled(*reasons)] * 100)
    with pytest.raises(Unavailable, match="a transaction was not done") as caught:
        lost(client)
    assert type(caught.value) is error
    assert len(client.calls) == CONFLICTS_BORNE


@pytest.mark.parametrize("reasons", UNKNOWN, ids=str)
def test_what_nobody_knows_is_raised_as_it_is(reasons: list[str | None]) -> None:
    client = Client([cancelled(*reasons)])
    with pytest.raises(ClientError, match="TransactionCanceledException"):
        lost(client)
    assert len(client.calls) == 1


def test_a_cancellation_without_reasons_is_raised() -> None:
    with pytest.raises(ClientError, match="TransactionCanceledException"):
        lost(Client([refused("TransactionCanceledException")]))


def test_a_call_that_meets_itself_waits_until_it_is_done() -> None:
    """Its answer came too late, and the SDK asked again: a 500, though the schedule was written a moment later."""
    in_progress = refused("TransactionInProgressException")
    assert lost(Client([in_progress] * 2)) == set()
    with pytest.raises(Unavailable):
        lost(Client([in_progress] * 100))


@pytest.mark.parametrize(
    ("error", "ours"),
    [
        (refused("ThrottlingException"), Throttled),
        (refused("InternalServerError", 500), Unavailable),
        (refused("AccessDeniedException"), ClientError),
        (refused("IdempotentParameterMismatchException"), ClientError),
    ],
    ids=str,
)
def test_a_call_that_is_refused_whole_is_no_cancellation(error: Exception, ours: type[Exception]) -> None:
    client = Client([error] * 100)
    with pytest.raises(Exception, match=r".") as caught:
        lost(client)
    assert type(caught.value) is ours
    assert len(client.calls) == 1


def test_the_fullest_plan_fits_into_one() -> None:
    """With the row of its schedule, and at most two ranges of skipped slots."""
    assert MOST_JOBS + 1 + 2 == MOST
