"""How a job is shown. A field without a value is left out; payload and result are the very texts that were stored."""

from datetime import datetime
from typing import Any

from onthedot.http.json_text import Raw
from onthedot.rules.instants import MILLISECOND, from_text, shown
from onthedot.rules.jobs import Job
from onthedot.rules.past import Past


def job_view(job: Job, payload: str | None) -> dict[str, Any]:
    """Return the Job of `api.md`; without a payload when its item is gone."""
    view = {
        "id": job.id,
        **_slot(job),
        "handler": job.handler,
        "state": job.state.value,
        "run_at": shown(job.run_at),
        "payload": Raw(payload) if payload is not None else None,
        "group": job.group,
        "attempt": job.attempt,
        "max_attempts": job.retry.max_attempts if job.retry else None,
        "attempts": _attempts(job),
        "created_at": shown(job.created_at),
        "started_at": _shown(job.started_at),
        "finished_at": _shown(job.finished_at),
        "late_seconds": _late(job),
        "result": Raw(job.result) if job.result is not None else None,
        "last_error": job.error or (job.past[-1].error if job.past else None),
        "outcome": None if job.pending else _said(kind=job.state.value, reason=job.reason),
        "idempotency_key": job.idempotency_key,
    }
    return _said(**view)


def brief(view: dict[str, Any]) -> dict[str, Any]:
    """Return a view without the texts that may be long: payload, result and errors."""
    attempts = [{name: value for name, value in attempt.items() if name != "error"} for attempt in view["attempts"]]
    texts = {"payload", "result", "last_error"}
    return {name: value for name, value in view.items() if name not in texts} | {"attempts": attempts}


def _slot(job: Job) -> dict[str, Any]:
    if not job.of_schedule:
        return {}
    name = job.schedule.removeprefix("schedule#")
    if job.slot.startswith("manual#"):
        return {"schedule": name}
    return {"schedule": name, "slot": shown(from_text(job.slot)), "local_slot": job.local_slot}


def _attempts(job: Job) -> list[dict[str, Any]]:
    """Return the attempts that were made, the present one too. Order: by number."""
    attempts = list(job.past)
    if job.started_at is not None:
        attempts.append(Past(job.attempt, job.started_at, job.finished_at, job.error or ""))
    return [
        _said(
            number=each.number,
            started_at=shown(each.started_at),
            finished_at=_shown(each.finished_at),
            error=each.error or None,
        )
        for each in attempts
    ]


def _late(job: Job) -> float | None:
    if job.started_at is None:
        return None
    milliseconds = (job.started_at - job.run_at) // MILLISECOND
    return milliseconds / 1000 if milliseconds % 1000 else milliseconds // 1000


def _shown(instant: datetime | None) -> str | None:
    return None if instant is None else shown(instant)


def _said(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
