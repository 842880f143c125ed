"""What people and dispatchers do with one-off jobs, and what it must come to."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from tests.crashes.clients import Client
from tests.crashes.doing import (
    GONE,
    HOUR,
    LARGE,
    Doing,
    Wants,
    became,
    calling,
    calls_of,
    create,
    creating,
    deliver,
    ends,
    held,
    state,
    tick,
)
from tests.crashes.flows import Flow
from tests.support.journal import JOURNAL

from onthedot import wiring

SECOND = timedelta(seconds=1)
NAMES = ("a", "b", "c")
AN_HOUR_LATE = timedelta(hours=2, minutes=15)
"""What waits for the sweep: a lost message, and then what befalls the sweep itself."""


def created(payload: Any) -> Wants:
    """Return what a creation comes to: the whole job, or none if nobody was told of it."""

    def wants(client: Client) -> Iterator[str]:
        yield from became("a", "succeeded", *([GONE] if client.unknown else []))
        yield from (f"a ran with {had}" for had in calls_of("a") if had != payload)

    return wants


def create_four(client: Client) -> None:
    """Ask for four jobs at once: a far one, a large one, and two more."""
    jobs = [{"id": f"j{n}", "handler": "journal.work", "payload": {}, "delay": 5 if n else HOUR} for n in range(4)]
    jobs[3]["payload"] = LARGE
    client("POST", "/jobs/batch", {"jobs": jobs})


def each_stands_or_falls_alone(client: Client) -> Iterator[str]:
    """Tell if a job is half there; those that were accepted are held by what was told."""
    for number in range(4):
        yield from became(f"j{number}", "succeeded", *([GONE] if client.unknown else []))


def moving(**fields: Any) -> Doing:
    return calling("PATCH", "/jobs/a", fields)


def moved(delay: int, payload: Any) -> Wants:
    """Return what a reschedule comes to: the new time and payload, or both as they were if nobody was told."""

    def wants(client: Client) -> Iterator[str]:
        yield from became("a", "succeeded")
        job = wiring.world().jobs.get("job#a", "-")
        is_moved = job is not None and abs(job.run_at - job.created_at - timedelta(seconds=delay)) < timedelta(
            minutes=1
        )
        if not is_moved and not client.unknown:
            yield f"a was not moved: {job}"
        if any(had != (payload if is_moved else {}) for had in calls_of("a")):
            yield f"a was half moved: {job}, {calls_of('a')}"

    return wants


def three_die(client: Client) -> None:
    """Have jobs that died, each in its first attempt."""
    for name in NAMES:
        create(client, name, payload={"fails": 1}, retry={"max_attempts": 1})
    deliver(client)
    assert [state(name) for name in NAMES] == ["dead"] * 3
    client.lab.time.shift(5)


def one_dies(client: Client, **more: Any) -> None:
    create(client, payload={"fails": 1} | more, retry={"max_attempts": 1})
    deliver(client)
    client.lab.time.shift(5)


def died_again(client: Client) -> Iterator[str]:
    """Tell if a job that was sent again had no second life; it dies in each."""
    for name in {call.id for call in JOURNAL.calls}:
        yield from became(name, "dead")
        if len(calls_of(name)) < 2 and not client.unknown:
            yield f"{name} was not tried again"


def all_of_it(method: str, path: str, **query: str) -> Doing:
    """Return what calls until there is no more to be done, as a client of bulk calls does."""

    def act(client: Client) -> None:
        for _ in range(5):
            asked = client(method, path, None, **query)
            if asked.unknown or not asked.answer.body["more"]:
                return
        raise AssertionError(f"there is always more: {client.of_play}")

    return act


def three_in_a_group(client: Client) -> None:
    for name in NAMES:
        create(client, name, delay=HOUR, group="g")


def group_is_cancelled(client: Client) -> Iterator[str]:
    for name in NAMES:
        yield from became(name, "cancelled", *(["succeeded"] if client.unknown else []))


def come_into_sight(client: Client, *names: str) -> None:
    """Have far jobs that the next look hands over."""
    for name in names or NAMES:
        create(client, name, delay=HOUR)
    tick(client)
    client.lab.time.shift(HOUR - 100)


def handed_over(client: Client) -> None:
    """Have a far job come, which the watermark has passed."""
    come_into_sight(client, "a")
    tick(client)
    client.lab.time.shift(101)


def lost_by_the_queue(client: Client) -> None:
    """Lose the messages of jobs that the watermark has passed."""
    come_into_sight(client)
    tick(client)
    client.lab.purge()
    client.lab.time.shift(HOUR)


def all_ran(_: Client) -> Iterator[str]:
    for name in NAMES:
        yield from became(name, "succeeded")


def whole_life(client: Client) -> None:
    create(client, delay=1_000)
    client.lab.time.shift(850)
    tick(client)
    client.lab.time.shift(170)
    deliver(client)


CANCELLED = held("a", "cancelled", "succeeded")
RETRY = calling("POST", "/jobs/a/retry")
TOO_LATE = frozenset({409})
FLOWS = (
    Flow("create near", creating(delay=5), created({}), tick, row="create, near"),
    Flow("create near, large", creating(delay=5, payload=LARGE), created(LARGE), row="create, near, large"),
    Flow("create far", creating(delay=HOUR), created({}), row="create, far"),
    Flow("batch", create_four, each_stands_or_falls_alone),
    Flow("cancel near", calling("DELETE", "/jobs/a"), CANCELLED, creating(delay=60), row="cancel"),
    Flow("cancel far", calling("DELETE", "/jobs/a"), CANCELLED, creating(delay=HOUR), row="cancel"),
    Flow("reschedule to near", moving(delay=10), moved(10, {}), creating(delay=HOUR), row="reschedule, near"),
    Flow(
        "reschedule to far", moving(delay=2 * HOUR, payload=LARGE), moved(2 * HOUR, LARGE), creating(delay=60), hours=3
    ),
    Flow("reschedule a payload", moving(delay=600, payload={"n": 2}), moved(600, {"n": 2}), creating(delay=60)),
    Flow("retry", RETRY, died_again, one_dies, row="retry a dead job", refusals=TOO_LATE),
    Flow("retry, large", RETRY, died_again, lambda client: one_dies(client, **LARGE), refusals=TOO_LATE),
    Flow("bulk retry", all_of_it("POST", "/dead/retry"), died_again, three_die),
    Flow("bulk cancel", all_of_it("DELETE", "/jobs", group="g"), group_is_cancelled, three_in_a_group),
    Flow("drain", tick, all_ran, come_into_sight),
    Flow("run what was drained", deliver, ends("a", "succeeded"), handed_over),
    Flow("sweep", tick, all_ran, lost_by_the_queue, latest=AN_HOUR_LATE, hours=3),
    Flow("a whole life", whole_life, created({})),
)
