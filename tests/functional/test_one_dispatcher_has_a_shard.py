"""One dispatcher has a shard at a time; one that lost it does no harm, and none goes on for ever."""

from datetime import timedelta
from itertools import cycle

import pytest
from tests.support.handlers import ran
from tests.support.jobs import create
from tests.support.lab import Context, Lab
from tests.support.worlds import Interrupted, client_of, time_for, with_client

from onthedot import wiring
from onthedot.messages import ShardMessage, read_shard
from onthedot.rules.agenda import shard_of
from onthedot.steps import drain
from onthedot.steps.dispatch import LEASE, MAX_HOPS, Looked, dispatch
from onthedot.steps.ports import Shard

NAMES = [f"j{n:03}" for n in range(100) if shard_of(f"job#j{n:03}", 2) == "0"][:25]


def due(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have 25 jobs wake soon on shard 0, in pages of ten."""
    monkeypatch.setattr(drain, "PAGE", 10)
    for name in NAMES:
        create(name, 1_000)
    lab.time.shift(900)


def look(lab: Lab, pages: int, message: ShardMessage | None = None) -> Looked | None:
    return dispatch(wiring.world(), message or ShardMessage("0", lab.now()), time_for(pages))


def take(lab: Lab, lease: str, former: str | None = None) -> Shard | None:
    return wiring.world().shards.acquire("0", lease, former, lab.now(), lab.now(), lab.now() + LEASE)


def sent(lab: Lab) -> list[str]:
    return sorted(kept.body for kept in lab.messages())


def test_of_two_that_race_for_a_shard_one_has_it(lab: Lab) -> None:
    """A tick that was delivered twice made two dispatchers send the same page."""
    assert take(lab, "a")
    assert take(lab, "b") is None
    lab.time.shift(LEASE)
    assert take(lab, "b") is None, "to its last millisecond"
    lab.time.shift(0.001)
    assert take(lab, "b")


def test_the_lease_of_a_clock_far_ahead_is_not_believed(lab: Lab) -> None:
    """A dispatcher whose clock was eight hours ahead died with its lease, and its shard stood still for as long."""
    ahead = lab.now() + timedelta(hours=8)
    assert wiring.world().shards.acquire("0", "fast", None, ahead, ahead, ahead + LEASE)
    assert take(lab, "next")
    soon = lab.now() + timedelta(seconds=30)
    assert wiring.world().shards.acquire("1", "a little fast", None, soon, soon, soon + LEASE)
    assert wiring.world().shards.acquire("1", "next", None, lab.now(), lab.now(), lab.now() + LEASE) is None


def test_one_that_lost_its_lease_sends_but_moves_nothing(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stalls, another takes the shard: moved on by the first, the watermark would hide what the other has left."""
    due(lab, monkeypatch)
    world = wiring.world()

    def another_takes_the_shard() -> None:
        lab.time.shift(56)
        assert take(lab, "other")

    sqs = Interrupted(client_of(world, "queue"), "send_message_batch", [lambda: None, another_takes_the_shard])
    assert dispatch(with_client(world, "queue", sqs), ShardMessage("0", lab.now()), time_for(9)) is not None
    [row] = [row for row in world.shards.all() if row.name == "0"]
    assert row.watermark is not None
    assert row.watermark.endswith(f"#job#{NAMES[9]}#-"), "the first page, which it had sent with its lease"
    assert len(sent(lab)) == 20, "it sent the second page too, which harms nobody, and stopped"
    look(lab, 9, ShardMessage("0", lab.now(), lease="other"))
    assert len(set(sent(lab))) == 25, "the other goes on from there"


def test_a_dispatcher_with_work_left_keeps_the_shard_for_the_next(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given back in between, each tick would take it, and the one asked to go on would find it taken."""
    due(lab, monkeypatch)
    first = look(lab, 1)
    assert first is not None
    assert first.again is not None
    assert look(lab, 9) is None, "a tick finds it held"
    second = look(lab, 1, first.again)
    assert second is not None
    assert second.again is not None
    assert look(lab, 9, first.again) is None, "a copy of the message that was used does not"
    third = look(lab, 9, second.again)
    assert third is not None
    assert third.again is None
    assert len(set(sent(lab))) == len(sent(lab)) == 25


def test_one_that_made_no_progress_asks_for_no_other(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work that is always left would spin at full speed, on the bill (aws-traps 8)."""
    due(lab, monkeypatch)
    looked = look(lab, 0)
    assert looked is not None
    assert looked.again is None
    assert take(lab, "next"), "and the shard is free for the next tick"


@pytest.mark.parametrize(("hops", "goes_on"), [(MAX_HOPS - 1, True), (MAX_HOPS, False)])
def test_a_chain_ends(lab: Lab, monkeypatch: pytest.MonkeyPatch, hops: int, goes_on: bool) -> None:
    """Fifty hops at most; the next tick goes on from there."""
    due(lab, monkeypatch)
    looked = look(lab, 1, ShardMessage("0", lab.now(), hops))
    assert looked is not None
    assert (looked.again is not None) == goes_on
    assert (take(lab, "next") is None) == goes_on


def test_the_function_sends_the_message_and_the_chain_hands_all_over(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under a herd a function that stops for its time must not wait for the next minute."""
    due(lab, monkeypatch)
    times = cycle([50_000, 0])  # each look has time for one page
    with monkeypatch.context() as patch:
        patch.setattr(Context, "get_remaining_time_in_millis", lambda _: next(times))
        lab.tick()
    assert len(set(sent(lab))) == 25
    lab.advance(seconds=105)
    assert sorted(ran()) == NAMES


def test_a_look_that_fails_is_reported(lab: Lab) -> None:
    """It must not be taken for done; the lease of one that died ends before the next tick."""
    message = {"MessageId": "m", "ReceiptHandle": "r", "Body": '{"v":1}'}
    assert lab.answer("ShardQueue", [message]) == ["m"]
    assert timedelta(seconds=60) > LEASE


@pytest.mark.parametrize("text", ["", "[]", '{"v":2}', '{"v":1,"shard":"0","ticked_at":"now","hops":0,"lease":null}'])
def test_a_message_that_names_no_shard_is_refused(text: str) -> None:
    """It is gone within two minutes, and the next tick brings another."""
    with pytest.raises(ValueError, match="not a"):
        read_shard(text)
