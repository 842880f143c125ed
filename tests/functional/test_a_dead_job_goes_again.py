"""A dead or cancelled job goes again when somebody says so: once, from attempt 1, with nothing left of its old life."""

from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from tests.support.dead import bury, corpse, die, give_up
from tests.support.handlers import RAN, SCRIPT, ran
from tests.support.jobs import create, entry, job, message, there
from tests.support.lab import Answer, Lab
from tests.support.worlds import Holds, Interrupted, Repeating, Runner, client_of, with_client

from onthedot import wiring
from onthedot.rules.jobs import State
from onthedot.steps.finish import Failure, Success, finish
from onthedot.steps.manage import Changed, TooLate, cancel
from onthedot.steps.revive import revive
from onthedot.steps.start import Attempt, Drop, start
from onthedot.steps.work import work

LARGE = '"' + "x" * 5_000 + '"'
NOTHING_LEFT = ("owner", "lease_until", "started_at", "finished_at", "result", "error", "reason", "expires_at", "dead")


def retry(lab: Lab, name: str, body: Any = None) -> Answer:
    return lab.call("POST", f"/jobs/{name}/retry", body)


@pytest.mark.parametrize("body", [None, "", {}])
def test_a_dead_job_runs_again_at_once_with_the_key_it_had(lab: Lab, body: Any) -> None:
    died = die(lab, "j1", payload="7")
    lab.advance(hours=1)
    answer = retry(lab, "j1", body)
    assert (answer.status, answer.body["state"], answer.body["attempt"]) == (200, "scheduled", 0)
    lab.settle()
    assert [(call.attempt, call.payload, call.key) for call in RAN] == [(1, 7, died.idempotency_key)] * 2
    assert job("j1").state is State.SUCCEEDED
    assert RAN[1].at - RAN[0].at >= timedelta(hours=1)


def test_a_cancelled_job_goes_again_too(lab: Lab) -> None:
    cancel(wiring.world(), *create("j1", 3_600).key)
    assert retry(lab, "j1").status == 200
    lab.settle()
    assert ran() == ["j1"]
    assert job("j1").state is State.SUCCEEDED
    lab.advance(hours=2)
    assert ran() == ["j1"], "its first time is forgotten"


def test_nothing_of_its_old_life_is_left_in_the_table(lab: Lab) -> None:
    """A11: `expires_at` was left, and the table deleted a job that waited."""
    within = timedelta(seconds=5)
    bury(lab, [corpse("j1", lab.now(), result="1", start_within=within, start_before=lab.now() + within)])
    lab.advance(days=29)
    made = revive(wiring.world(), "job#j1", "-")
    assert isinstance(made, Changed)
    [item] = lab.items()
    assert [name for name in NOTHING_LEFT if name in item] == ["owner"]
    assert item["owner"]["S"] != "owner of j1"
    assert made.job == job("j1")
    assert (made.job.run_at, made.job.since, made.job.pinned) == (lab.now(), lab.now(), None)
    assert made.job.start_before == lab.now() + within, "what bounds its start moves along"


def test_its_former_attempts_and_a_wish_to_stop_are_forgotten(lab: Lab) -> None:
    """Their errors are told until it goes again; left, they would count against its attempts, or stop it at once."""
    request = {"id": "j1", "handler": "test.fail", "retry": {"max_attempts": 2, "first": 1}}
    assert lab.call("POST", "/jobs", request).status == 201
    lab.advance(minutes=1)
    died = lab.job("j1")
    assert (died["state"], [one["number"] for one in died["attempts"]]) == ("dead", [1, 2])
    assert all("boom" in one["error"] for one in died["attempts"])
    bury(lab, [replace(job("j1"), stop=True)])
    assert retry(lab, "j1").body["attempts"] == []
    assert (job("j1").past, job("j1").stop) == ((), None)
    lab.advance(minutes=1)
    assert [one["number"] for one in lab.job("j1")["attempts"]] == [1, 2]
    assert [call.attempt for call in RAN] == [1, 2, 1, 2]


