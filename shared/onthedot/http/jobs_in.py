"""From a request to the job it asks for: every fault is found, those between fields too, before anything is refused."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from onthedot.http.json_text import canonical, write
from onthedot.http.models import JobRequest
from onthedot.http.shapes import at, check
from onthedot.rules.errors import Fault, Invalid, Kind
from onthedot.rules.inputs import Malformed, Place, Refused, Time, after_delay, at_time, horizon
from onthedot.rules.instants import MILLISECOND
from onthedot.rules.jobs import ONE_SLOT, Job, Payload, Retry, State
from onthedot.rules.policies import MOST_ATTEMPTS
from onthedot.rules.zones import OnGap, OnRepeat, find
from onthedot.steps.manage import NewJob
from onthedot.steps.ports import World

LARGEST_PAYLOAD = 262_144
STEEPEST = 1_000.0
SHORTEST_TIMEOUT = 1_000

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
    place = _place(fields, path, faults)
    found = None
    if "delay" in fields:
        found = _judge(at(path, "delay"), faults, lambda: after_delay(fields["delay"], now))
    if "run_at" in fields and _is_readable(fields["run_at"], raw, place):
        found = _judge(at(path, "run_at"), faults, lambda: at_time(fields["run_at"], place, now))
    if isinstance(raw, dict) and {"delay", "run_at"} <= raw.keys():
        faults.append(Fault(at(path, "delay"), "cannot be given together with run_at"))
    return found


def payload_text(fields: Fields, path: str, faults: list[Fault]) -> str:
    """Return the payload as it is stored; a request without one has the payload null."""
    text = write(fields.get("payload"))
    size = len(text.encode())
    if size > LARGEST_PAYLOAD:
        message = f"has {size} bytes as compact JSON; it may have {LARGEST_PAYLOAD}"
        faults.append(Fault(at(path, "payload"), message, Kind.TOO_LARGE))
    return text


def _place(fields: Fields, path: str, faults: list[Fault]) -> Place:
    zone = find(fields["zone"]) if "zone" in fields else None
    if "zone" in fields and zone is None:
        faults.append(Fault(at(path, "zone"), "is no zone of the time zone database; names are case-sensitive"))
    return Place(zone, OnGap(fields.get("on_gap", "refuse")), OnRepeat(fields.get("on_repeat", "first")))


def _is_readable(time: Time, raw: Any, place: Place) -> bool:
    """Tell whether a time can be judged: a local one whose zone is wrong has that fault alone."""
    return time.offset is not None or place.zone is not None or "zone" not in raw


def _judge(path: str, faults: list[Fault], rule: Callable[[], datetime]) -> datetime | None:
    try:
        return rule()
    except Malformed as error:
        faults.append(Fault(path, str(error), Kind.MALFORMED))
    except Refused as error:
        faults.append(Fault(path, str(error)))
    return None


def _within(fields: Fields, name: str, path: str, faults: list[Fault], least: int, most: int) -> timedelta | None:
    if name not in fields:
        return None
    milliseconds = fields[name]
    if least <= milliseconds <= most:
        return milliseconds * MILLISECOND  # type: ignore[no-any-return]
    faults.append(Fault(at(path, name), f"must be between {least / 1000:g} and {most / 1000:.15g} seconds"))
    return None


def _limits(
    world: World, fields: Fields, run_at: datetime, now: datetime, path: str, faults: list[Fault]
) -> dict[str, Any]:
    """Return what bounds the attempts, as fields of a job."""
    longest = _whole(world.timing.max_timeout)
    start_within = _within(fields, "start_within", path, faults, 1, _whole(horizon(now) - now))
    return {
        "timeout": _within(fields, "timeout", path, faults, SHORTEST_TIMEOUT, longest),
        "start_before": run_at + start_within if start_within else None,
        "retry": _retry(fields, path, now, faults),
    }


def _retry(fields: Fields, path: str, now: datetime, faults: list[Fault]) -> Retry | None:
    if "retry" not in fields:
        return None
    said, path, most = fields["retry"], at(path, "retry"), _whole(horizon(now) - now)
    if not 1 <= said.get("max_attempts", 1) <= MOST_ATTEMPTS:
        faults.append(Fault(at(path, "max_attempts"), f"must be between 1 and {MOST_ATTEMPTS}"))
    if not 1 <= said.get("factor", 1) <= STEEPEST:
        faults.append(Fault(at(path, "factor"), f"must be between 1 and {STEEPEST:g}"))
    first, longest = (_within(said, name, path, faults, 1, most) for name in ("first", "max"))
    if "first" in said and "max" in said and said["max"] < said["first"]:
        faults.append(Fault(at(path, "max"), "must not be less than first"))
    return Retry(
        max_attempts=said.get("max_attempts"),
        first=_seconds(first),
        factor=said.get("factor"),
        max=_seconds(longest),
    )


def _whole(span: timedelta) -> int:
    return span // MILLISECOND


def _seconds(span: timedelta | None) -> float | None:
    return None if span is None else span.total_seconds()
