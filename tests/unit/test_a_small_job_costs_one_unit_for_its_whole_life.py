"""What DynamoDB counts for an item, and what room a new one must leave for its life.

Source: docs.aws.amazon.com/amazondynamodb, CapacityUnitCalculations (read 2026-11-29).
"""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.making import NOW, a_job, jobs

from onthedot.adapters.items import Item, item_of
from onthedot.adapters.sizes import ENDING, UNIT, fits_one_unit, item_size
from onthedot.rules.instants import MILLISECOND
from onthedot.rules.jobs import Job, Payload, State
from onthedot.rules.transitions import ended, started

OWNER = "f" * 24
LATER = NOW + timedelta(days=3650, milliseconds=999)


def published(item: Item) -> int:
    """Return what the page says: the bytes of names and texts; a number a byte for two digits, and one more."""
    return sum(len(name.encode()) + of_value(*one) for name, typed in item.items() for one in typed.items())


def of_value(kind: str, value: Any) -> int:
    if kind == "N":
        return (len(Decimal(value).normalize().as_tuple().digits) + 1) // 2 + 1
    return 1 if kind == "BOOL" else len(value.encode())


@settings(max_examples=40)
@given(jobs())
def test_an_item_is_never_counted_smaller_than_dynamodb_does(job: Job) -> None:
    item = item_of(job, 4)
    assert published(item) <= item_size(item) <= published(item) + 10 * len(item)


@pytest.mark.parametrize(
    ("item", "size"),
    [
        ({}, 0),
        ({"a": {"S": ""}}, 1),
        ({"ab": {"S": "cd"}}, 4),
        ({"ä": {"S": "€"}}, 5),
        ({"a": {"S": "😀"}}, 5),
        ({"a": {"N": "7"}}, 3),
        ({"a": {"BOOL": True}}, 2),
    ],
)
def test_names_and_texts_count_their_bytes(item: Item, size: int) -> None:
    """A job that was moved by hand could not be given a payload: nobody had counted a truth, and the call crashed."""
    assert item_size(item) == size == published(item)


@settings(max_examples=40)
@given(jobs(), st.integers(0, 1000))
def test_a_job_that_fits_still_fits_when_it_has_ended(job: Job, length: int) -> None:
    """Each of its writes would cost two units otherwise, and so would the indexes' copies."""
    new = replace(
        job,
        state=State.SCHEDULED,
        attempt=0,
        owner=OWNER,
        wake=NOW,
        pinned=None,
        payload=Payload(length, text="x" * length),
        lease_until=None,
        started_at=None,
        finished_at=None,
        result=None,
        error=None,
        reason=None,
        expires_at=None,
    )
    if not fits_one_unit(item_of(new, 4)):
        return
    attempt = replace(started(replace(new, pinned=True), OWNER, LATER, LATER), attempt=50)
    longest = "x" * (ENDING - len("errorreasonfailed"))
    dead = ended(attempt, State.DEAD, LATER, timedelta(0), error=longest, reason="failed")
    done = ended(attempt, State.SUCCEEDED, LATER, timedelta(0), result="x" * (ENDING - len("result")))
    assert max(published(item_of(each, 4)) for each in (new, attempt, dead, done)) <= UNIT


def test_most_of_a_unit_is_left_for_the_payload() -> None:
    """A room that is too careful would send small payloads to an item of their own."""
    most = next(
        length
        for length in range(UNIT, 0, -1)
        if fits_one_unit(item_of(a_job(payload=Payload(1, text="x" * length)), 4))
    )
    assert most > 500


def test_the_millisecond_counts() -> None:
    """A lease's number is the longest with milliseconds."""
    plain, exact = (a_job(lease_until=at) for at in (NOW, NOW + 999 * MILLISECOND))
    assert item_size(item_of(plain, 4)) < item_size(item_of(exact, 4))
