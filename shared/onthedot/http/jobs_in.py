"""From a request to the job it asks for: every fault is found, those between fields too, before anything is refused."""

from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any

from onthedot.http.json_text import canonical, write
from onthedot.http.models import JobRequest
from onthedot.http.shapes import check
from onthedot.rules.errors import Fault, Invalid, Kind
from onthedot.rules.inputs import Place, Time, after_delay, at_time
from onthedot.rules.jobs import ONE_SLOT, Job, Payload, State
from onthedot.rules.limits import judge_limits, limits_of
from onthedot.rules.said import Said, at
from onthedot.rules.zones import OnGap, OnRepeat
from onthedot.steps.manage import NewJob
from onthedot.steps.ports import World

LARGEST_PAYLOAD = 262_144

Fields = dict[str, Any]


def new_job(world: World, raw: Any, now: datetime, path: str = "", known: Sequence[Fault] = ()) -> NewJob:
    """Return the job that a request asks for.

    Raises: Invalid, with everything that is wrong, also what was `known` before.
    """
    faults = list(known)
    fields = check(JobRequest, raw, path, faults)
    run_at = due(fields, raw, now, path, faults) or now
    payload = payload_text(fields, path, faults)
    limits = _limits(world, fields, run_at, now, path, faults)
    if faults:
        raise Invalid(faults)
    draft = Job(
        schedule=f"job#{fields.get('id') or world.clock.token()}",
        slot=ONE_SLOT,
        state=State.SCHEDULED,
        handler=fields["handler"],
        group=fields.get("group"),
        run_at=run_at,
        wake=None,
        payload=Payload(len(payload.encode())),
        request=sha256(canonical(raw).encode()).hexdigest()[:32],
        created_at=now,
        owner=world.clock.token(),  # this very request, until an attempt owns the job: tells it from its repetition
        **limits,
    )
    return NewJob(draft, payload)


def due(fields: Fields, raw: Any, now: datetime, path: str, faults: list[Fault]) -> datetime | None:
    """Return when the job may start, if that is said and nothing is wrong with it."""
    said = Said(fields, faults, path)
    place = Place(said.zone(), OnGap(fields.get("on_gap", "refuse")), OnRepeat(fields.get("on_repeat", "first")))
    found = None
    if "delay" in fields:
        found = said.judged("delay", lambda: after_delay(fields["delay"], now))
    if "run_at" in fields and _is_readable(fields["run_at"], raw, place):
        found = said.judged("run_at", lambda: at_time(fields["run_at"], place, now))
    if isinstance(raw, dict) and {"delay", "run_at"} <= raw.keys():
        said.blame("delay", "cannot be given together with run_at")
    return found


def payload_text(fields: Fields, path: str, faults: list[Fault]) -> str:
    """Return the payload as it is stored; a request without one has the payload null."""
    text = write(fields.get("payload"))
    size = len(text.encode())
    if size > LARGEST_PAYLOAD:
        message = f"has {size} bytes as compact JSON; it may have {LARGEST_PAYLOAD}"
        faults.append(Fault(at(path, "payload"), message, Kind.TOO_LARGE))
    return text


def _is_readable(time: Time, raw: Any, place: Place) -> bool:
    """Tell whether a time can be judged: a local one whose zone is wrong has that fault alone."""
    return time.offset is not None or place.zone is not None or "zone" not in raw


def _limits(
    world: World, fields: Fields, run_at: datetime, now: datetime, path: str, faults: list[Fault]
) -> dict[str, Any]:
    """Return what bounds the attempts, as fields of a job."""
    judge_limits(Said(fields, faults, path), world.timing.max_timeout, now)
    limits = limits_of(fields)
    within = limits.start_within
    start_before = run_at + within if within else None
    return {"timeout": limits.timeout, "start_within": within, "start_before": start_before, "retry": limits.retry}
