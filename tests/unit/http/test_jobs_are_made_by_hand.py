"""POST /schedules/{name}/trigger, /backfill and /resume?dry_run=true: what each answers, and what it leaves alone."""

from datetime import timedelta
from typing import Any

import pytest
from tests.unit.http.memory import START, Answer, Api

from onthedot.rules.instants import from_text, shown, to_text
from onthedot.rules.jobs import Job, State

MINUTELY = {"cron": "* * * * *", "handler": "report", "payload": {"team": 7}}
HOUR = {"from": "2027-01-01T00:01:00Z", "to": "2027-01-01T01:00:00Z"}


def put(api: Api, **fields: Any) -> Answer:
    answer = api.call("PUT", "/schedules/s", MINUTELY | fields)
    assert answer.status in {200, 201}, answer.body
    return answer


def trigger(api: Api, body: Any = None, **fields: Any) -> Answer:
    return api.call("POST", "/schedules/s/trigger", fields if body is None else body)


def pause(api: Api, **fields: Any) -> None:
    assert api.call("POST", "/schedules/s/pause", fields).status == 200


def resume(api: Api, **query: str) -> Answer:
    return api.call("POST", "/schedules/s/resume", query=query)


def backfill(api: Api, **fields: Any) -> Answer:
    return api.call("POST", "/schedules/s/backfill", HOUR | fields)


def count(api: Api, **fields: Any) -> Answer:
    return api.call("POST", "/schedules/s/backfill", HOUR | fields, {"dry_run": "true"})


def gap(api: Api, minutes: int = 60, **fields: Any) -> None:
    """Have a schedule that was paused for so many minutes, whose slots have no jobs: the first is at 00:01."""
    put(api, **fields)
    pause(api)
    api.clock.time += timedelta(minutes=minutes)
    assert resume(api).status == 200


def jobs(api: Api) -> list[Job]:
    """Return the jobs of slots that have passed. Order: by slot."""
    passed = [job for job in api.jobs.rows.values() if job.slot <= to_text(api.clock.time)]
    return sorted(passed, key=lambda job: job.slot)


def break_it(api: Api) -> None:
    api.schedules.rows["s"].fields["cron"] = "nonsense"  # type: ignore[index]


def test_a_trigger_is_a_job_that_runs_now(api: Api) -> None:
    put(api)
    before = api.schedules.rows["s"]
    answer = trigger(api, id="x")
    assert answer.status == 201
    facts = {"id": "s@manual-x", "schedule": "s", "state": "scheduled", "run_at": shown(START), "payload": {"team": 7}}
    assert facts.items() <= answer.body.items()
    assert not {"slot", "local_slot"} & answer.body.keys(), "it has no slot, and takes none"
    assert api.schedules.rows["s"] == before, "the timetable is untouched"
    assert api.call("GET", "/jobs/s@manual-x").body == answer.body


def test_a_trigger_is_safe_to_repeat_with_its_id(api: Api) -> None:
    put(api)
    first = trigger(api, id="x", payload={"b": 1, "a": 2})
    api.clock.time += timedelta(minutes=1)
    again = trigger(api, '{"payload": {"a": 2, "b": 1}, "id": "x"}')
    assert (again.status, again.body) == (200, first.body)
    assert len([job for job in api.jobs.rows.values() if "manual" in job.slot]) == 1


@pytest.mark.parametrize("other", [{"payload": None}, {"payload": 1}, {"payload": "1"}])
def test_another_trigger_with_the_same_id_is_409_and_changes_nothing(api: Api, other: dict[str, Any]) -> None:
    put(api)
    trigger(api, id="x")
    before = dict(api.jobs.rows)
    assert trigger(api, {"id": "x"} | other).status == 409
    assert api.jobs.rows == before


@pytest.mark.parametrize("body", ["", "{}", '{"payload": 1}'])
def test_a_trigger_without_an_id_is_always_new(api: Api, body: str) -> None:
    put(api)
    first, second = trigger(api, body), trigger(api, body)
    assert (first.status, second.status) == (201, 201)
    assert first.body["id"] != second.body["id"]


@pytest.mark.parametrize("payload", ["null", "1.0", '{"n":[1e2,"é"]}', f'"{"x" * 300}"'])
def test_a_trigger_has_its_own_payload_exactly(api: Api, payload: str) -> None:
    put(api)
    assert f'"payload":{payload}' in trigger(api, f'{{"payload": {payload}}}').text


def test_a_trigger_has_its_schedules_payload_where_that_is_large(api: Api) -> None:
    put(api, payload="y" * 500)
    assert trigger(api).body["payload"] == "y" * 500
    put(api, payload="z" * 500)
    assert trigger(api).body["payload"] == "z" * 500, "of the version that is in force"


