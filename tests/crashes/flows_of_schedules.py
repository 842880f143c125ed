"""What people and dispatchers do with schedules, and what it must come to."""

from collections.abc import Iterator
from typing import Any

from tests.crashes.clients import Client
from tests.crashes.doing import GONE, LARGE, Doing, Wants, at, became, calling, calls_of, tick
from tests.crashes.flows import Flow
from tests.support.journal import JOURNAL
from tests.support.schedules import change

from onthedot import wiring

SOON, AT_NINE = "5 8 * * *", "0 9 * * *"
"""The first becomes a job when it is written, the other when a tick looks after 08:50."""
NINE = "s@2027-01-04T09:00:00Z"
TWENTY_PAST = "s@2027-01-04T09:20:00Z"
FIVE_PAST = "s@2027-01-04T08:05:00Z"


def put(client: Client, version: int = 1, **fields: Any) -> None:
    """Create or replace a schedule; its payload tells which version of it made a job."""
    whole = {"cron": AT_NINE, "handler": "journal.work", "payload": {"version": version}}
    client("PUT", "/schedules/s", whole | fields)


def putting(version: int = 1, **fields: Any) -> Doing:
    return lambda client: put(client, version, **fields)


def ready(client: Client, **fields: Any) -> None:
    """Have a schedule whose slot at nine is about to be planned."""
    put(client, **fields)
    tick(client)
    at(client.lab, "8:52")


def planned(client: Client, **fields: Any) -> None:
    """Have a schedule whose slot at nine has its job."""
    ready(client, **fields)
    tick(client)
    assert list(became(NINE, "scheduled")) == []
    at(client.lab, "8:53")


def planning(**fields: Any) -> Doing:
    return lambda client: planned(client, **fields)


def missing(**fields: Any) -> Doing:
    """Return what leaves slots that have passed while everything was off."""

    def before(client: Client) -> None:
        put(client, cron="0,10,20 9 * * *", **fields)
        tick(client)
        at(client.lab, "9:25")

    return before


def timed_by_another_database(client: Client) -> None:
    """Have a schedule by whose time zone database nine o'clock was an hour later."""
    put(client)
    tick(client)
    later = {"next_at": {"S": "2027-01-04T10:00:00.000Z"}, "next_local": {"S": "2027-01-04T09:00:00"}}
    change(client.lab, "s", tzdata={"S": "1999a"}, **later)
    at(client.lab, "8:52")


def pausing(till: str, **wish: Any) -> Doing:
    """Return what has a schedule that is paused, until a time comes."""

    def before(client: Client) -> None:
        put(client)
        tick(client)
        client("POST", "/schedules/s/pause", wish)
        at(client.lab, till)

    return before


def ran_once(job_id: str, *versions: int) -> Iterator[str]:
    """Tell if a slot did not run, or ran as another version of its schedule."""
    had = {call["version"] for call in calls_of(job_id)}
    if len(had) != 1 or not had <= set(versions):
        yield f"{job_id} ran with versions {had}, and should with one of {versions}"
    yield from became(job_id, "succeeded")


def slot_ran(job_id: str) -> Wants:
    return lambda _: ran_once(job_id, 1)


def if_it_is_there(job_id: str) -> Wants:
    """Return that a slot ran, if the schedule was created at all, which it was if somebody was told so."""

    def wants(client: Client) -> Iterator[str]:
        is_there = wiring.world().schedules.get("s") is not None
        if not is_there and not client.unknown:
            yield "s is gone"
        yield from ran_once(job_id, 1) if is_there else became(job_id, GONE)

    return wants


def caught_up(*minutes: int) -> Wants:
    """Return that these slots ran, and no others."""

    def wants(_: Client) -> Iterator[str]:
        ran = sorted({call.slot.minute for call in JOURNAL.calls if call.slot})
        if ran != list(minutes):
            yield f"the slots at {ran} ran, and should at {minutes}"

    return wants


def edited(client: Client) -> Iterator[str]:
    yield from ran_once(NINE, *([1, 2] if client.unknown else [2]))


def retimed(client: Client) -> Iterator[str]:
    """Tell if slots are neither of the one timetable nor of the other, or of both."""
    if calls_of(NINE) and client.unknown:
        yield from ran_once(NINE, 1)
        yield from became(TWENTY_PAST, GONE)
    else:
        yield from ran_once(TWENTY_PAST, 2)
        yield from became(NINE, GONE)


def did_not_run(client: Client) -> Iterator[str]:
    """Tell if a slot ran in spite of who was told that it would not."""
    if calls_of(NINE) and not client.unknown:
        yield f"{NINE} ran: {calls_of(NINE)}"


def ran_if_resumed(client: Client) -> Iterator[str]:
    if calls_of(NINE) or not client.unknown:
        yield from ran_once(NINE, 1)


GONE_BY_NOW = frozenset({404})
OF_LARGE = planning(payload={"version": 1} | LARGE)
PAUSE, RESUME = calling("POST", "/schedules/s/pause"), calling("POST", "/schedules/s/resume")
DELETE = calling("DELETE", "/schedules/s")
FLOWS = (
    Flow(
        "create a schedule", putting(cron=SOON), if_it_is_there(FIVE_PAST), row="create a schedule that comes at once"
    ),
    Flow("create a schedule, large", putting(payload={"version": 1} | LARGE), if_it_is_there(NINE)),
    Flow("plan", tick, slot_ran(NINE), ready),
    Flow("plan what was missed", tick, caught_up(0, 10, 20), missing()),
    Flow("plan the latest", tick, caught_up(20), missing(missed="latest")),
    Flow("time anew", tick, slot_ran(NINE), timed_by_another_database),
    Flow("edit", putting(2), edited, planned),
    Flow("edit, large", putting(2, payload={"version": 2} | LARGE), edited, OF_LARGE),
    Flow("edit the timetable", putting(2, cron="20 9 * * *"), retimed, planned),
    Flow("pause", PAUSE, did_not_run, planned, row="pause"),
    Flow("resume", RESUME, ran_if_resumed, pausing("8:55")),
    Flow("resume what was missed", RESUME, ran_if_resumed, pausing("9:10", on_resume="missed")),
    Flow("end of a pause", tick, slot_ran(NINE), pausing("8:56", until="2027-01-04T08:55:00Z")),
    Flow("delete", DELETE, did_not_run, planned, refusals=GONE_BY_NOW),
    Flow("delete, large", DELETE, did_not_run, OF_LARGE, refusals=GONE_BY_NOW),
)
