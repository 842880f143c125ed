"""A list ends only where no next_cursor is, shows nothing twice, and misses nothing that was there all the time."""

import base64
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.http.memory import START, Api

from onthedot.http.models import JobList
from onthedot.rules.agenda import Entry
from onthedot.rules.jobs import State
from onthedot.rules.transitions import ended
from onthedot.steps import listing


def pages(api: Api, **query: Any) -> Iterator[list[dict[str, Any]]]:
    """Yield the items of all pages."""
    for _ in range(500):
        answer = api.call("GET", "/jobs", query=query)
        assert answer.status == 200, answer.text
        JobList.model_validate(answer.body)
        yield answer.body["items"]
        if "next_cursor" not in answer.body:
            return
        query["cursor"] = answer.body["next_cursor"]
    pytest.fail("the list never ends")


def ids(api: Api, **query: Any) -> list[str]:
    """Return the ids of all pages."""
    return [item["id"] for page in pages(api, **query) for item in page]


def fill(api: Api, count: int, **fields: Any) -> None:
    """Create jobs j0, j1, ... a minute apart."""
    for number in range(count):
        assert api.create(id=f"j{number}", delay=number * 60, **fields).status == 201


def finish(api: Api, job_id: str, state: State) -> None:
    """End a job as a worker would."""
    job = api.jobs.rows[f"job#{job_id}", "-"]
    api.jobs.rows[job.key] = ended(job, state, api.clock.now(), timedelta(days=30))


def test_a_filter_finds_the_few_among_the_many(api: Api) -> None:
    fill(api, 250)
    for number in (3, 120, 249):
        api.change(f"j{number}", handler="rare")
    assert sorted(ids(api, handler="rare", limit="10")) == ["j120", "j249", "j3"]


@pytest.mark.parametrize("limit", ["2", "7", "50", "100"])
def test_all_pending_are_listed_by_time(api: Api, limit: str) -> None:
    fill(api, 130)
    finish(api, "j5", State.SUCCEEDED)
    listed = list(pages(api, limit=limit))
    shown = [item["id"] for page in listed for item in page]
    assert set(shown) == {f"j{number}" for number in range(130) if number != 5}
    assert len(shown) == 129
    for page in listed:
        assert [item["run_at"] for item in page] == sorted(item["run_at"] for item in page)
        assert len(page) <= int(limit)


def test_what_changes_while_paging_disturbs_nothing_else(api: Api) -> None:
    fill(api, 40)
    first = api.call("GET", "/jobs", query={"limit": "10"})
    shown = {item["id"] for item in first.body["items"]}
    finish(api, min(shown), State.CANCELLED)
    api.create(id="later", delay=100_000)
    rest = ids(api, limit="10", cursor=first.body["next_cursor"])
    assert len(rest) == len(set(rest)) == 31
    assert shown | set(rest) == {f"j{number}" for number in range(40)} | {"later"}


def test_an_entry_that_its_job_has_left_shows_nothing(api: Api) -> None:
    fill(api, 3)
    api.indexes.stale = [str(Entry(START - timedelta(days=1), "job#j1", "-")), str(Entry(START, "job#gone", "-"))]
    assert sorted(ids(api)) == ["j0", "j1", "j2"]
    assert sorted(ids(api, limit="1")) == ["j0", "j1", "j2"]


def test_a_page_looks_at_a_bounded_number_and_says_that_there_is_more(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "MOST_LOOKED_AT", 60)
    fill(api, 150)
    api.change("j149", handler="rare")
    answer = api.call("GET", "/jobs", query={"handler": "rare"})
    assert answer.body["items"] == []
    assert "next_cursor" in answer.body
    assert api.indexes.calls < 20
    assert ids(api, handler="rare") == ["j149"]


def test_groups_and_the_dead_are_listed(api: Api) -> None:
    fill(api, 30, group="g")
    api.create(id="other", group="h")
    finish(api, "j1", State.SUCCEEDED)
    finish(api, "j2", State.DEAD)
    finish(api, "other", State.DEAD)
    assert len(ids(api, group="g", limit="4")) == 30
    assert ids(api, group="g", state="succeeded") == ["j1"]
    assert sorted(ids(api, state="dead")) == ["j2", "other"]
    assert ids(api, state="dead", group="g") == ["j2"]
    assert ids(api, group="nobody") == []
    api.clock.time += timedelta(days=31)
    assert ids(api, state="dead") == [], "expired, and not deleted yet"
    assert len(ids(api, group="g")) == 28


def test_the_jobs_of_a_schedule_are_listed_by_slot(api: Api) -> None:
    api.create(id="x", delay=60)
    job = api.jobs.rows["job#x", "-"]
    slots = [f"2027-01-02T00:{minute:02}:00.000Z" for minute in range(40)] + ["manual#a"]
    for slot in slots:
        row = replace(job, schedule="schedule#nightly", slot=slot)
        api.jobs.rows[row.key] = row
    shown = ids(api, schedule="nightly", limit="7")
    assert len(shown) == len(set(shown)) == 41
    assert {"nightly@2027-01-02T00:00:00Z", "nightly@manual-a"} <= set(shown)
    assert ids(api, schedule="nobody") == []


