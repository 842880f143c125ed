"""POST /jobs/{id}/retry, POST /dead/retry and DELETE /jobs?group=: what is refused, and what thousands are like."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.unit.http.memory import START, Answer, Api

from onthedot.rules.errors import Throttled
from onthedot.rules.events import Event
from onthedot.rules.jobs import State
from onthedot.rules.transitions import ended
from onthedot.steps import bulk


def fill(api: Api, count: int, state: State | None = None, **fields: Any) -> None:
    """Have so many jobs, a second apart, in one state."""
    api.create(id="j", delay=60)
    sample = api.jobs.rows.pop(("job#j", "-"))
    for number in range(count):
        at = START + number * timedelta(seconds=1)
        job = replace(sample, schedule=f"job#j{number}", created_at=at, **fields)
        job = job if state is None else ended(job, state, at, timedelta(days=30))
        api.jobs.rows[job.key] = job
    api.clock.time = START + count * timedelta(seconds=1)
    api.queue.sent.clear()


def retry(api: Api, body: Any = None, **query: str) -> Answer:
    return api.call("POST", "/dead/retry", body, query)


def cancel(api: Api, **query: Any) -> Answer:
    return api.call("DELETE", "/jobs", query=query)


def done(answer: Answer) -> tuple[int, bool]:
    """Return what a bulk call has done."""
    assert answer.status == 200, answer.body
    assert answer.body.keys() == {"count", "more"}
    return answer.body["count"], answer.body["more"]


def states(api: Api) -> dict[str, int]:
    found = [job.state.value for job in api.jobs.rows.values()]
    return {state: found.count(state) for state in set(found)}


def every_call(call: Callable[[], Answer]) -> list[int]:
    """Call until there are no more, and return the counts."""
    counts = []
    for _ in range(30):
        count, more = done(call())
        counts.append(count)
        if not more:
            return counts
    pytest.fail(f"a loop that does not end: {counts}")


def test_five_thousand_dead_of_two_handlers(api: Api) -> None:
    fill(api, 5_000, State.DEAD)
    for number in range(0, 5_000, 2):
        api.change(f"j{number}", handler="other")
    assert done(retry(api, {"handler": "other"}, dry_run="true")) == (500, True)
    assert every_call(lambda: retry(api, {"handler": "other"})) == [500] * 5
    assert states(api) == {"dead": 2_500, "scheduled": 2_500}
    assert {job.handler for job in api.jobs.rows.values() if job.state is State.DEAD} == {"example.echo"}
    assert len(api.queue.sent) == 2_500


def test_a_group_of_thousands_is_cancelled_in_a_loop(api: Api) -> None:
    fill(api, 2_200, group="g")
    for number in range(400):
        api.change(f"j{number}", group="h")
    assert done(cancel(api, group="g", dry_run="true")) == (500, True)
    assert every_call(lambda: cancel(api, group="g")) == [500, 500, 500, 300]
    assert states(api) == {"scheduled": 400, "cancelled": 1_800}


def test_the_few_that_wait_are_found_among_thousands_that_are_over(api: Api) -> None:
    """The index of the group holds them all by creation: a call that gave up on the way found the last three never."""
    fill(api, 6_000, State.SUCCEEDED, group="g")
    for name in ("a", "b", "c"):
        api.create(id=name, delay=60, group="g")
    api.indexes.calls = 0
    assert done(cancel(api, group="g")) == (3, False)
    assert api.indexes.calls < 20, "the agenda has only three jobs, and ends the search"


def test_the_few_of_a_group_are_found_among_thousands_that_wait(api: Api) -> None:
    fill(api, 3_000)
    for name in ("a", "b", "c"):
        api.create(id=name, delay=60, group="g")
    api.indexes.calls = 0
    assert done(cancel(api, group="g")) == (3, False)
    assert api.indexes.calls < 10, "the group has only three jobs: the agenda is not looked at"


def test_what_runs_or_is_over_is_left_and_not_counted(api: Api) -> None:
    fill(api, 5, group="g")
    api.change("j1", state=State.RUNNING)
    assert api.call("DELETE", "/jobs/j2").status == 200
    assert done(cancel(api, group="g", dry_run="true")) == (3, False)
    assert done(cancel(api, group="g")) == (3, False)
    assert done(cancel(api, group="g")) == (0, False), "a loop ends though one still runs"
    assert states(api) == {"cancelled": 4, "running": 1}


def test_a_search_that_finds_nothing_in_time_says_so(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """`{count: 0, more: true}` would have a loop go round for ever."""
    fill(api, 300, State.SUCCEEDED, group="g")
    slow(api, monkeypatch, seconds=1)
    assert cancel(api, group="g").status == cancel(api, group="g", dry_run="true").status == 503


def slow(api: Api, monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Let each look at a clock take time."""

    def now(clock: Any) -> Any:
        clock.time += timedelta(seconds=seconds)
        return clock.time

    monkeypatch.setattr(type(api.clock), "now", now)


