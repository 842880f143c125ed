"""Every answer that says no, in the form of RFC 9457."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from onthedot.http.json_text import write
from onthedot.rules.errors import Fault, Kind, OnthedotError, Throttled, Unavailable

MEDIA_TYPE = "application/problem+json"
TITLES = {
    400: "Bad Request",
    404: "Not Found",
    405: "Method Not Allowed",
    409: "Conflict",
    412: "Precondition Failed",
    413: "Content Too Large",
    422: "Unprocessable Content",
    429: "Too Many Requests",
    500: "Internal Server Error",
    503: "Service Unavailable",
}
"""Fixed here, since the standard library's differ between versions of Python."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A status, a JSON text, and what goes beside it."""

    status: int
    text: str
    media_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a request is not done."""

    status: int
    detail: str
    faults: Sequence[Fault] = ()
    headers: Mapping[str, str] = field(default_factory=dict)


class Refuse(OnthedotError):
    """Ends a request with a problem."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem


def of_faults(faults: Sequence[Fault]) -> Problem:
    """Return the problem of a request with these faults: one malformed field makes it a 400."""
    kinds = {fault.kind for fault in faults}
    ordered = sorted(faults, key=lambda fault: fault.field)
    detail = "; ".join(f"{fault.field} {fault.message}" for fault in ordered)
    if Kind.MALFORMED in kinds:
        return Problem(400, detail, ordered)
    return Problem(413 if Kind.TOO_LARGE in kinds else 422, detail, ordered)


def of_outage(error: Unavailable) -> Problem:
    """Return the problem of a call that AWS throttled or did not answer; nothing was half done."""
    if isinstance(error, Throttled):
        return Problem(429, "AWS throttles; the same request may succeed in a moment", headers={"Retry-After": "1"})
    return Problem(503, "AWS did not answer in time; the same request may succeed later", headers={"Retry-After": "5"})


def document(problem: Problem) -> dict[str, Any]:
    """Return the problem as a JSON object."""
    facts: dict[str, Any] = {
        "type": "about:blank",
        "title": TITLES[problem.status],
        "status": problem.status,
        "detail": problem.detail,
    }
    if problem.faults:
        facts["errors"] = [{"field": fault.field, "message": fault.message} for fault in problem.faults]
    return facts


def answer(problem: Problem) -> Answer:
    """Return the answer that tells the problem."""
    return Answer(problem.status, write(document(problem)), MEDIA_TYPE, problem.headers)
