"""A cursor continues the very list that it came from; any other list refuses it."""

import pytest
from tests.unit.http.memory import Api

LISTS = ["/jobs", "/schedules", "/schedules/s0/jobs", "/schedules/s1/jobs", "/schedules/s0/ledger"]


@pytest.fixture
def cursors(api: Api) -> dict[str, str]:
    """Return the cursor of each list's first page."""
    for number in range(2):
        api.create(delay=3600 + number)
        fields = {"handler": "h", "cron": "* * * * *"}
        assert api.call("PUT", f"/schedules/s{number}", fields).status == 201
    return {path: cursor for path in LISTS if (cursor := first_page(api, path).get("next_cursor"))}


def first_page(api: Api, path: str) -> dict[str, str]:
    found: dict[str, str] = api.call("GET", path, query={"limit": "1"}).body
    return found


@pytest.mark.parametrize("path", LISTS)
def test_no_other_list_takes_it(api: Api, cursors: dict[str, str], path: str) -> None:
    """The schedules went on from a position among the jobs: some were left out, and nobody was told."""
    assert cursors.keys() >= {"/jobs", "/schedules", "/schedules/s0/jobs", "/schedules/s1/jobs"}
    for origin, cursor in cursors.items():
        answer = api.call("GET", path, query={"cursor": cursor})
        assert answer.status == (200 if origin == path else 400), (origin, path, answer.body)
        if origin != path:
            assert [fault["field"] for fault in answer.body["errors"]] == ["cursor"]