def test_a_call_stops_in_time_and_says_that_there_is_more(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trap 12: the gateway gives up after 29 s; who waited did not learn what had been done."""
    fill(api, 400, State.DEAD)
    slow(api, monkeypatch, seconds=0.05)
    started = api.clock.time
    count, more = done(retry(api))
    assert 0 < count < 400
    assert more
    assert api.clock.time - started < timedelta(seconds=25)
    assert states(api) == {"dead": 400 - count, "scheduled": count}


def test_no_write_is_begun_when_the_time_is_over(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """One part of fifty, each of which took a second, would have outlived the gateway."""
    fill(api, 100, State.DEAD)
    change, started = api.jobs.__class__.change, api.clock.time

    def takes_long(jobs: Any, before: Any, after: Any) -> Any:
        api.clock.time += timedelta(seconds=1)
        return change(jobs, before, after)

    monkeypatch.setattr(type(api.jobs), "change", takes_long)
    assert done(retry(api)) == (21, True)
    assert api.clock.time - started == timedelta(seconds=21)


def test_what_was_done_is_told_when_the_database_fails_in_the_midst(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(api, 120, State.DEAD)
    left = iter(range(70))
    change = api.jobs.__class__.change

    def fails(jobs: Any, before: Any, after: Any) -> Any:
        if next(left, None) is None:
            raise Throttled("too many")
        return change(jobs, before, after)

    with monkeypatch.context() as patch:
        patch.setattr(type(api.jobs), "change", fails)
        assert done(retry(api)) == (70, True)
        assert len(api.queue.sent) == 70, "what was written is handed over"
        assert retry(api).status == 429, "nothing was done"
    assert done(retry(api)) == (50, False)


def test_each_job_that_goes_again_is_told_of(api: Api) -> None:
    fill(api, 3, State.DEAD)
    api.world.journal.told.clear()  # type: ignore[attr-defined]
    retry(api)
    assert api.world.journal.told == [(Event.JOB_REVIVED, f"j{n}") for n in range(3)]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("body", "status", "fields"),
    [
        ({"handler": "a b"}, 400, ["handler"]),
        ({"handler": None}, 400, ["handler"]),
        ({"before": "yesterday"}, 400, ["before"]),
        ({"before": "2027-01-01T00:00:00"}, 400, ["before"]),
        ({"before": 5}, 400, ["before"]),
        ({"rate": "fast"}, 400, ["rate"]),
        ({"rate": 1.5}, 400, ["rate"]),
        ({"rate": 0}, 422, ["rate"]),
        ({"rate": 6_001}, 422, ["rate"]),
        ({"limit": 5, "rate": 0, "before": 1}, 400, ["before", "limit", "rate"]),
        ([], 400, []),
        ("{", 400, []),
    ],
)
def test_a_wrong_retry_of_the_dead_changes_nothing(api: Api, body: Any, status: int, fields: list[str]) -> None:
    fill(api, 2, State.DEAD)
    answer = retry(api, body)
    assert (answer.status, sorted(error["field"] for error in answer.body.get("errors", []))) == (status, fields)
    assert states(api) == {"dead": 2}


@pytest.mark.parametrize("query", [{"dry_run": "yes"}, {"dry_run": ["true", "true"]}, {"handler": "h"}])
def test_a_wrong_question_of_it_changes_nothing(api: Api, query: dict[str, Any]) -> None:
    fill(api, 2, State.DEAD)
    answer = api.call("POST", "/dead/retry", None, query)
    assert (answer.status, [error["field"] for error in answer.body["errors"]]) == (400, list(query))
    assert states(api) == {"dead": 2}


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({}, "group"),
        ({"dry_run": "true"}, "group"),
        ({"group": ""}, "group"),
        ({"group": "a b"}, "group"),
        ({"group": ["g", "h"]}, "group"),
        ({"group": "g", "dry_run": "1"}, "dry_run"),
        ({"group": "g", "state": "scheduled"}, "state"),
    ],
)
def test_without_a_group_that_is_right_nothing_is_cancelled(api: Api, query: dict[str, Any], field: str) -> None:
    """A filter that was misspelt and passed over would have cancelled everything."""
    fill(api, 3, group="g")
    answer = cancel(api, **query)
    assert (answer.status, [error["field"] for error in answer.body["errors"]]) == (400, [field])
    assert states(api) == {"scheduled": 3}


@pytest.mark.parametrize("body", [{"delay": 5}, [], "x", "null"])
def test_a_retry_of_one_job_has_nothing_to_say(api: Api, body: Any) -> None:
    fill(api, 1, State.DEAD)
    assert api.call("POST", "/jobs/j0/retry", body).status == 400
    assert api.call("POST", "/jobs/j0/retry", None, {"dry_run": "true"}).status == 400
    assert states(api) == {"dead": 1}


def test_the_contract_says_that_a_group_is_required(api: Api) -> None:
    document = api.call("GET", "/openapi.json").body
    parameters = {one["name"]: one.get("required", False) for one in document["paths"]["/jobs"]["delete"]["parameters"]}
    assert parameters == {"group": True, "dry_run": False}
    assert "required" not in str(document["paths"]["/jobs"]["get"]["parameters"])
    assert bulk.MOST == 500
