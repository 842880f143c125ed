"""`POST /dead/retry`: the dead of a handler go again, the oldest first, at a rate, and a loop over it ends."""

from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from tests.support.dead import bury, corpse, die, give_up
from tests.support.handlers import RAN, SCRIPT, ran
from tests.support.jobs import create, job
from tests.support.lab import Lab
from tests.support.proving import IN_FULL

from onthedot import wiring
from onthedot.rules.instants import shown
from onthedot.rules.jobs import Job, Payload, State
from onthedot.steps import bulk, listing
from onthedot.steps.manage import cancel
from onthedot.steps.put import hand_over

MINUTE = timedelta(minutes=1)
DEAD, MOST = (2_500, 500) if IN_FULL else (45, 20)
"""How many of each handler, and of a call: moto takes seconds for hundreds, so thousands are for the full proof."""


def retry(lab: Lab, **fields: Any) -> dict[str, Any]:
    """Retry the dead, or count those that would be."""
    query = {"dry_run": "true"} if fields.pop("dry_run", False) else {}
    answer = lab.call("POST", "/dead/retry", fields, **query)
    assert answer.status == 200, answer.body
    found: dict[str, Any] = answer.body
    return found


def dead(lab: Lab, count: int, handlers: tuple[str, ...] = ("test.record",), **fields: Any) -> list[Job]:
    """Have so many dead jobs, whose deaths are a second apart and whose handlers take turns."""
    start = lab.now() - timedelta(seconds=count)
    died = [
        corpse(f"j{n}", start + timedelta(seconds=n), handler=handlers[n % len(handlers)], **fields)
        for n in range(count)
    ]
    bury(lab, died)
    return died


def states(lab: Lab) -> Counter[tuple[str, str]]:
    return Counter((item["handler"]["S"], item["state"]["S"]) for item in lab.items())


def test_the_dead_of_one_handler_go_again_and_no_other(lab: Lab) -> None:
    dead(lab, 20, ("test.record", "example.echo"))
    create("waits", 3_600)
    cancel(wiring.world(), *create("cancelled", 3_600).key)
    assert retry(lab, handler="test.record") == {"count": 10, "more": False}
    assert states(lab) == {
        ("test.record", "scheduled"): 11,
        ("test.record", "cancelled"): 1,
        ("example.echo", "dead"): 10,
    }
    lab.settle()
    assert sorted(ran()) == sorted(f"j{n}" for n in range(0, 20, 2))


@pytest.mark.parametrize("body", [None, {}])
def test_with_nothing_said_all_the_dead_go_again(lab: Lab, body: Any) -> None:
    dead(lab, 12, ("test.record", "example.echo"))
    assert lab.call("POST", "/dead/retry", body).body == {"count": 12, "more": False}
    lab.settle()
    assert {state for _, state in states(lab)} == {"succeeded"}


def test_only_those_go_that_were_dead_before_a_time(lab: Lab) -> None:
    died = dead(lab, 10)
    at = died[6].finished_at
    assert at is not None
    assert retry(lab, before=shown(at), dry_run=True) == {"count": 6, "more": False}
    assert retry(lab, before=shown(at)) == {"count": 6, "more": False}
    lab.settle()
    assert sorted(ran()) == [f"j{n}" for n in range(6)]


def test_a_dry_run_counts_and_changes_nothing(lab: Lab) -> None:
    dead(lab, 7)
    before = lab.items()
    lab.calls.clear()
    assert retry(lab, dry_run=True) == {"count": 7, "more": False}
    assert lab.items() == before
    assert not {call.operation for call in lab.calls} - {"Scan", "Query", "BatchGetItem"}


def test_they_start_at_the_rate_that_was_asked_for_the_oldest_death_first(lab: Lab) -> None:
    """All at once they would bring down what had just come up again."""
    dead(lab, 30)
    now = lab.now()
    assert retry(lab, rate=6) == {"count": 30, "more": False}
    assert [job(f"j{n}").run_at for n in range(30)] == [now + n * timedelta(seconds=10) for n in range(30)]
    lab.advance(minutes=6)
    assert ran() == [f"j{n}" for n in range(30)]
    assert all(second.at - first.at >= timedelta(seconds=9) for first, second in pairwise(RAN))