@pytest.mark.parametrize("state", ["scheduled", "running", "succeeded", "skipped"])
def test_any_other_job_is_left_and_the_answer_says_what_it_is_and_since_when(lab: Lab, state: str) -> None:
    made = create("j1", 60, start_within=1)
    if state in {"running", "succeeded"}:
        lab.time.shift(60)
        attempt = start(wiring.world(), entry(made), Runner().policies())
        assert isinstance(attempt, Attempt)
        if state == "succeeded":
            finish(wiring.world(), attempt, Success("null"))
    if state == "skipped":
        lab.time.shift(70)
        lab.settle()
    before = job("j1")
    answer = retry(lab, "j1")
    assert (answer.status, before.state) == (409, state)
    assert f"is {state} since 2027-01-04T08:0" in answer.body["detail"]
    assert "too late" not in answer.body["detail"], "a job that waits was told that it is too late to send it again"
    assert job("j1") == before


def test_a_repeated_call_is_told_that_it_goes_again_and_since_when(lab: Lab) -> None:
    """Whoever got no answer sees that it was done: since the time of the first call, not since the job was made."""
    died = die(lab, "j1")
    SCRIPT.meanwhile = give_up
    lab.time.shift(600)
    assert retry(lab, "j1").status == 200
    again = retry(lab, "j1")
    assert (again.status, "is scheduled since 2027-01-04T08:10:30Z" in again.body["detail"]) == (409, True)
    lab.settle()
    assert len(RAN) == 2
    assert job("j1").finished_at != died.finished_at


def test_a_job_that_dies_again_can_go_again_again(lab: Lab) -> None:
    die(lab, "j1")
    for _ in range(3):
        SCRIPT.meanwhile = give_up
        assert retry(lab, "j1").status == 200
        lab.settle()
        assert job("j1").state is State.DEAD
    assert len(RAN) == 4


def test_what_nobody_knows_is_404_also_when_it_has_expired(lab: Lab) -> None:
    """An expired job is still in the table for days, until DynamoDB deletes it: it could vanish as it waits."""
    bury(lab, [corpse("j1", lab.now())])
    lab.time.shift(timedelta(days=30, seconds=1))
    assert [retry(lab, name).status for name in ("j1", "nobody", "@")] == [404] * 3
    assert job_as_stored(lab)["state"] == {"S": "dead"}


def job_as_stored(lab: Lab) -> dict[str, Any]:
    [item] = lab.items()
    return item


def test_deleted_between_look_and_write_it_stays_gone(lab: Lab) -> None:
    """The table deletes what has expired when it likes; an update without a condition brought half a job back."""
    world, died = wiring.world(), die(lab, "j1")
    key = {"schedule": {"S": died.schedule}, "slot": {"S": died.slot}}
    gone = [lambda: lab.dynamodb.delete_item(TableName=lab.tables["JobsTable"], Key=key)]
    slow = with_client(world, "jobs", Interrupted(client_of(world, "jobs"), "update_item", gone))
    assert revive(slow, *died.key) is None
    assert (there("j1"), lab.items(), lab.messages()) == (None, [], [])


def test_of_two_who_retry_it_at_once_one_does(lab: Lab) -> None:
    """At the same millisecond both wrote the same, and each thought it was its own write that it met."""
    world, died = wiring.world(), die(lab, "j1")
    first: list[Any] = []
    between = [lambda: first.append(revive(world, *died.key))]
    slow = with_client(world, "jobs", Interrupted(client_of(world, "jobs"), "update_item", between))
    second = revive(slow, *died.key)
    assert [type(result) for result in (*first, second)] == [Changed, TooLate]
    lab.settle()
    assert ran() == ["j1", "j1"]


def test_a_write_whose_answer_was_lost_is_done_once(lab: Lab) -> None:
    world, died = wiring.world(), die(lab, "j1")
    assert revive(with_client(world, "jobs", Repeating(client_of(world, "jobs"))), *died.key) == Changed(job("j1"))
    lab.settle()
    assert ran() == ["j1", "j1"]


