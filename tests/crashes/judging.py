"""What must be true after a play, whatever befell it: all promises, and what the flow itself was to come to."""

from collections.abc import Iterator

from tests.crashes.clients import Client, told
from tests.crashes.flows import Flow
from tests.crashes.processes import Play
from tests.support.journal import JOURNAL
from tests.support.lab import Lab
from tests.support.promises import violations

from onthedot.adapters.items import job_of


def wrong_after(lab: Lab, flow: Flow, client: Client, play: Play) -> list[str]:
    """Return what is wrong, nothing if all is well."""
    strays = {f"stray: {text}" for text in flow.strays}
    return [
        *(broken for broken in violations(lab, told(client), JOURNAL.calls) if broken not in strays),
        *flow.wants(client),
        *_answers(client, flow),
        *_lateness(lab, flow),
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
    for job in (job_of(item) for item in lab.items() if "state" in item):
        if job.started_at is not None and job.started_at - job.run_at > flow.latest:
            yield f"late: {job.id} was to start at {job.run_at} and did at {job.started_at}"