def test_at_a_rate_of_one_a_minute_the_far_ones_are_handed_over_in_time(lab: Lab) -> None:
    dead(lab, 18)
    retry(lab, rate=1)
    assert len(lab.messages()) == 16, "the others wait in the table"
    lab.advance(minutes=18)
    assert ran() == [f"j{n}" for n in range(18)]


def every_call(lab: Lab, **fields: Any) -> list[int]:
    """Call until there are no more, and return the counts."""
    counts = []
    for _ in range(20):
        done = retry(lab, **fields)
        counts.append(done["count"])
        if not done["more"]:
            return counts
    pytest.fail(f"a loop that does not end: {counts}")


def test_a_loop_retries_thousands_and_ends(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of them are another handler's, and stay dead."""
    monkeypatch.setattr(bulk, "MOST", MOST)
    dead(lab, 2 * DEAD, ("example.echo", "test.record"))
    assert retry(lab, handler="test.record", dry_run=True) == {"count": MOST, "more": True}
    counts = every_call(lab, handler="test.record", rate=6_000)
    assert counts == [MOST] * (DEAD // MOST) + [DEAD % MOST] * (DEAD % MOST > 0)
    assert states(lab) == {("test.record", "scheduled"): DEAD, ("example.echo", "dead"): DEAD}


def test_jobs_that_die_anew_do_not_keep_a_loop_going(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call found those that the one before had sent to die again."""
    monkeypatch.setattr(bulk, "MOST", 10)
    dead(lab, 25, ("test.meanwhile",))
    SCRIPT.meanwhile = give_up
    before, counts = shown(lab.now()), []
    for _ in range(3):
        counts.append(retry(lab, before=before)["count"])
        lab.advance(seconds=2)
    assert counts == [10, 10, 5]
    assert retry(lab, before=before) == {"count": 0, "more": False}
    assert set(states(lab)) == {("test.meanwhile", "dead")}


def test_one_call_sends_no_job_twice_though_it_dies_at_once(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sent again and dead anew while the call went on, it stood at the end of the list, and was sent once more."""
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    monkeypatch.setattr(listing, "READ_AT_ONCE", 2)
    monkeypatch.setattr(listing, "LEAST_AT_ONCE", 2)
    dead(lab, 6, ("test.meanwhile",))
    SCRIPT.meanwhile = give_up

    def and_run(world: Any, jobs: Any) -> None:
        hand_over(world, jobs)
        lab.time.shift(1)
        lab.settle()

    monkeypatch.setattr("onthedot.steps.revive.hand_over", and_run)
    assert retry(lab) == {"count": 6, "more": False}
    assert Counter(ran()) == {f"j{n}": 1 for n in range(6)}


def test_a_job_that_died_by_a_clock_that_is_ahead_is_found(lab: Lab) -> None:
    bury(lab, [corpse("j1", lab.now() + timedelta(seconds=2))])
    assert retry(lab, dry_run=True) == retry(lab) == {"count": 1, "more": False}


def test_exactly_as_many_as_fit_into_a_call_are_no_more(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "MOST", 10)
    dead(lab, 10)
    assert retry(lab, dry_run=True) == {"count": 10, "more": False}
    assert retry(lab) == {"count": 10, "more": False}
    assert retry(lab) == {"count": 0, "more": False}


def test_those_without_a_payload_are_looked_past(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """They stay dead. Had each call tried them first, and counted the tries, no call would have come past them."""
    monkeypatch.setattr(bulk, "MOST", 10)
    lost = dead(lab, 15, payload=Payload(2_000, stored_as="payload#lost", kept_until=lab.now() + 400 * 1440 * MINUTE))
    lab.time.shift(1)
    bury(lab, [corpse(f"whole{n}", lab.now()) for n in range(5)])
    lab.time.shift(1)
    assert retry(lab) == {"count": 5, "more": False}
    lab.settle()
    assert sorted(ran()) == [f"whole{n}" for n in range(5)]
    assert job("j3") == lost[3]


def test_what_has_expired_and_is_not_deleted_yet_stays_so(lab: Lab) -> None:
    dead(lab, 3)
    lab.time.shift(timedelta(days=31))
    bury(lab, [corpse("new", lab.now())])
    lab.time.shift(1)
    assert retry(lab) == {"count": 1, "more": False}


def test_the_next_call_lists_the_dead_no_more(lab: Lab) -> None:
    died = die(lab, "j1")
    assert [item["id"] for item in lab.call("GET", "/jobs", state="dead").body["items"]] == [died.id]
    lab.time.shift(1)
    assert retry(lab) == {"count": 1, "more": False}
    assert lab.call("GET", "/jobs", state="dead").body == {"items": []}


def all_of(lab: Lab, **query: str) -> tuple[list[str], int]:
    """Return the ids of a list, and how many pages it took."""
    ids, cursor = list[str](), dict[str, str]()
    for pages in range(1, 500):
        body = lab.call("GET", "/jobs", **query, **cursor).body
        ids += [item["id"] for item in body["items"]]
        if "next_cursor" not in body:
            return ids, pages
        cursor = {"cursor": body["next_cursor"]}
    pytest.fail("the list never ends")


def spread(lab: Lab) -> datetime:
    """Have thousands of dead of one handler, and after each ten of them one of another; return the first death."""
    died = dead(lab, DEAD)
    rare = [replace(one, handler="example.echo") for one in died[::10]]
    bury(lab, rare)
    assert died[0].finished_at is not None
    return died[0].finished_at


def test_the_dead_are_listed_by_handler_and_time_without_reading_the_others(lab: Lab) -> None:
    """The index has the handler: of thousands that are another's, none is read."""
    first = spread(lab)
    lab.calls.clear()
    few, pages = all_of(lab, state="dead", handler="example.echo", limit="100")
    assert (len(few), pages) == (-(-DEAD // 10), -(-DEAD // 1_000))
    read = sum(len(body["RequestItems"]["JobsTable"]["Keys"]) for body in lab.called("BatchGetItem"))
    assert len(few) <= read < 2 * len(few), "no more than each page and the one after it"
    due = {"due_from": shown(first), "due_to": shown(first + timedelta(seconds=20))}
    assert len(all_of(lab, state="dead", handler="example.echo", **due)[0]) == 2
    assert len(all_of(lab, state="dead", handler="test.record", limit="100", **due)[0]) == 18


def test_each_shows_its_attempt_and_error(lab: Lab) -> None:
    dead(lab, 1)
    [shown_job] = lab.call("GET", "/jobs", state="dead").body["items"]
    assert (shown_job["last_error"], shown_job["attempts"][-1]["error"]) == ("boom", "boom")
    assert shown_job["outcome"] == {"kind": "dead", "reason": "failed"}


def test_two_bulk_retries_at_once_send_each_job_once(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each counted all of them, since the clocks of both stood at the same millisecond."""
    monkeypatch.setattr(bulk, "AT_ONCE", 4)
    dead(lab, 20)
    counts, read = list[int](), wiring.world().indexes.__class__.read

    def meanwhile(indexes: Any, keys: Any) -> Any:
        found = read(indexes, keys)
        monkeypatch.setattr(type(indexes), "read", read)
        counts.append(retry(lab)["count"])
        return found

    monkeypatch.setattr(type(wiring.world().indexes), "read", meanwhile)
    counts.append(retry(lab)["count"])
    assert counts == [20, 0]
    assert len(lab.messages()) == 20
    lab.settle()
    assert Counter(ran()) == {f"j{n}": 1 for n in range(20)}
    assert job("j0").state is State.SUCCEEDED
