"""Clients: what they asked for, what they were told, and what that binds us to."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tests.support.lab import Answer, Lab
from tests.support.promises import EVER, NEVER, Edited, Quiet, Told

from onthedot.rules.instants import MILLISECOND

TRY_AGAIN = frozenset({429, 502, 503})
"""Answers after which nobody knows whether it was done; a client that wants to know sends the same again."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request, and what was told of it, and when: a request without an answer binds nobody."""

    method: str
    path: str
    body: Any
    query: dict[str, str]
    asked_at: datetime
    answered_at: datetime
    answer: Answer

    @property
    def held(self) -> bool:
        """Whether it is said to be done."""
        return self.answer.status < 300

    @property
    def unknown(self) -> bool:
        """Whether it, or a part of it, may be done or not."""
        body = self.answer.body or {}
        return not TRY_AGAIN.isdisjoint({self.answer.status, *(each["status"] for each in body.get("results", []))})


@dataclass(slots=True)
class Client:
    """Whoever calls the API, and notes what they were told; `first` is where what is played begins."""

    lab: Lab
    asked: list[Asked] = field(default_factory=list)
    first: int = 0
    again: list[Asked] = field(default_factory=list)

    def __call__(self, method: str, path: str, body: Any = None, **query: str) -> Asked:
        """Send a request."""
        asked_at, answer = self.lab.now(), self.lab.call(method, path, body, **query)
        self.asked.append(Asked(method, path, body, query, asked_at, self.lab.now(), answer))
        return self.asked[-1]

    def begin(self) -> None:
        """Have done what comes before what is played."""
        assert all(one.held for one in self.asked), self.asked
        self.first = len(self.asked)

    def repeat(self) -> None:
        """Send again what had no clear answer."""
        self.again = [self(one.method, one.path, one.body, **one.query) for one in self.of_play if one.unknown]

    @property
    def of_play(self) -> list[Asked]:
        """What was asked while it was played; not what was asked again later."""
        return self.asked[self.first : len(self.asked) - len(self.again)]

    @property
    def was_unsure(self) -> bool:
        """Whether they had reason to ask again."""
        return any(one.unknown for one in self.of_play)

    @property
    def unknown(self) -> bool:
        """Whether they cannot tell at last whether all is done."""
        return self.was_unsure and not self.again


def told(client: Client) -> Told:
    """Return what all the answers together promise."""
    promised = Told()
    for one in client.asked:
        match one.method, one.path.strip("/").split("/"):
            case "POST", ["jobs"]:
                _created(promised, [one.answer])
            case "POST", ["jobs", "batch"] if one.held:
                results = one.answer.body["results"]
                _created(promised, [Answer(each["status"], each.get("job"), {}) for each in results])
            case "PATCH", ["jobs", name]:
                _moved(promised, one, name)
            case "DELETE", ["jobs", name] if one.held:
                promised.quiet.append(Quiet(name, one.answered_at + MILLISECOND, NEVER, "cancelled"))
            case "POST", ["jobs", name, "retry"]:
                _revived(promised, one, name)
            case ("POST", ["dead", "retry"]):
                for name in sorted(promised.accepted):
                    _revived(promised, one, name)
            case _, ["schedules", name, *verb]:
                _of_schedule(promised, one, name, verb)
    return promised


def _created(promised: Told, answers: list[Answer]) -> None:
    for answer in answers:
        if answer.status < 300 and answer.body["id"] not in promised.accepted:
            promised.job(answer.body["id"], _instant(answer.body["run_at"]))


def _moved(promised: Told, one: Asked, name: str) -> None:
    """Hold a job that was moved to its new time, and one that perhaps was to the earlier of two."""
    run_at = _instant(one.answer.body["run_at"]) if one.held else EVER
    promised.quiet = [
        Quiet(each.who, each.since, min(each.until, run_at), each.why) if each.who == name else each
        for each in promised.quiet
    ]
    if one.held:
        promised.quiet.append(Quiet(name, one.answered_at, run_at, "rescheduled"))


def _revived(promised: Told, one: Asked, name: str) -> None:
    promised.revived.setdefault(name, []).append(one.asked_at)
    promised.quiet = [each for each in promised.quiet if each.who != name]


def _of_schedule(promised: Told, one: Asked, name: str, verb: list[str]) -> None:
    match one.method, verb:
        case (("PUT" | "PATCH"), []) if one.held:
            body = one.answer.body
            promised.edits.append(Edited(name, _instant(body["changed_at"]), body["version"]))
        case ("DELETE", []) | ("POST", ["pause"]) if one.held:
            until = (one.body or {}).get("until")
            promised.quiet.append(Quiet(name, one.answered_at, _instant(until) if until else NEVER, one.path))
        case ("POST", ["resume"]):
            promised.quiet = [
                Quiet(each.who, each.since, min(each.until, one.asked_at), each.why) if each.who == name else each
                for each in promised.quiet
            ]
        case _:
            pass


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text)
