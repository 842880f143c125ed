"""Whatever AWS refuses, loses or leaves out, each slot of a schedule has its job, and each change is done or not."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from tests.faults.failing import Faults, cancelled, refused, throttled
from tests.support import schedules
from tests.support.handlers import RAN
from tests.support.lab import Lab
from tests.support.worlds import Died

from onthedot import wiring
from onthedot.adapters import batches
from onthedot.adapters.aws import CONFLICTS_BORNE
from onthedot.adapters.sqs import ROUNDS
from onthedot.messages import ShardMessage
from onthedot.rules.agenda import shard_of
from onthedot.rules.errors import Throttled, Unavailable
from onthedot.rules.events import Event
from onthedot.rules.instants import from_text
from onthedot.rules.schedules import Schedule, ScheduleState
from onthedot.steps.dispatch import dispatch

AT_NINE, NINE = "0 9 * * *", "2027-01-04T09:00:00Z"
HOUR = timedelta(hours=1)
IN_THE_WAY = cancelled("TransactionConflict", None)
OUTAGE = refused("InternalServerError", 500)


def create() -> bool:
    return isinstance(schedules.put("new", cron=AT_NINE), Schedule)


def edit() -> bool:
    schedules.put("s", cron="0 10 * * *")
    return schedules.row("s").version == 2


def pause() -> bool:
    schedules.hold("s")
    return schedules.row("s").state is ScheduleState.PAUSED


def resume() -> bool:
    schedules.resume("p")
    return schedules.row("p").state is ScheduleState.ACTIVE


def remove() -> bool:
    schedules.delete("s")
    return wiring.world().schedules.get("s") is None


def plan() -> bool:
    return [job.id for job in schedules.look(schedules.row("due"))] == [f"due@{NINE}"]


STEPS: dict[str, Callable[[], bool]] = {
    "create": create, "edit": edit, "pause": pause, "resume": resume, "remove": remove, "plan": plan,
}  # fmt: skip
REQUESTS: dict[str, tuple[str, str, Any]] = {
    "create": ("PUT", "/schedules/new", {"handler": "test.record", "cron": AT_NINE}),
    "edit": ("PUT", "/schedules/s", {"handler": "test.record", "cron": "0 10 * * *"}),
    "pause": ("POST", "/schedules/s/pause", None),
    "resume": ("POST", "/schedules/p/resume", None),
    "remove": ("DELETE", "/schedules/s", None),
}


@pytest.fixture(autouse=True)
def _some(lab: Lab) -> None:
    """Have one that waits, one that is paused, and one that is due."""
    schedules.put("s", cron=AT_NINE)
    schedules.put("p", cron=AT_NINE)
    schedules.hold("p")
    schedules.put("due", cron=AT_NINE)
    lab.time.shift(52 * 60)


def all_rows(lab: Lab) -> list[dict[str, Any]]:
    """Return everything that is stored of schedules and their jobs."""
    found = lab.items("SchedulesTable") + lab.items("JobsTable")
    return sorted(found, key=lambda item: sorted((name, *value.values()) for name, value in item.items()))


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("name", STEPS)
def test_a_change_is_made_as_if_nothing_had_been_in_the_way(faults: Faults, name: str, times: int) -> None:
    """Trap 1: another transaction has the row for some milliseconds."""
    faults.on("TransactWriteItems", *[IN_THE_WAY] * times)
    assert STEPS[name]()


@pytest.mark.parametrize("name", STEPS)
def test_a_change_that_meets_it_for_ever_gives_up_and_leaves_all_as_it_was(lab: Lab, faults: Faults, name: str) -> None:
    before = all_rows(lab)
    faults.on("TransactWriteItems", *[IN_THE_WAY] * 100)
    with pytest.raises(Unavailable):
        STEPS[name]()
    assert faults.count("TransactWriteItems") == CONFLICTS_BORNE
    assert all_rows(lab) == before
    faults.on("TransactWriteItems")
    assert STEPS[name]()


@pytest.mark.parametrize("name", REQUESTS)
@pytest.mark.parametrize(
    ("error", "status"), [(IN_THE_WAY, 503), (throttled(), 429), (cancelled("ThrottlingError"), 429), (OUTAGE, 503)]
)
def test_a_caller_is_told_to_come_back(lab: Lab, faults: Faults, name: str, error: Exception, status: int) -> None:
    before = all_rows(lab)
    faults.on("TransactWriteItems", *[error] * 100)
    answer = lab.call(*REQUESTS[name])
    assert (answer.status, "retry-after" in {name.lower() for name in answer.headers}) == (status, True)
    assert all_rows(lab) == before
    faults.on("TransactWriteItems")
    assert lab.call(*REQUESTS[name]).status < 300


@pytest.mark.parametrize("operation", ["GetItem", "Scan"])
def test_a_read_that_is_throttled_is_too(lab: Lab, faults: Faults, operation: str) -> None:
    faults.on(operation, *[throttled()] * 10)
    assert lab.call("GET", "/schedules/s" if operation == "GetItem" else "/schedules").status == 429
    faults.on(operation)


@pytest.mark.parametrize("operation", ["TransactWriteItems", "BatchGetItem", "Query"])
@pytest.mark.parametrize("error", [throttled(), OUTAGE, refused("ValidationException")], ids=str)
def test_what_could_not_be_planned_is_planned_at_the_next_tick(
    lab: Lab, faults: Faults, operation: str, error: Exception
) -> None:
    def fail(asked: dict[str, Any]) -> None:
        if asked.get("IndexName") != "agenda":
            raise error

    faults.on(operation, *[fail] * 20)
    lab.tick()
    faults.on(operation)
    assert schedules.slots_of("due") == schedules.slots_of("s") == {}
    lab.advance(hours=1)
    assert sorted((call.id, call.at.minute) for call in RAN) == [(f"due@{NINE}", 0), (f"s@{NINE}", 0)]


def test_one_that_fails_keeps_no_other_from_being_planned(
    lab: Lab, faults: Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = schedules.told(monkeypatch)
    faults.on("TransactWriteItems", refused("ValidationException"))
    lab.tick()
    assert [note[0] for note in told].count(Event.SCHEDULE_FAILED) == 1
    assert len(schedules.slots_of("due")) + len(schedules.slots_of("s")) == 1


def test_schedules_that_were_left_out_are_asked_for_again(lab: Lab, faults: Faults) -> None:
    """Trap 49: an answer that leaves keys out is a 200."""
    unread: dict[str, Any] = {"Responses": {"SchedulesTable": []}}
    faults.on("BatchGetItem", *[lambda asked: unread | {"UnprocessedKeys": asked["RequestItems"]}] * 2)
    lab.tick()
    assert sorted(schedules.slots_of("due")) == [NINE]


def test_schedules_that_are_left_out_for_ever_are_a_throttle(faults: Faults) -> None:
    unread: dict[str, Any] = {"Responses": {"SchedulesTable": []}}
    faults.on("BatchGetItem", *[lambda asked: unread | {"UnprocessedKeys": asked["RequestItems"]}] * 100)
    with pytest.raises(Throttled):
        wiring.world().schedules.read(["due"])
    assert faults.count("BatchGetItem") == batches.ROUNDS


def test_what_is_due_is_found_page_by_page(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onthedot.adapters.schedule_pages.PAGE", 2)
    names = schedules.same_shard(0, 5)
    for name in names:
        schedules.put(name, cron="5 9 * * *")
    lab.time.shift(5 * 60)
    pages = list(wiring.world().schedules.due("0", lab.now() - HOUR, lab.now() + HOUR))
    found = [name for page in pages for name in page]
    assert set(names) <= set(found)
    assert len(found) == len(set(found))
    assert {len(page) for page in pages} <= {0, 1, 2}


def test_the_index_is_read_as_it_is_and_rows_as_they_are_now(lab: Lab) -> None:
    """Trap 46: AWS refuses a strongly consistent read of an index; the row decides what became of what is old there."""
    lab.calls.clear()
    lab.tick()
    lab.time.shift(8 * 60)
    lab.settle()
    lab.call("GET", "/schedules")
    due = [body for body in lab.called("Query") if body["IndexName"] == "due"]
    assert due
    assert not any("ConsistentRead" in body for body in due)
    assert all(body["RequestItems"]["SchedulesTable"]["ConsistentRead"] for body in lab.called("BatchGetItem"))
    reads = [*lab.called("GetItem"), *lab.called("Scan")]
    assert {"SchedulesTable"} <= {body["TableName"] for body in reads}
    assert all(body["ConsistentRead"] for body in reads)


@pytest.mark.parametrize("answer", ["refused", "died"])
def test_a_slot_whose_hand_over_failed_is_drained(lab: Lab, faults: Faults, answer: str) -> None:
    """Whoever planned it was stopped before it could send: its entry on the agenda is there for this."""

    def stop(asked: dict[str, Any]) -> dict[str, Any]:
        if answer == "died":
            raise Died
        one = {"SenderFault": False, "Code": "InternalError"}
        return {"Failed": [{"Id": entry["Id"], **one} for entry in asked["Entries"]]}

    schedule = schedules.row("due")
    faults.on("SendMessageBatch", *[stop] * ROUNDS)
    try:
        schedules.look(schedule)
    except Died:
        assert answer == "died"
    faults.on("SendMessageBatch")
    assert schedules.sent(lab, "due") == []
    assert list(schedules.slots_of("due")) == [NINE]
    lab.advance(hours=1)
    assert schedules.ran_slots("due") == [NINE]
    [late] = [call.at for call in RAN if call.id == f"due@{NINE}"]
    assert late <= from_text("2027-01-04T09:06:00.000Z")


def test_a_planner_that_dies_in_a_look_is_followed_by_another(lab: Lab, faults: Faults) -> None:
    """It died between its transaction and its answer: what it had written counts, and what it had not is planned."""

    def done_and_died(asked: dict[str, Any]) -> dict[str, Any]:
        lab.dynamodb.transact_write_items(**asked)
        raise Died

    faults.on("TransactWriteItems", done_and_died, None)
    shard = shard_of("schedule#due", 2)
    with pytest.raises(Died):
        dispatch(wiring.world(), ShardMessage(shard, lab.now()), lambda: True)
    faults.on("TransactWriteItems")
    lab.advance(hours=1)
    assert schedules.ran_slots("due") == schedules.ran_slots("s") == [NINE]
