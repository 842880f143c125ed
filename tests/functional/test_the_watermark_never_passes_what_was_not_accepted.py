"""Drain: what SQS did not accept stays before the watermark; what it accepted is not sent again."""

from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import ConnectionClosedError
from tests.support.handlers import ran
from tests.support.jobs import create, job, message
from tests.support.lab import Lab
from tests.support.worlds import Picky, Skewed, client_of, time_for, with_client, with_clock

from onthedot import wiring
from onthedot.messages import ShardMessage
from onthedot.rules.agenda import shard_of
from onthedot.rules.instants import to_text
from onthedot.steps import drain
from onthedot.steps.dispatch import Looked, dispatch
from onthedot.steps.ports import World

THROTTLED = {"SenderFault": False, "Code": "ServiceUnavailable", "Message": "try later"}
REFUSED = {"SenderFault": True, "Code": "InvalidMessageContents", "Message": "no such character"}
RESET = ConnectionClosedError(endpoint_url="sqs")


def due(lab: Lab, count: int, apart: float = 1) -> list[str]:
    """Create far jobs on shard 0, which then wake within the look-ahead; return their messages in their order."""
    names = (name for n in range(10_000) if shard_of(f"job#{(name := f'j{n:03}')}", 2) == "0")
    made = [create(next(names), 1_000 + n * apart) for n in range(count)]
    lab.time.shift(900)
    return [message(one) for one in made]


def picky(refuses: Any) -> tuple[World, Picky]:
    """Return a world whose job queue refuses what the function says."""
    world = with_clock(Skewed())
    sqs = Picky(client_of(world, "queue"), refuses)
    return with_client(world, "queue", sqs), sqs


def look(world: World) -> Looked | None:
    """Look at shard 0, as a tick asks for."""
    return dispatch(world, ShardMessage("0", world.clock.now()), lambda: True)


def watermark() -> str:
    """Return how far shard 0 was handed over."""
    return next(row.watermark or "" for row in wiring.world().shards.all() if row.name == "0")


def test_a_batch_that_was_accepted_in_part_is_sent_again_in_part(lab: Lab) -> None:
    """L02: 23 due; of chunk 1 one entry failed, chunk 3 met a reset. Only the HTTP status was looked at."""
    texts = due(lab, 23)
    faults: dict[str, Any] = {texts[6]: THROTTLED, texts[20]: RESET}
    world, sqs = picky(lambda text: faults.pop(text, None))
    look(world)
    assert sorted(len(batch) for batch in sqs.batches[:3]) == [3, 10, 10]
    assert len(sqs.batches[3]) == 4, "19 were accepted, 4 are left"
    assert set(sqs.batches[3]) == {texts[6], *texts[20:]}
    assert sorted(sqs.accepted) == texts, "each is accepted, and once"
    assert watermark() == to_text(lab.now() + world.timing.look_ahead)
    lab.advance(minutes=3)
    assert len(ran()) == len(set(ran())) == 23


def test_the_watermark_stops_before_what_is_refused(lab: Lab) -> None:
    """Refused three times it is left to the next tick, which begins with it."""
    texts = due(lab, 15)
    world, sqs = picky(lambda text: THROTTLED if text == texts[11] else None)
    looked = look(world)
    assert looked is not None
    assert looked.again is None, "to go on at once would not help"
    assert len(sqs.batches) == 2 + 2, "three rounds for the refused, one for the rest"
    assert watermark().endswith(f"#job#{job_name(texts[10])}#-")
    look(wiring.world())
    assert watermark() == to_text(lab.now() + world.timing.look_ahead)
    lab.advance(minutes=3)
    assert sorted(ran()) == sorted(job_name(text) for text in texts)


def test_nothing_accepted_moves_nothing(lab: Lab) -> None:
    """SQS is down: the first entry of the page is refused, and the watermark stays where it was."""
    due(lab, 3)
    look(picky(lambda text: RESET)[0])  # noqa: ARG005
    assert watermark() == ""
    lab.advance(minutes=3)
    assert len(ran()) == 3


def test_one_that_is_never_accepted_holds_back_none(lab: Lab) -> None:
    """SenderFault: tried for ever it would hold back the whole shard; dropped in silence it would be lost."""
    texts = due(lab, 12)
    world, sqs = picky(lambda text: REFUSED if text == texts[3] else None)
    look(world)
    assert len(sqs.accepted) == 11
    assert watermark() == to_text(lab.now() + world.timing.look_ahead)
    [stray] = lab.messages("StrayQueue")
    assert job_name(texts[3]) in stray.body
    [call] = lab.called("SendMessage")
    assert call["MessageAttributes"]["reason"]["StringValue"] == "InvalidMessageContents: no such character"


def test_nothing_due_is_no_call(lab: Lab) -> None:
    """An empty batch is an error to SQS, and each call costs."""
    create("far", 5_000)
    world, sqs = picky(lambda text: None)  # noqa: ARG005
    look(world)
    assert sqs.batches == []
    assert watermark() == to_text(lab.now() + world.timing.look_ahead)


@pytest.mark.parametrize("apart", [0, 1])
def test_many_are_handed_over_page_by_page(lab: Lab, monkeypatch: pytest.MonkeyPatch, apart: float) -> None:
    """B5: moved at the end only, a run that was killed repeated all. Entries of one wake are split by a page."""
    monkeypatch.setattr(drain, "PAGE", 10)
    texts = due(lab, 23, apart)
    world, sqs = picky(lambda text: None)  # noqa: ARG005
    looked = dispatch(world, ShardMessage("0", lab.now()), time_for(1))
    assert sorted(sqs.accepted) == texts[:10]
    assert watermark().endswith(f"#job#{job_name(texts[9])}#-")
    assert looked is not None
    assert looked.again is not None
    assert (looked.again.shard, looked.again.hops) == ("0", 1)
    dispatch(world, looked.again, time_for(9))
    assert sorted(sqs.accepted) == texts, "each once, none left out"


def test_the_watermark_moves_after_the_send_and_not_before(lab: Lab) -> None:
    """A dispatcher that dies in its send leaves the page to the next one."""
    texts = due(lab, 5)
    seen: list[str] = []
    world, sqs = picky(lambda text: seen.append(watermark()))  # noqa: ARG005
    look(world)
    assert seen == [""] * 5
    assert sorted(sqs.accepted) == texts


def job_name(text: str) -> str:
    """Return the id of the job that a message wakes."""
    return text.split("job#")[1].split('"', maxsplit=1)[0]


def test_every_entry_is_sent_to_arrive_when_it_wakes(lab: Lab) -> None:
    """The agenda is keys only: it knows the wake, and the message must carry it (B4)."""
    due(lab, 3)
    lab.calls.clear()
    look(wiring.world())
    sent = [
        (entry["MessageBody"], entry["DelaySeconds"])
        for call in lab.called("SendMessageBatch")
        for entry in call["Entries"]
    ]
    names = [job_name(text) for text, _ in sent]
    assert [text for text, _ in sent] == [message(job(name)) for name in names]
    assert [delay for _, delay in sent] == [(job(name).run_at - lab.now()) // timedelta(seconds=1) for name in names]
