"""Every shard has its turn in time, however long the work is that others have to catch up with."""

from datetime import timedelta

import pytest
from tests.support import schedules
from tests.support.jobs import create
from tests.support.lab import Context, Lab, event_of
from tests.support.worlds import time_for

import dispatch
from onthedot import wiring
from onthedot.messages import ShardMessage, read_shard, shard_text
from onthedot.rules.agenda import shard_of
from onthedot.rules.timing import LONGEST_LOOK, SHORTEST_LOOK, TICK, Timing
from onthedot.steps.dispatch import dispatch as look

PAUSE = timedelta(seconds=2)


@pytest.mark.parametrize(
    ("shards", "dispatchers", "seconds"), [(4, 2, 40), (1, 9, 40), (32, 2, 5), (32, 8, 20), (256, 2, 2)]
)
def test_a_look_is_as_short_as_the_other_shards_need(shards: int, dispatchers: int, seconds: int) -> None:
    timing = Timing()
    time = timing.look_time(shards, dispatchers)
    assert time == timedelta(seconds=seconds)
    assert time in (LONGEST_LOOK, SHORTEST_LOOK) or time * shards / dispatchers <= timing.look_ahead - 2 * TICK


def test_a_look_with_days_to_catch_up_ends_after_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 32 shards with long work two were looked at for 40 s, then two more: live jobs of others came minutes late."""
    with Lab(Shards=8, DispatchConcurrency=2) as lab:
        names = [name for name in map("s{}".format, range(120)) if shard_of(f"schedule#{name}", 8) == "0"]
        for name in names:
            schedules.put(name, cron="0 * * * *", catch_up_limit=1)
        lab.time.shift(timedelta(days=2))

        def slowly(_: Context) -> int:
            lab.time.shift(PAUSE)
            return 50_000

        monkeypatch.setattr(Context, "get_remaining_time_in_millis", slowly)
        text = shard_text(ShardMessage("0", lab.now()))
        dispatch.handler(event_of([{"MessageId": "m", "ReceiptHandle": "r", "Body": text}]), Context("d"))
        planned = sum(bool(schedules.slots_of(name)) for name in names)
        assert 0 < planned <= wiring.settings().timing.look_time(8, 2) / PAUSE < len(names)
        (again,) = [read_shard(message.body) for message in lab.messages("ShardQueue")]
        assert (again.shard, again.hops) == ("0", 1)


def test_a_drain_that_takes_all_the_time_of_a_look_does_not_put_off_what_is_to_be_planned(lab: Lab) -> None:
    """Else a shard that always has some to hand over would never plan, now that a look is short."""
    (name,) = schedules.same_shard(0, 1)
    schedules.put(name, cron="0 9 * * *")
    create(next(f"j{n}" for n in range(100) if shard_of(f"job#j{n}", 2) == "0"), 52 * 60)
    lab.time.shift(51 * 60)
    first = look(wiring.world(), ShardMessage("0", lab.now()), time_for(1))
    assert first is not None
    assert first.again is not None
    assert schedules.slots_of(name) == {}
    look(wiring.world(), first.again, lambda: True)
    assert len(schedules.slots_of(name)) == 1
