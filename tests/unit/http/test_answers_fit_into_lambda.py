"""No answer is larger than Lambda carries: pages are cut, and a batch is refused before anything is written."""

import json

import pytest
from tests.unit.http.memory import START, Answer, Api

from onthedot.rules.jobs import Payload

LIMIT = 6_291_456
QUOTES = '"' * 130_000
LARGE = {"quotes": QUOTES, "text": "x" * 262_000, "emoji": "😀" * 65_000, "backslashes": "\\" * 131_000}


def fits(answer: Answer) -> bool:
    """Tell whether Lambda carries the answer."""
    return len(json.dumps(answer.event)) < LIMIT


@pytest.mark.parametrize("payload", LARGE.values(), ids=LARGE.keys())
def test_a_page_of_large_payloads_is_cut_and_goes_on(api: Api, payload: str) -> None:
    for number in range(40):
        assert api.create(id=f"j{number}", payload=payload, delay=number).status == 201
    shown: list[str] = []
    query = {"limit": "100"}
    for _ in range(50):
        answer = api.call("GET", "/jobs", query=query)
        assert fits(answer)
        assert answer.body["items"]
        shown += [item["id"] for item in answer.body["items"]]
        if "next_cursor" not in answer.body:
            break
        query["cursor"] = answer.body["next_cursor"]
    assert sorted(shown) == sorted(f"j{number}" for number in range(40))


def test_what_does_not_fit_is_not_even_read(api: Api) -> None:
    for number in range(100):
        api.create(id=f"j{number}", payload="x" * 262_000)
    api.payloads.read = 0
    api.call("GET", "/jobs", query={"limit": "100"})
    assert api.payloads.read < 5_000_000


@pytest.mark.parametrize("payload", LARGE.values(), ids=LARGE.keys())
def test_a_batch_whose_answer_is_too_large_is_refused_before_anything_is_written(api: Api, payload: str) -> None:
    for count in (2, 4, 6, 8, 10, 12, 16, 20):
        before = len(api.jobs.rows)
        jobs = [{"handler": "h", "id": f"j{count}.{number}", "payload": payload} for number in range(count)]
        answer = api.call("POST", "/jobs/batch", json.dumps({"jobs": jobs}, ensure_ascii=False))
        assert fits(answer)
        assert answer.status in {200, 413}
        if answer.status == 413:
            assert len(api.jobs.rows) == before
            return
    pytest.fail("no batch was refused")


def test_a_batch_full_of_faults_fits(api: Api) -> None:
    wrong = {f"unknown{number}": 1 for number in range(30)}
    answer = api.call("POST", "/jobs/batch", {"jobs": [wrong] * 500})
    assert fits(answer)
    assert answer.status in {200, 413}


def test_a_repeated_batch_fits_though_its_jobs_have_grown(api: Api) -> None:
    jobs = [{"handler": "h", "id": f"j{number}"} for number in range(400)]
    api.call("POST", "/jobs/batch", {"jobs": jobs})
    for number in range(400):
        api.change(f"j{number}", result=json.dumps('"' * 2_000), error="😀" * 400, started_at=START, attempt=1)
    answer = api.call("POST", "/jobs/batch", {"jobs": jobs})
    assert fits(answer)
    assert {result["status"] for result in answer.body["results"]} == {200}
    assert all(result["job"]["id"] for result in answer.body["results"])
    for number in range(400):
        api.change(f"j{number}", payload=Payload(200_000, text='"' + "x" * 199_998 + '"'))
    api.payloads.read = 0
    answer = api.call("POST", "/jobs/batch", {"jobs": jobs})
    assert fits(answer)
    assert api.payloads.read < LIMIT
