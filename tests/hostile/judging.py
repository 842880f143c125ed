"""Asks the real API, and tells which promise its answer breaks."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from tests.hostile.asking import Ask, event_of
from tests.hostile.contract import answer_faults, is_named, is_taken, wrong_fields
from tests.hostile.stage import Stage
from tests.support.lab import Context

import api

LARGEST_ANSWER = 6_291_456
UNDECIDED = (
    "is not the next_cursor",  # a cursor is opaque
    "no time that the calendar",  # a schema knows no leap years
    "has no offset; add one",  # nor that a local time needs a zone
    "must be a whole number",  # to it, 7.0 is one
    "cron ",  # nor any grammar
    "rrule ",
)
"""What may be malformed although the schema takes it."""


@dataclass(slots=True)
class Answered:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: Any


@dataclass(slots=True)
class Judge:
    """Counts what was asked, and gathers which promises were broken."""

    stage: Stage
    statuses: Counter[int] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)

    def ask(self, ask: Ask) -> Answered:
        """Ask, and look at everything that is promised of any request."""
        before = self.stage.rows()
        answer = self.send(event_of(ask))
        found = [*self._faults(ask, answer), *self._effects(ask, answer, before)]
        self.violations += [f"{ask} -> {answer.status} {str(answer.body)[:500]}: {fault}" for fault in found]
        return answer

    def send(self, event: dict[str, Any]) -> Answered:
        """Give an event to the API; what it answers must be what Lambda can carry."""
        raw = api.handler(event, Context("api", 28_000))
        assert len(json.dumps(raw)) < LARGEST_ANSWER
        assert raw["isBase64Encoded"] is False
        headers = {name: values[0] for name, values in raw["multiValueHeaders"].items()}
        self.statuses[raw["statusCode"]] += 1
        return Answered(raw["statusCode"], headers, json.loads(raw["body"]))

    def _faults(self, ask: Ask, answer: Answered) -> Iterator[str]:
        yield from answer_faults(ask, answer.status, answer.headers, answer.body)
        if answer.status >= 500 and ask.route != "/health":
            yield "bad input is answered with a 5xx"
        named = (
            {fault["field"] for fault in answer.body.get("errors", ())} if answer.status in (400, 413, 422) else set()
        )
        wrong = wrong_fields(ask, _json(ask)) - ({"jobs"} if answer.status == 200 else set())
        if named:
            yield from (f"{each} is wrong, and not named" for each in wrong if not is_named(each, named))
        if wrong and answer.status < 400:
            yield f"what the contract refuses is taken: {wrong}"
        if answer.status == 400 and ask.valid and is_taken(ask, _json(ask)) and not _is_undecided(answer):
            yield "what the contract takes is malformed"
        if answer.status == 422 and not wrong and ask.route != "/jobs/batch":
            yield from _unsaid(_json(ask), answer.body.get("errors", ()))

    def _effects(self, ask: Ask, answer: Answered, before: Counter[str]) -> Iterator[str]:
        if ask.method == "GET" or ask.route == "/preview" or answer.status >= 400:
            if changed := self.stage.differs_from(before):
                yield f"what is refused, or only looked at, has changed something: {changed[:1_000]}"
        elif answer.status in (200, 201, 202) and isinstance(answer.body, dict):
            yield from self._unreadable(ask, answer)

    def _unreadable(self, ask: Ask, answer: Answered) -> Iterator[str]:
        """Tell what was accepted and cannot be read back as it was shown."""
        made = [each["job"] for each in answer.body.get("results", ()) if "job" in each] or [answer.body]
        for one in made:
            place = f"/jobs/{quote(one['id'])}" if "id" in one else f"/schedules/{one.get('name')}"
            if {"id", "name"} & one.keys() and not (ask.method == "DELETE" and "name" in one):
                there = self.send(event_of(Ask("GET", place)))
                if there.status != 200 or there.body != one:
                    yield f"what was accepted is read back as {there.status} {there.body}"


def _is_undecided(answer: Answered) -> bool:
    return any(each in answer.body["detail"] for each in UNDECIDED)


def _unsaid(body: Any, errors: Any) -> Iterator[str]:
    """Tell which numbers are out of a range that the contract does not name; a deployment bounds the timeout."""
    for error in errors:
        value = body
        for part in error["field"].split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if isinstance(value, int | float) and error["field"] != "timeout" and "run_at" not in error["message"]:
            yield f"a range that the contract does not name: {error}"


def _json(ask: Ask) -> Any:
    try:
        return json.loads(ask.body or b"null")
    except (ValueError, RecursionError):
        return None