def test_a_trigger_works_in_a_pause_and_after_the_end(api: Api) -> None:
    put(api, ends_at="2027-01-01T00:05:00Z")
    pause(api)
    assert trigger(api).status == 201
    api.clock.time += timedelta(hours=1)
    assert resume(api).body["state"] == "ended"
    assert trigger(api).status == 201


def test_of_a_broken_schedule_nothing_is_made(api: Api) -> None:
    """The answer gave no reason where nobody had noticed before that it was broken."""
    put(api)
    break_it(api)
    before = dict(api.jobs.rows)
    for answer in (trigger(api), backfill(api), count(api), resume(api, dry_run="true")):
        assert answer.status == 409
        assert "cron" in answer.body["detail"]
    assert api.jobs.rows == before


@pytest.mark.parametrize("call", ["trigger", "backfill", "resume"])
def test_of_a_deleted_schedule_nothing_is_made(api: Api, call: str) -> None:
    put(api)
    api.call("DELETE", "/schedules/s")
    before = dict(api.jobs.rows)
    assert api.call("POST", f"/schedules/s/{call}", HOUR if call == "backfill" else None).status == 404
    assert api.jobs.rows == before


def test_the_trigger_of_a_former_life_is_not_taken_for_one_of_this(api: Api) -> None:
    """The same name, id and body got the job of the deleted schedule as its own, which was cancelled: 200."""
    put(api)
    trigger(api, id="x")
    api.call("DELETE", "/schedules/s")
    put(api)
    assert trigger(api, id="x").status == 409
    assert trigger(api, id="y").status == 201


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"id": "no space"}, ["id"]),
        ({"id": 7, "slot": "x"}, ["id", "slot"]),
        ({"id": "x" * 65, "run_at": "2027-01-01T00:00:00Z"}, ["id", "run_at"]),
    ],
)
def test_every_fault_of_a_trigger_is_named(api: Api, body: Any, fields: list[str]) -> None:
    put(api)
    answer = trigger(api, body)
    assert (answer.status, sorted(error["field"] for error in answer.body["errors"])) == (400, fields)


def test_a_payload_that_is_too_large_is_413(api: Api) -> None:
    put(api)
    assert trigger(api, payload="x" * 262_200).status == 413


def test_a_backfill_gives_each_slot_without_a_job_one(api: Api) -> None:
    gap(api)
    answer = backfill(api, rate=30)
    assert (answer.status, answer.body) == (200, {"count": 59, "more": False})
    filled = jobs(api)[:59]
    assert [shown(from_text(job.slot))[11:16] for job in filled] == [f"00:{minute:02}" for minute in range(1, 60)]
    assert [job.run_at for job in filled] == [api.clock.time + n * timedelta(seconds=2) for n in range(59)]
    assert {(job.version, job.generation) for job in filled} == {(1, api.schedules.rows["s"].generation)}
    assert backfill(api).body == {"count": 0, "more": False}, "safe to repeat"


def test_a_backfill_is_as_fast_as_the_schedule_catches_up(api: Api) -> None:
    gap(api, catch_up_rate=6)
    backfill(api)
    assert jobs(api)[1].run_at - jobs(api)[0].run_at == timedelta(seconds=10)


def test_a_backfill_makes_at_most_500_and_the_next_call_keeps_the_pace(api: Api) -> None:
    """Each call began at once, so that a loop over `more` started everything within a minute, whatever the rate."""
    gap(api, minutes=24 * 60)
    day = {"to": "2027-01-02T00:00:00Z", "rate": 60}
    assert count(api, **day).body == {"count": 500, "more": True}
    assert [backfill(api, **day).body for _ in range(4)] == [
        {"count": 500, "more": True},
        {"count": 500, "more": True},
        {"count": 439, "more": False},
        {"count": 0, "more": False},
    ]
    filled = jobs(api)[:1439]
    assert [job.run_at for job in filled] == [api.clock.time + n * timedelta(seconds=1) for n in range(1439)]


def test_a_job_that_somebody_moved_holds_no_backfill_up(api: Api) -> None:
    gap(api)
    backfill(api, to="2027-01-01T00:03:00Z")
    answer = api.call("PATCH", "/jobs/s@2027-01-01T00:01:00Z", {"run_at": "2029-01-01T00:00:00Z"})
    assert answer.status == 200
    backfill(api)
    assert max(job.run_at for job in jobs(api)[1:]) < api.clock.time + timedelta(minutes=2)


def test_a_dry_run_counts_and_writes_nothing(api: Api) -> None:
    gap(api)
    before = dict(api.jobs.rows), dict(api.schedules.rows), list(api.queue.sent), list(api.schedules.records)
    assert count(api).body == {"count": 59, "more": False}
    assert before == (api.jobs.rows, api.schedules.rows, api.queue.sent, api.schedules.records)
    assert backfill(api).body == {"count": 59, "more": False}


