"""What must be true after a play, whatever befell it: all promises, and what the flow itself was to come to."""

from collections.abc import Iterator

from tests.crashes.clients import Client, told
from tests.crashes.flows import Flow
from tests.crashes.processes import Play
from tests.support.journal import JOURNAL
from tests.support.lab import Lab
from tests.support.promises import violations

from onthedot import wiring
from onthedot.adapters.items import job_of
from onthedot.rules.jobs import Job

FOR_EVER = float("inf")


def wrong_after(lab: Lab, flow: Flow, client: Client, play: Play) -> list[str]:
    """Return what is wrong, nothing if all is well."""
    strays = {f"stray: {text}" for text in flow.strays}
    return [
        *(broken for broken in violations(lab, told(client), JOURNAL.calls) if broken not in strays),
        *flow.wants(client),
        *_answers(client, flow),
        *_lateness(lab, flow),
        *_payloads(lab),
        *play.broken,
    ]


def _answers(client: Client, flow: Flow) -> Iterator[str]:
    """Every answer is exact, or says that the client may try again; a client that does is told that it is done."""
    for one in client.of_play:
        if not (one.held or one.unknown):
            yield f"answered: {one.method} {one.path} {one.answer}"
    for one in client.again:
        if not (one.held or one.answer.status in flow.refusals):
            yield f"answered when asked again: {one.method} {one.path} {one.answer}"


def _lateness(lab: Lab, flow: Flow) -> Iterator[str]:
    for job in _jobs(lab):
        if job.started_at is not None and job.started_at - job.run_at > flow.latest:
            yield f"late: {job.id} was to start at {job.run_at} and did at {job.started_at}"


def _payloads(lab: Lab) -> Iterator[str]:
    """Tell of each payload in an item of its own that is gone, or expires, while somebody may need it."""
    kept = {
        (item["schedule"]["S"], item["slot"]["S"]): int(item["expires_at"]["N"]) if "expires_at" in item else FOR_EVER
        for item in lab.items()
        if "state" not in item
    }
    for job in _jobs(lab):
        until = job.expires_at or job.run_at + wiring.world().timing.retention
        if job.payload.stored_as and kept.get((job.schedule, job.payload.stored_as), 0) < until.timestamp():
            yield f"the payload of {job.id} expires before it"
    schedule = wiring.world().schedules.get("s")
    if schedule and schedule.payload.stored_as and kept.get((schedule.key, schedule.payload.stored_as)) != FOR_EVER:
        yield "the payload of s expires"


def _jobs(lab: Lab) -> list[Job]:
    return [job_of(item) for item in lab.items() if "state" in item]
