"""Who plays a death must play it whole: not a call more, on whatever thread, and the message is not acknowledged."""

import pytest
from tests.crashes.clients import Client
from tests.crashes.doing import create, deliver, state
from tests.crashes.faults import Kind
from tests.crashes.flows_of_attempts import with_heartbeats
from tests.crashes.processes import NO_ANSWER, Play, playing
from tests.crashes.renewal import renew
from tests.support.journal import JOURNAL
from tests.support.lab import Lab

FIRST_BEAT = 3
FUNCTION_SECONDS = 120


@pytest.mark.parametrize(("kind", "done"), [(Kind.DIES_BEFORE, FIRST_BEAT), (Kind.DIES_AFTER, FIRST_BEAT + 1)])
def test_a_handler_ends_with_its_process(lab: Lab, kind: Kind, done: int) -> None:
    """A handler has a thread of its own; one that beat on for a dead worker would keep the job from all others."""
    renew(lab)
    client = Client(lab)
    create(client)
    with playing(Play(lab, FIRST_BEAT, kind)) as play:
        with_heartbeats(client)
    assert len(play.made) == FIRST_BEAT + 1
    assert len(play.got) == done
    assert JOURNAL.calls[0].ended_at is None
    assert len(lab.messages()) == 1


def test_a_client_of_a_dead_process_gets_no_answer(lab: Lab) -> None:
    renew(lab)
    client = Client(lab)
    with playing(Play(lab, 0, Kind.DIES_AFTER)):
        create(client)
    assert client.asked[0].answer.status == NO_ANSWER
    assert client.unknown


def test_a_process_whose_time_is_over_is_killed(lab: Lab) -> None:
    """A handler that outlives its function takes its finish with it; its message comes again, for another attempt."""
    renew(lab)
    client = Client(lab)
    create(client)
    spans = iter([FUNCTION_SECONDS + 1])
    JOURNAL.meanwhile = lambda _: lab.time.shift(next(spans, 0))
    with playing(Play(lab)):
        deliver(client)
    assert [call.attempt for call in JOURNAL.calls] == [1, 2]
    assert state("a") == "succeeded"