def test_a_backfill_leaves_what_is_to_come_to_the_planner(api: Api) -> None:
    gap(api)
    planned = set(api.jobs.rows)
    assert backfill(api, **{"from": "2027-01-01T00:58:00Z", "to": "2027-01-02T00:00:00Z"}).body["count"] == 3
    assert {job.slot[11:16] for job in api.jobs.rows.values() if job.key not in planned} == {"00:58", "00:59", "01:00"}


def test_what_passed_and_is_not_planned_yet_is_left_to_the_planner(api: Api) -> None:
    """Its policy is to decide first what becomes of it."""
    put(api)
    api.clock.time += timedelta(minutes=30)
    assert backfill(api).body == {"count": 0, "more": False}


def test_slots_before_the_creation_can_be_filled(api: Api) -> None:
    put(api)
    api.clock.time += timedelta(minutes=1)
    day = {"from": "2026-12-31T23:00:00Z", "to": "2027-01-01T00:00:00Z"}
    assert backfill(api, **day).body == {"count": 60, "more": False}


def test_in_a_pause_nothing_is_filled(api: Api) -> None:
    """The jobs would have been skipped when they started, and their slots could never be filled again."""
    gap(api)
    pause(api)
    before = dict(api.jobs.rows)
    for answer in (backfill(api), count(api)):
        assert (answer.status, "paused" in answer.body["detail"]) == (409, True)
    assert api.jobs.rows == before


def test_every_fault_of_a_backfill_is_named(api: Api) -> None:
    put(api)
    answer = api.call("POST", "/schedules/s/backfill", {"from": "x", "rate": "fast", "until": 1}, {"dry_run": "yes"})
    assert answer.status == 400
    fields = sorted(error["field"] for error in answer.body["errors"])
    assert fields == ["dry_run", "from", "rate", "to", "until"]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"from": "2027-01-01T02:00:00Z"}, "to"),
        ({"from": "2026-11-01T00:00:00Z"}, "from"),
        ({"rate": 0}, "rate"),
        ({"rate": 6001}, "rate"),
    ],
)
def test_what_a_rule_refuses_is_422(api: Api, fields: dict[str, Any], field: str) -> None:
    put(api)
    answer = backfill(api, **fields)
    assert (answer.status, [error["field"] for error in answer.body["errors"]]) == (422, [field])


FORESEEN = [("catch_up", {}), ("latest", {}), ("skip", {}), ("catch_up", {"catch_up_limit": 5, "catch_up_rate": 2})]


@pytest.mark.parametrize("on_resume", ["skip", "missed"])
@pytest.mark.parametrize(("missed", "fields"), FORESEEN)
@pytest.mark.parametrize("until", [{}, {"until": "2027-01-01T00:30:00Z"}, {"until": "2027-01-02T00:00:00Z"}])
def test_a_dry_run_tells_what_a_resume_then_does(
    api: Api, on_resume: str, missed: str, fields: dict[str, Any], until: dict[str, str]
) -> None:
    """Of a pause that was over it left out the slot at its very end, which then ran."""
    put(api, missed=missed, **fields)
    pause(api, on_resume=on_resume, **until)
    api.clock.time += timedelta(minutes=40, seconds=30)
    before = dict(api.jobs.rows), dict(api.schedules.rows), list(api.schedules.records)
    foreseen = resume(api, dry_run="true")
    assert (foreseen.status, before) == (200, (api.jobs.rows, api.schedules.rows, api.schedules.records))
    assert resume(api).status == 200
    made = sorted((job for job in api.jobs.rows.values()), key=lambda job: job.slot)
    assert foreseen.body["runs"] == [{"slot": shown(from_text(job.slot)), "at": shown(job.run_at)} for job in made]
    left = [record.facts for record in api.schedules.records if record.part.startswith("skipped#")]
    assert [(part["from"], part["count"], part["reason"]) for part in foreseen.body["skipped"]] == [
        (shown(from_text(facts["from"])), facts["count"], facts["reason"]) for facts in left
    ]


def test_of_a_schedule_that_is_not_paused_nothing_is_foreseen(api: Api) -> None:
    """It told of slots that the dispatcher would plan anyway, and that a resume has nothing to do with."""
    put(api)
    api.clock.time += timedelta(minutes=5)
    assert resume(api, dry_run="true").body == {"runs": [], "skipped": []}


def test_a_triggers_states_are_a_jobs(api: Api) -> None:
    put(api)
    trigger(api, id="x")
    assert api.call("DELETE", "/jobs/s@manual-x").body["state"] == State.CANCELLED
