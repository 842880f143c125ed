"""A slot's life has a death at each of its calls: claimed, sent, advanced, started, finished. It runs all the same."""

from contextlib import suppress
from datetime import datetime, timedelta

from tests.support.handlers import RAN, ran
from tests.support.interleavings import Meets, play_all
from tests.support.jobs import create, job
from tests.support.lab import Lab
from tests.support.schedules import put, ran_slots, row
from tests.support.worlds import Died, die

from onthedot import wiring
from onthedot.messages import ShardMessage
from onthedot.rules.agenda import shard_of
from onthedot.rules.instants import shown
from onthedot.rules.jobs import State
from onthedot.rules.timing import Timing
from onthedot.steps.dispatch import dispatch

LATEST = Timing().recheck
DAY = timedelta(days=1)


def daily(lab: Lab, name: str) -> datetime:
    """Return the next slot of a schedule that nobody has planned yet, though it is near."""
    slot = lab.now().replace(second=0, microsecond=0) + timedelta(minutes=30)
    put(name, cron=f"{slot.minute} {slot.hour} * * *", handler="test.record")
    lab.time.move_to(slot - timedelta(minutes=4))
    lab.next_tick = lab.now() + timedelta(minutes=1)
    return slot


def look(name: str) -> None:
    """Look at the schedule's shard, as a tick asks for."""
    world = wiring.world()
    dispatch(world, ShardMessage(shard_of(f"schedule#{name}", 2), world.clock.now()), lambda: True)


def test_x01_x02_a_dispatcher_that_dies_at_any_call(lab: Lab) -> None:
    """X01: dead after the claim and before the send, a daily job missed its day. X02: the other way round it ran twice.

    Here the claim and the advance are one write, and what was not sent lies on the agenda: at most five minutes late.
    """

    def story(name: str, meets: Meets) -> None:
        slot = daily(lab, name)
        with suppress(Died):
            meets(lambda: look(name), die)
        lab.advance(minutes=10)
        assert ran_slots(name) == [shown(slot)], "once"
        [call] = [call for call in RAN if call.id.startswith(name)]
        assert call.at - slot <= LATEST
        assert row(name).next_at == slot + DAY

    assert play_all(story) >= 10


def test_x02_a_send_that_was_accepted_and_never_answered(lab: Lab) -> None:
    """Both messages carry the slot; the second finds its job running or done."""
    slot = daily(lab, "s")
    look("s")
    for copy in lab.messages():
        lab.sqs.send_message(QueueUrl=lab.urls["JobQueue"], MessageBody=copy.body)
    lab.advance(minutes=10)
    assert ran_slots("s") == [shown(slot)]


def test_a_worker_that_dies_at_any_call(lab: Lab) -> None:
    """Before its handler, it costs an attempt and no run; after it, the next attempt has the same key."""

    def story(name: str, meets: Meets) -> None:
        create(name)
        [copy] = lab.receive("JobQueue")
        with suppress(Died):
            meets(lambda: lab.invoke("JobQueue", [copy]), die)
        lab.advance(minutes=8)
        assert job(name).state is State.SUCCEEDED
        assert ran().count(name) in {1, 2}
        assert len({call.key for call in RAN if call.id == name}) == 1
        assert lab.messages() == []

    assert play_all(story) >= 5
