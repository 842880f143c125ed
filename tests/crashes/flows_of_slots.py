"""What becomes of slots when their jobs come, and of jobs that are made by hand."""

from collections.abc import Iterator
from typing import Any

from tests.crashes.clients import Client
from tests.crashes.doing import GONE, Doing, Wants, at, became, calling, calls_of, deliver, ends, held
from tests.crashes.faults import Kind
from tests.crashes.flows import Flow
from tests.crashes.flows_of_schedules import FIVE_PAST, NINE, SOON, planned, put, putting, ran_once, slot_ran
from tests.crashes.processes import Play, playing
from tests.support.journal import JOURNAL

SIX_PAST = FIVE_PAST.replace("08:05", "08:06")
TURNS = "5,6,40 8 * * *"
"""The last one finds what was left behind of the turns of the first two."""
FAILS_ONCE = {"version": 1, "fails": 1}
WRITE = 1
"""The call by which an edit or a deletion is done; the one before it reads the schedule."""


def due(**fields: Any) -> Doing:
    """Return what has the job of a slot come."""

    def before(client: Client) -> None:
        put(client, **{"cron": SOON} | fields)
        at(client.lab, "8:05")

    return before


def changed_by_who_died(method: str, body: Any = None) -> Doing:
    """Return what has a job come whose schedule was changed by who died before they took the job back."""

    def before(client: Client) -> None:
        planned(client)
        with playing(Play(client.lab, WRITE, Kind.DIES_AFTER)) as play:
            client.lab.call(method, "/schedules/s", body)
        assert play.made[-1] == "TransactWriteItems", play.made
        at(client.lab, "9:00")

    return before


def superseded(_: Client) -> Iterator[str]:
    """Tell if a slot ran as it was before an edit; a second attempt is of the version that made the first."""
    yield from ran_once(NINE, 1, 2)
    if any(call.attempt == 1 and call.payload["version"] == 1 for call in JOURNAL.calls):
        yield f"{NINE} was superseded, and ran"


def never_ran(_: Client) -> Iterator[str]:
    if calls_of(NINE):
        yield f"{NINE} ran: {calls_of(NINE)}"


def first_fails(overlap: str) -> Doing:
    """Return what has the second slot come while the first waits for its next attempt."""

    def before(client: Client) -> None:
        put(client, cron=TURNS, overlap=overlap, payload=FAILS_ONCE, retry={"first": 100})
        at(client.lab, "8:05")
        deliver(client)
        assert calls_of(FIVE_PAST) == [FAILS_ONCE]
        at(client.lab, "8:06")

    return before


def second_waits(client: Client) -> None:
    """Have the first slot's second attempt come, for whose end the second slot waits."""
    first_fails("wait")(client)
    deliver(client)
    client.lab.time.move_to(client.lab.seen_next("JobQueue"))


def in_turn(*second: str) -> Wants:
    """Return that the first slot ran, and the second came to one of these, not before the first had its outcome."""

    def wants(_: Client) -> Iterator[str]:
        yield from became(FIVE_PAST, "succeeded")
        yield from became(SIX_PAST, *second)
        begun = [call.id for call in JOURNAL.calls]
        if begun != sorted(begun):
            yield f"out of turn: {begun}"

    return wants


def filled(client: Client) -> Iterator[str]:
    """Tell if the slots of two days before the schedule was made are not as its client was told."""
    for day in ("02", "03"):
        yield from held(NINE.replace("-04T", f"-{day}T"), "succeeded", GONE)(client)


TRIGGER = calling("POST", "/schedules/s/trigger", {"id": "x"})
BACKFILL = calling("POST", "/schedules/s/backfill", {"from": "2027-01-02T00:00:00Z", "to": "2027-01-04T08:00:00Z"})
DYING = due(payload=FAILS_ONCE, retry={"max_attempts": 1}, pause_after=1)
FLOWS = (
    Flow("run a slot", deliver, slot_ran(FIVE_PAST), due()),
    Flow("a superseded slot comes", deliver, superseded, changed_by_who_died("PATCH", {"payload": {"version": 2}})),
    Flow("a deleted slot comes", deliver, never_ran, changed_by_who_died("DELETE")),
    Flow("take the turn", deliver, slot_ran(FIVE_PAST), due(overlap="skip", cron="5,40 8 * * *")),
    Flow("skip", deliver, in_turn("skipped", "succeeded"), first_fails("skip"), row="skip a slot, since another runs"),
    Flow("wait", deliver, in_turn("succeeded"), first_fails("wait"), row="put a slot off, since another runs"),
    Flow("pass the turn on", deliver, in_turn("succeeded"), second_waits),
    Flow("pause the failing", deliver, ends(FIVE_PAST, "dead"), DYING),
    Flow("trigger", TRIGGER, held("s@manual-x", "succeeded", GONE), putting(), row="run a schedule by hand"),
    Flow("backfill", BACKFILL, filled, putting(), row="fill in ten slots"),
)
