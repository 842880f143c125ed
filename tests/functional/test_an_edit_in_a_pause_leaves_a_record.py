"""An edit of the timetable begins it anew, also in a pause: what had passed is told of. No edit, no change."""

from typing import Any

import pytest
from tests.support.lab import Lab
from tests.support.schedules import history, ran_slots

LEFT_BEHIND = "its timetable was edited before it could be planned"


def write(lab: Lab, **fields: Any) -> Any:
    answer = lab.call("PUT", "/schedules/s", {"handler": "test.record", **fields})
    assert answer.status in {200, 201}, answer.body
    return answer.body


def test_what_passed_before_an_edit_of_the_timetable_is_told_of(lab: Lab) -> None:
    """Three slots of a pause whose owner wanted them missed had neither a job nor a reason: the ledger said missing."""
    write(lab, cron="0 * * * *")
    lab.call("POST", "/schedules/s/pause", {"on_resume": "missed"})
    lab.advance(hours=3)
    write(lab, cron="15 * * * *")
    lab.advance(hours=1)
    lab.call("POST", "/schedules/s/resume")
    lab.advance(minutes=10)
    assert ran_slots("s") == ["2027-01-04T11:15:00Z"]
    [record] = history(lab, "s", "skipped")
    assert record["reason"] == LEFT_BEHIND
    rows = lab.call("GET", "/schedules/s/ledger").body["items"]
    left = [row for row in rows if row["outcome"].get("reason") == LEFT_BEHIND]
    assert sum(row.get("count", 1) for row in left) == 3
    assert {row["outcome"]["kind"] for row in rows} == {"skipped", "succeeded"}


@pytest.mark.parametrize("fields", [{"zone": "UTC"}, {"exclude": []}, {"on_gap": "after"}])
def test_a_default_that_is_written_out_restarts_nothing(lab: Lab, fields: dict[str, Any]) -> None:
    """It counted as an edit of the timetable, and what had passed in the pause was left behind."""
    write(lab, cron="0 * * * *")
    lab.call("POST", "/schedules/s/pause", {"on_resume": "missed"})
    lab.advance(hours=3)
    assert lab.call("PATCH", "/schedules/s", fields | {"payload": 1}).body["version"] == 2
    lab.call("POST", "/schedules/s/resume")
    lab.advance(minutes=5)
    assert len(ran_slots("s")) == 3
    assert history(lab, "s", "skipped") == []


def test_the_same_in_other_words_is_no_edit(lab: Lab) -> None:
    """A deployment that writes its schedules anew each time made a version each time, and took back what waited."""
    write(lab, cron="0 9 * * *", payload={"a": 1, "b": {"c": 2, "d": 3}})
    again = write(lab, cron="0 9 * * *", payload={"b": {"d": 3, "c": 2}, "a": 1})
    defaults = {"grace": 60, "zone": "UTC", "missed": "catch_up", "overlap": "allow", "exclude": []}
    written_out = write(lab, cron="0 9 * * *", payload={"b": {"d": 3, "c": 2}, "a": 1}, **defaults)
    assert (again["version"], written_out["version"]) == (1, 1)
    assert write(lab, cron="0 9 * * *", payload={"a": 1, "b": {"c": 2, "d": 4}})["version"] == 2
