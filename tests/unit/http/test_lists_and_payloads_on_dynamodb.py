"""What the API promises holds on the tables themselves: lists end, payloads come back, repeats meet the same job."""

from typing import Any

from tests.support.lab import Lab


def ids(lab: Lab, **query: str) -> list[str]:
    """Return the ids of all pages."""
    shown: list[str] = []
    while True:
        answer = lab.call("GET", "/jobs", **query)
        assert answer.status == 200, answer.body
        shown += [item["id"] for item in answer.body["items"]]
        if "next_cursor" not in answer.body:
            return shown
        query["cursor"] = answer.body["next_cursor"]


def create(lab: Lab, count: int, **fields: Any) -> set[str]:
    """Create jobs j0, j1, ... in one batch."""
    jobs = [{"handler": "example.echo", "id": f"j{number}", "delay": 60 + number} | fields for number in range(count)]
    answer = lab.call("POST", "/jobs/batch", {"jobs": jobs})
    assert {result["status"] for result in answer.body["results"]} == {201}
    return {f"j{number}" for number in range(count)}


def test_every_pending_job_is_listed_once(lab: Lab) -> None:
    created = create(lab, 60)
    shown = ids(lab, limit="7")
    assert len(shown) == 60
    assert set(shown) == created


def test_a_group_is_listed_whole_and_the_rest_is_not(lab: Lab) -> None:
    created = create(lab, 30, group="g")
    lab.call("POST", "/jobs", {"handler": "example.echo", "id": "other", "group": "h", "delay": 60})
    lab.call("DELETE", "/jobs/j3")
    assert set(ids(lab, group="g", limit="4")) == created
    assert ids(lab, group="g", state="cancelled") == ["j3"]
    assert "j3" not in ids(lab)


def test_what_is_dead_or_due_is_found(lab: Lab) -> None:
    create(lab, 20, handler="no.such.handler", retry={"max_attempts": 1})
    due = ids(lab, due_from="2027-01-04T08:01:35Z", due_to="2027-01-04T08:01:45Z")
    assert sorted(due) == sorted(f"j{number}" for number in range(5, 15))
    lab.advance(minutes=3)
    assert len(ids(lab, state="dead", limit="3")) == 20
    assert ids(lab) == []


def test_payloads_come_back_from_their_items(lab: Lab) -> None:
    texts = {f"p{size}": "é" * size for size in (0, 50, 500, 100_000)}
    for job_id, text in texts.items():
        body = {"handler": "example.echo", "id": job_id, "payload": {"text": text}, "delay": 3_600}
        assert lab.call("POST", "/jobs", body).status == 201
        assert lab.call("POST", "/jobs", body).status == 200
        assert lab.job(job_id)["payload"] == {"text": text}
    items = lab.call("GET", "/jobs").body["items"]
    assert {item["id"]: item["payload"]["text"] for item in items} == texts


def test_a_job_whose_payload_is_gone_is_still_shown_and_hides_no_other(lab: Lab) -> None:
    for job_id in ("kept", "lost"):
        lab.call("POST", "/jobs", {"handler": "example.echo", "id": job_id, "payload": "x" * 2_000, "delay": 3_600})
    [stored] = [item for item in lab.items() if item["schedule"]["S"] == "job#lost" and item["slot"]["S"] != "-"]
    lab.dynamodb.delete_item(TableName="JobsTable", Key={name: stored[name] for name in ("schedule", "slot")})
    assert "payload" not in lab.job("lost")
    assert {item["id"]: "payload" in item for item in lab.call("GET", "/jobs").body["items"]} == {
        "kept": True,
        "lost": False,
    }


def test_a_repeated_batch_meets_its_jobs(lab: Lab) -> None:
    create(lab, 30)
    jobs = [{"handler": "example.echo", "id": f"j{number}", "delay": 60 + number} for number in range(30)]
    answer = lab.call("POST", "/jobs/batch", {"jobs": jobs})
    assert {result["status"] for result in answer.body["results"]} == {200}


def test_health_is_good_after_a_tick(lab: Lab) -> None:
    assert lab.call("GET", "/health").status == 503
    lab.tick()
    answer = lab.call("GET", "/health")
    assert (answer.status, answer.body["status"]) == (200, "ok")