def test_due_bounds_are_half_open_and_find_near_and_far_jobs(api: Api) -> None:
    fill(api, 100)
    due = {"due_from": "2027-01-01T00:10:00Z", "due_to": "2027-01-01T00:20:00Z"}
    assert sorted(ids(api, **due)) == sorted(f"j{number}" for number in range(10, 20))
    assert sorted(ids(api, limit="3", **due)) == sorted(f"j{number}" for number in range(10, 20))
    assert ids(api, due_from="2027-01-01T01:39:00Z") == ["j99"]
    assert ids(api, due_to="2027-01-01T00:01:00+00:00") == ["j0"]
    assert len(ids(api, due_to="9999-12-31T23:59:59Z", due_from="0001-01-01T00:00:00Z")) == 100


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"limit": "0"}, 400),
        ({"limit": "-1"}, 400),
        ({"limit": "1000000"}, 400),
        ({"limit": "abc"}, 400),
        ({"limit": "1.0"}, 400),
        ({"limit": ""}, 400),
        ({"limit": "101"}, 400),
        ({"state": "lost"}, 400),
        ({"group": "a b"}, 400),
        ({"schedule": ""}, 400),
        ({"handler": "a/b"}, 400),
        ({"due_from": "yesterday"}, 400),
        ({"due_from": "2027-01-01T00:00:00"}, 400),
        ({"due_to": "2027-01-01T24:00:00Z"}, 400),
        ({"cursor": ""}, 400),
        ({"cursor": "xyz"}, 400),
        ({"cursor": "ä"}, 400),
        ({"cursor": base64.urlsafe_b64encode(b'{"p":"2","c":""}').decode()}, 400),
        ({"cursor": base64.urlsafe_b64encode(b"[1]").decode()}, 400),
        ({"state": "succeeded"}, 422),
        ({"state": "cancelled"}, 422),
        ({"state": "skipped"}, 422),
        ({"due_from": "2027-01-02T00:00:00Z", "due_to": "2027-01-01T00:00:00Z"}, 422),
    ],
)
def test_a_question_that_cannot_be_answered_is_refused(api: Api, query: dict[str, str], status: int) -> None:
    answer = api.call("GET", "/jobs", query=query)
    assert answer.status == status
    assert set(query) & {error["field"] for error in answer.body["errors"]}


def test_all_that_is_wrong_with_a_question_is_named_at_once(api: Api) -> None:
    answer = api.call("GET", "/jobs", query={"limit": "0", "state": "x", "cursor": "?", "due_from": "x"})
    assert {error["field"] for error in answer.body["errors"]} == {"limit", "state", "cursor", "due_from"}


def test_a_cursor_is_good_for_its_own_question_only(api: Api) -> None:
    fill(api, 20)
    cursor = api.call("GET", "/jobs", query={"limit": "5"}).body["next_cursor"]
    assert api.call("GET", "/jobs", query={"limit": "9", "cursor": cursor}).status == 200
    assert api.call("GET", "/jobs", query={"handler": "example.echo", "cursor": cursor}).status == 400
    assert api.call("GET", "/jobs", query={"state": "scheduled", "cursor": cursor}).status == 400


def test_no_changed_cursor_is_taken(api: Api) -> None:
    fill(api, 20)
    cursor = api.call("GET", "/jobs", query={"limit": "5"}).body["next_cursor"]
    for place in range(len(cursor)):
        for letter in "Aa0_":
            changed = cursor[:place] + letter + cursor[place + 1 :]
            assert changed == cursor or api.call("GET", "/jobs", query={"cursor": changed}).status == 400
    for changed in (cursor[:-1], cursor + "=", cursor + "A", " " + cursor):
        assert api.call("GET", "/jobs", query={"cursor": changed}).status == 400


JOBS = st.lists(st.tuples(st.integers(0, 2_000), st.sampled_from(["a", "b"]), st.booleans()), max_size=60)


@settings(deadline=None)
@given(JOBS, st.integers(1, 9), st.sampled_from([None, "a", "b"]))
def test_paging_shows_exactly_what_is_asked_for(
    jobs: list[tuple[int, str, bool]], limit: int, handler: str | None
) -> None:
    api = Api()
    for number, (delay, name, over) in enumerate(jobs):
        api.call("POST", "/jobs", {"handler": name, "id": f"j{number}", "delay": delay})
        if over:
            finish(api, f"j{number}", State.CANCELLED)
    wanted = sorted(f"j{n}" for n, (_, name, over) in enumerate(jobs) if not over and handler in {None, name})
    query = {"limit": str(limit)} | ({"handler": handler} if handler else {})
    assert sorted(ids(api, **query)) == wanted


def test_a_cursor_is_opaque_and_short(api: Api) -> None:
    fill(api, 3)
    cursor = api.call("GET", "/jobs", query={"limit": "1"}).body["next_cursor"]
    assert len(cursor) < 200
    json.loads(base64.urlsafe_b64decode(cursor + "=="))