def test_the_attempt_of_its_old_life_changes_nothing_any_more(lab: Lab) -> None:
    """Attempt numbers begin anew: a late finisher of the dead attempt 1 ended the new attempt 1 with its own word."""
    world, made = wiring.world(), create("j1")
    late = start(world, entry(made), Runner(1).policies())
    assert isinstance(late, Attempt)
    lab.time.shift(80)
    assert work(world, message(made), Runner(1), Holds()).acknowledged
    assert job("j1").reason == "worker died"
    assert retry(lab, "j1").status == 200
    again = start(world, entry(job("j1")), Runner(1).policies())
    assert isinstance(again, Attempt)
    assert again.job.attempt == late.job.attempt == 1
    for ending in (Success("1"), Failure("boom", "failed")):
        assert not finish(world, late, ending)
    assert job("j1") == again.job
    assert finish(world, again, Success("2"))
    assert job("j1").result == "2"


def test_a_message_of_its_old_life_is_stale(lab: Lab) -> None:
    made = create("j1", 300)
    cancel(wiring.world(), *made.key)
    lab.time.shift(1)
    retry(lab, "j1")
    assert isinstance(start(wiring.world(), entry(made), Runner().policies()), Drop)
    assert job("j1").state is State.SCHEDULED


def test_a_large_payload_is_kept_for_as_long_as_the_new_life_needs_it(lab: Lab) -> None:
    """It lies in an item that expires 400 days after the job's time: a job that waited for years found nothing."""
    died = die(lab, "j1", payload=LARGE)
    near_its_end = replace(died.payload, kept_until=lab.now() + timedelta(days=31))
    bury(lab, [replace(died, payload=near_its_end)])
    done = revive(wiring.world(), *died.key)
    assert isinstance(done, Changed)
    assert done.job.payload.stored_as != died.payload.stored_as
    assert done.job.payload.kept_until is not None
    assert done.job.payload.kept_until > lab.now() + timedelta(days=90)
    lab.settle()
    assert [call.payload for call in RAN] == [LARGE.strip('"')] * 2


def test_one_with_time_enough_is_not_copied(lab: Lab) -> None:
    died = die(lab, "j1", payload=LARGE)
    lab.calls.clear()
    retry(lab, "j1")
    assert job("j1").payload == died.payload
    assert not lab.called("PutItem")


def test_without_its_payload_it_does_not_go_again(lab: Lab) -> None:
    """It would only die once more; the answer says so at once, and the job stays as it is."""
    died = die(lab, "j1", payload=LARGE)
    key = {"schedule": {"S": died.schedule}, "slot": {"S": died.payload.stored_as or ""}}
    lab.dynamodb.delete_item(TableName=lab.tables["JobsTable"], Key=key)
    answer = retry(lab, "j1")
    assert (answer.status, "payload of the job j1 is gone" in answer.body["detail"]) == (409, True)
    assert job("j1") == died
    assert lab.messages() == []


def test_a_retried_job_outlives_its_hand_over(lab: Lab) -> None:
    """Whoever dies between the write and the message leaves it on the agenda, where drain finds it."""
    die(lab, "j1")
    retry(lab, "j1")
    lab.purge()
    lab.advance(minutes=6)
    assert job("j1").state is State.SUCCEEDED


def test_a_retried_job_is_cancelled_and_moved_as_any_other(lab: Lab) -> None:
    for name, call in (("j1", partial(lab.call, "DELETE")), ("j2", partial(lab.call, "PATCH", body={"delay": 60}))):
        die(lab, name)
        assert retry(lab, name).status == 200
        assert call(path=f"/jobs/{name}").status == 200
    lab.settle()
    assert ran() == ["j1", "j2"]
    lab.advance(minutes=2)
    assert ran() == ["j1", "j2", "j2"]
