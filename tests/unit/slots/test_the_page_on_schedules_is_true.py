"""The examples of `docs/schedules.md` are taken as they stand, and mean what the page says."""

import json
import re
from pathlib import Path

from tests.unit.http.memory import Api

PAGE = (Path(__file__).parents[3] / "docs/schedules.md").read_text()


def examples() -> list[tuple[str, str, object]]:
    found = re.findall(r"^(PUT|POST) (/\S+)\s+(\{.*?\})\n```", PAGE, re.MULTILINE | re.DOTALL)
    return [(method, path, json.loads(body)) for method, path, body in found]


def test_the_examples_are_taken() -> None:
    [(_, put, schedule), (_, post, preview)] = examples()
    api = Api()
    assert api.call("PUT", put, schedule).status == 201
    answer = api.call("POST", post, preview)
    assert answer.status == 200
    runs = {run["slot"]: run["at"] for run in answer.body["runs"]}
    assert answer.body["skipped"] == [
        {"from": "2027-01-04T01:10:00Z", "to": "2027-01-04T03:40:00Z", "count": 16, "reason": "over the catch-up limit"}
    ]
    assert runs["2027-01-04T01:00:00Z"] == "2027-01-04T01:00:00Z"
    assert [runs[f"2027-01-04T0{time}:00Z"] for time in ("3:50", "4:00", "4:30")] == [
        "2027-01-04T04:30:30Z",
        "2027-01-04T04:30:31Z",
        "2027-01-04T04:30:34Z",
    ]


def test_the_fields_that_restart_a_timetable_are_named() -> None:
    from onthedot.rules.definitions import TIMING  # noqa: PLC0415

    sentence = re.search(r"An edit of (.*?) begins the\s+timetable", PAGE, re.DOTALL)
    assert sentence is not None
    assert set(re.findall(r"`(\w+)`", sentence[1])) == TIMING
