"""One slot, one job: a one-off's key does not hold its time, so the same id twice is the same job."""

from datetime import timedelta

from tests.support.handlers import ran
from tests.support.jobs import create, job, new
from tests.support.lab import Lab

from onthedot import wiring
from onthedot.rules.jobs import ONE_SLOT, State
from onthedot.steps.manage import Changed, Created, Exists, create_all, reschedule


def test_the_same_request_a_second_later_is_the_same_job(lab: Lab) -> None:
    """With its run_at as the slot, the same id with a `delay` made a job for each time it was sent (A10)."""
    world = wiring.world()
    [first] = create_all(world, [new("j1", 60)])
    lab.advance(seconds=1)
    [second] = create_all(world, [new("j1", 60)])
    assert isinstance(first, Created)
    assert second == Exists(first.job, same=True)
    assert len(lab.items()) == 1
    lab.advance(minutes=10)
    assert ran() == ["j1"]


def test_another_request_under_a_taken_id_changes_nothing(lab: Lab) -> None:
    """Two clients that choose one id must both learn whose job it is."""
    world, first = wiring.world(), create("j1", 60, payload='"mine"')
    [second] = create_all(world, [new("j1", 60, payload='"yours"')])
    assert second == Exists(first, same=False)
    lab.advance(minutes=2)
    assert job("j1").result == '"mine"'


def test_a_job_that_moves_keeps_its_key(lab: Lab) -> None:
    """A reschedule that changed the key left the old item behind, or lost the id."""
    world, first = wiring.world(), create("j1", 60)
    moved = reschedule(world, *first.key, first.run_at + timedelta(hours=1), None)
    assert isinstance(moved, Changed)
    assert moved.job.key == first.key == ("job#j1", ONE_SLOT)
    assert len(lab.items()) == 1


def test_the_request_sent_again_hands_its_job_over_again(lab: Lab) -> None:
    """The first call died between its write and its send; the caller's repeat must not wait for the recheck."""
    world = wiring.world()
    create_all(world, [new("j1", 60)])
    lab.purge()
    create_all(world, [new("j1", 60)])
    lab.advance(seconds=62)
    assert ran() == ["j1"]


def test_an_id_is_free_again_when_its_job_has_expired(lab: Lab) -> None:
    """The table deletes what expired within days, not at once; until then the old item must not be in the way."""
    old = create("j1")
    lab.advance(days=30, seconds=2)
    assert [item["state"]["S"] for item in lab.items()] == [State.SUCCEEDED]
    new_one = create("j1", 5)
    lab.advance(seconds=10)
    assert ran() == ["j1", "j1"]
    assert new_one.idempotency_key != old.idempotency_key
