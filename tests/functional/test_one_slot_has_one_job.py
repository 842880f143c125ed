"""One slot, one job, one message: however many planners race, whatever their clocks say and whatever AWS answers."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from tests.support.handlers import ran
from tests.support.interleavings import Meets, at_call, play_all
from tests.support.lab import Lab
from tests.support.schedules import history, look, minutes, put, ran_slots, row, sent, skipped, slots_of
from tests.support.worlds import Interrupted, Repeating, Skewed, client_of, raising, skewed, with_client, with_clock

from onthedot import wiring
from onthedot.rules.errors import Throttled, Unavailable
from onthedot.rules.instants import to_text
from onthedot.rules.schedules import Schedule
from onthedot.steps.ports import World

DOWN = EndpointConnectionError(endpoint_url="https://aws")
CANCELLED = "TransactionCanceledException"


def due(lab: Lab, name: str) -> Schedule:
    """Return a schedule of which five slots have come near since it was planned."""
    put(name)
    lab.time.shift(300)
    lab.purge()
    return row(name)


def assert_once(lab: Lab, name: str, count: int = 5) -> None:
    """Look whether all near slots have a job, and each of the new ones one message."""
    slots = list(slots_of(name))
    assert slots == minutes(row(name).created_at.replace(second=0) + timedelta(minutes=1), len(slots))
    new = [job.slot for job in list(slots_of(name).values())[10:]]
    assert sent(lab, name) == new
    assert len(new) >= count


def test_of_many_planners_that_read_one_row_one_makes_the_jobs(lab: Lab) -> None:
    """R01: a cron entry ran three times in one minute, since each server believed that it had the lock."""
    read = due(lab, "s")
    made = [look(read, skewed(seconds)) for seconds in (0, 30, -30, 29, 0)]
    assert [len(jobs) for jobs in made] == [5, 0, 0, 0, 0]
    assert_once(lab, "s")
    assert {job.owner for job in made[0]} == {row("s").stamp}, (
        "whoever writes a slot has a token that nobody else draws"
    )


@pytest.mark.parametrize("seconds", [0, 30, -30])
def test_two_planners_at_every_call_of_each_other(lab: Lab, seconds: float) -> None:
    """R01: the other one reads what this one read, and comes right before or after any of its calls."""

    def story(name: str, meets: Meets) -> None:
        read = due(lab, name)
        meets(lambda: look(read), lambda: look(read, skewed(seconds)))
        assert_once(lab, name, 4)

    assert play_all(story) >= 5


def test_a_planner_that_is_paused_between_its_read_and_its_write(lab: Lab) -> None:
    """R01: it stood still for 90 s, went on with what it had read, and made the slots of the time before again."""
    read = due(lab, "s")

    others: list[Schedule] = []

    def another_plans() -> None:
        lab.time.shift(90)
        look(row("s"))
        others.append(row("s"))

    with at_call(0, another_plans):
        look(read)
    assert [row("s")] == others
    lab.purge()
    lab.advance(minutes=9)
    assert sorted(ran()) == sorted(set(ran())), "what was purged comes back from the agenda, once"
    assert set(minutes(read.created_at.replace(second=0) + timedelta(minutes=1), 11)) <= set(ran_slots("s"))


def test_a_lost_answer_is_no_lost_race(lab: Lab) -> None:
    """R02: the write was done, the SDK repeated it and was refused; nobody sent the messages of the jobs it made."""
    read, world = due(lab, "s"), with_clock(Skewed())
    repeating = Repeating(client_of(world, "schedules"), meanwhile=lambda: look(read))
    assert len(look(read, with_client(world, "schedules", repeating))) == 5
    assert_once(lab, "s")


def test_an_answer_that_never_comes_is_looked_for_in_the_row(lab: Lab) -> None:
    """R02: the write was done, and AWS never said so."""
    read = due(lab, "s")
    with at_call(0, raising(DOWN), after=True):
        look(read, with_clock(Skewed()))
    assert_once(lab, "s")


def test_an_answer_that_nobody_can_look_for_leaves_the_jobs_to_drain(lab: Lab) -> None:
    """R02: an unknown result means: send nothing. What was written lies on the agenda."""
    read, world = due(lab, "s"), with_clock(Skewed())
    blind = Interrupted(client_of(world, "schedules"), "get_item", [raising(DOWN)] * 20)
    with at_call(0, raising(DOWN), after=True), pytest.raises(Unavailable):
        look(read, with_client(world, "schedules", blind))
    assert sent(lab, "s") == []
    assert len(slots_of("s")) == 15
    lab.advance(minutes=12)
    assert set(minutes(read.created_at.replace(second=0) + timedelta(minutes=11), 2)) <= set(ran_slots("s"))
    assert len(ran()) == len(set(ran())), "and none runs twice"


REASONS: dict[str, tuple[list[str], type[Exception] | None]] = {
    "a conflict": (["None", "TransactionConflict"], None),
    "a conflict over the row": (["TransactionConflict"], None),
    "a throttle": (["None", "None", "ThrottlingError"], None),
    "a hot partition": (["ProvisionedThroughputExceeded", "None"], None),
    "a conflict beside a slot that was there for a moment": (
        ["None", "ConditionalCheckFailed", "TransactionConflict"],
        None,
    ),
    "both of them": (["TransactionConflict", "ThrottlingError"], None),
    "one that nobody knows": (["None", "SomethingNew"], ClientError),
    "one that does not pass": (["None", "ItemCollectionSizeLimitExceeded", "TransactionConflict"], ClientError),
    "none at all": ([], ClientError),
}


def cancelled(reasons: list[str]) -> ClientError:
    answer: Any = {"Error": {"Code": CANCELLED}, "CancellationReasons": [{"Code": reason} for reason in reasons]}
    return ClientError(answer, "TransactWriteItems")


def refusing(errors: list[ClientError]) -> World:
    """Return a world whose first transactions fail so."""
    world = with_clock(Skewed())
    client = Interrupted(client_of(world, "schedules"), "transact_write_items", [raising(error) for error in errors])
    return with_client(world, "schedules", client)


@pytest.mark.parametrize("reason", REASONS)
def test_a_cancelled_transaction_drops_no_slot(lab: Lab, reason: str) -> None:
    """Traps 1 and 2: any cancellation was read as "the slot exists", and the slot was gone in silence."""
    read, (reasons, error) = due(lab, "s"), REASONS[reason]
    world = refusing([cancelled(reasons)] * 2)
    if error is None:
        assert len(look(read, world)) == 5
    else:
        with pytest.raises(error):
            look(read, world)
        assert row("s") == read, "what is unknown is told, and changes nothing"
        look(read)
    assert_once(lab, "s")


@pytest.mark.parametrize(("reason", "error"), [("TransactionConflict", Unavailable), ("ThrottlingError", Throttled)])
def test_what_does_not_pass_soon_is_left_to_the_next_tick(lab: Lab, reason: str, error: type[Exception]) -> None:
    """A planner that tries for ever would eat the lease of its shard."""
    read = due(lab, "s")
    with pytest.raises(error):
        look(read, refusing([cancelled(["None", reason])] * 8))
    assert row("s") == read
    look(read)
    assert_once(lab, "s")


def test_slots_that_exist_are_left_out_and_one_that_is_only_held_is_not(lab: Lab) -> None:
    """Trap 2, a mixture: of two slots one has its job, and over the other a transaction holds its hand."""
    read = due(lab, "s")
    [first, *_] = look(read)
    lab.dynamodb.delete_item(
        TableName=lab.tables["JobsTable"], Key={"schedule": {"S": first.schedule}, "slot": {"S": first.slot}}
    )
    again = replace(read, stamp=row("s").stamp)
    mixture = cancelled(["None", "TransactionConflict", "ConditionalCheckFailed", "None", "None", "None"])
    assert [job.slot for job in look(again, refusing([mixture]))] == [first.slot]
    assert len(slots_of("s")) == 15


def test_a_stale_planner_moves_nothing_back_and_skips_nothing_twice(lab: Lab) -> None:
    """B11: a planner wrote over how far another had come, and the ranges of skipped slots stood there twice."""
    put("s", missed="latest")
    read = row("s")
    lab.time.shift(timedelta(hours=2))
    assert [len(look(read)), len(look(read, skewed(-3_000))), len(look(read, skewed(40)))] == [11, 0, 0]
    before = row("s")
    look(before, skewed(-3_000))
    assert row("s") == before, "one whose clock is behind finds nothing to do"
    assert skipped(lab, "s") == [("2027-01-04T08:11:00Z", "2027-01-04T09:59:00Z", 109, "not the latest")]
    assert len(history(lab, "s", "skipped")) == 1


def test_a_job_that_was_started_by_hand_takes_no_slot(lab: Lab) -> None:
    """B13: its id looked like a slot, and the timetable's own slot of that time was left out."""
    read = due(lab, "s")
    some = list(slots_of("s").values())[-1]
    world = wiring.world()
    by_hand = [replace(some, slot=f"manual#{text}", owner=text) for text in ("x", minutes(lab.now(), 1)[0], some.slot)]
    for job in by_hand:
        assert world.jobs.add(job, lab.now()).won
    look(read)
    assert_once(lab, "s")
    put("s", "2")
    put("s", "3", cron="0 4 * * *")
    assert [world.jobs.get(*job.key) for job in by_hand] == by_hand, "and no edit withdraws it"
    assert all(job.slot <= to_text(lab.now()) for job in slots_of("s").values())
