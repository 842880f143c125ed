"""Clients: they call the API as people do, and note what they were told, and what they were not."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from tests.prover.actors import Kind
from tests.prover.play import Play
from tests.support.lab import Answer
from tests.support.promises import EVER, NEVER, Edited, Quiet

DELAYS = (0, 20, 90, 299, 600, 899, 901, 1300)
OVERLAPS = ("allow", "skip", "wait")
MISSED = ("catch_up", "latest", "skip")


@dataclass(slots=True)
class Request:
    """What was asked, of which job or schedule, from when on; `alone` until another asks something of the same."""

    of: str
    at: datetime
    alone: bool = True


@dataclass(slots=True)
class Clients:
    """All who call the API of one deployment; schedules end at `ends_at`."""

    play: Play
    ends_at: datetime
    asking: list[Request] = field(default_factory=list)
    versions: Counter[str] = field(default_factory=Counter)
    created: int = 0

    def create(self, which: int, value: int) -> None:
        """Create a job; who gets no answer asks once more."""
        self._create(self._job(which, value), tries=2)

    def batch(self, which: int, value: int) -> None:
        """Create three jobs at once."""
        jobs = [self._job(which + number, value + number) for number in range(3)]

        def told(answer: Answer, _: Request) -> None:
            for result in answer.body["results"]:
                if result["status"] in {200, 201}:
                    self._accepted(result["job"])

        for job in jobs:
            self._not_before(job)
        self._ask("POST", "/jobs/batch", {"jobs": jobs}, "", told)

    def cancel(self, which: int, value: int) -> None:  # noqa: ARG002 - all verbs are called alike
        """Cancel a job."""
        job_id = self._one(which)
        self._ask("DELETE", f"/jobs/{job_id}", None, job_id, self._held("cancelled"))

    def stop(self, which: int, value: int) -> None:  # noqa: ARG002
        """Stop a job, though it runs."""
        job_id = self._one(which)
        self._ask("DELETE", f"/jobs/{job_id}", None, job_id, self._held("stopped"), stop="true")

    def reschedule(self, which: int, value: int) -> None:
        """Give a job another time."""
        job_id, run_at = self._one(which), self.play.lab.now() + timedelta(seconds=DELAYS[value])
        self._may_ask_from(job_id, run_at)
        body = {"run_at": _written(run_at)}
        self._ask("PATCH", f"/jobs/{job_id}", body, job_id, self._held("moved", run_at))

    def retry(self, which: int, value: int) -> None:  # noqa: ARG002
        """Send a dead or cancelled job again."""
        job_id = self._one(which)
        self._may_ask_from(job_id, self.play.lab.now())
        self.play.told.revived.setdefault(job_id, []).append(self.play.lab.now())
        self._ask("POST", f"/jobs/{job_id}/retry", None, job_id, lambda *_: None)

    def put(self, which: int, value: int) -> None:
        """Create a schedule, or replace it by another version."""
        name = _name(which)
        self._may_ask_from(name, self.play.lab.now())
        self.versions[name] += 1
        version = self.versions[name]

        def told(_: Answer, request: Request) -> None:
            if request.alone:
                self.play.told.edits.append(Edited(name, self.play.lab.now(), version))

        self._ask("PUT", f"/schedules/{name}", self._schedule(which, value, version), name, told)

    def pause(self, which: int, value: int) -> None:  # noqa: ARG002
        """Pause a schedule."""
        name = _name(which)

        self._ask("POST", f"/schedules/{name}/pause", {}, name, self._held("paused"))

    def resume(self, which: int, value: int) -> None:  # noqa: ARG002
        """Resume a schedule."""
        name = _name(which)
        self._may_ask_from(name, self.play.lab.now())
        self._ask("POST", f"/schedules/{name}/resume", None, name, lambda *_: None)

    def delete(self, which: int, value: int) -> None:  # noqa: ARG002
        """Delete a schedule."""
        name = _name(which)

        self._ask("DELETE", f"/schedules/{name}", None, name, self._held("deleted"))

    def trigger(self, which: int, value: int) -> None:  # noqa: ARG002
        """Make a job of a schedule by hand."""
        self._ask("POST", f"/schedules/{_name(which)}/trigger", {}, "", lambda *_: None)

    def _create(self, job: dict[str, Any], tries: int) -> None:
        self._not_before(job)

        def told(answer: Answer, _: Request) -> None:
            self._accepted(answer.body)

        def unanswered() -> None:
            if tries > 1:
                self._create(job, tries - 1)

        self._ask("POST", "/jobs", job, job["id"], told, unanswered)

    def _job(self, which: int, value: int) -> dict[str, Any]:
        self.created += 1
        payload: dict[str, Any] = {"fails": which if which < 4 else 0, "seconds": value * 2}
        if which == 5:
            payload["large"] = "x" * 2_000
        return {
            "id": f"j{self.created}",
            "handler": "journal.work",
            "delay": DELAYS[value % len(DELAYS)],
            "payload": payload,
            "retry": {"first": 5, "max": 40},
        }

    def _schedule(self, which: int, value: int, version: int) -> dict[str, Any]:
        return {
            "handler": "journal.work",
            "cron": f"{value % 3}-59/{3 + value % 2} * * * *" if which % 2 else "*/4 0 * * *",
            "zone": "America/Vancouver",
            "overlap": OVERLAPS[which % 3],
            "missed": MISSED[value % 3],
            "ends_at": _written(self.ends_at),
            "payload": {"version": version, "seconds": value * 2, "fails": value % 2},
            "retry": {"first": 5, "max": 40},
        }

    def _one(self, which: int) -> str:
        return f"j{max(1, self.created - which)}"

    def _accepted(self, job: dict[str, Any]) -> None:
        self.play.told.accepted.add(job["id"])

    def _not_before(self, job: dict[str, Any]) -> None:
        """Bind a new job to its time, unless somebody asks already for what has its id, and may be late with it."""
        until = self.play.lab.now() + timedelta(seconds=job["delay"] - self.play.weather.skew)
        bound = any(quiet.who == job["id"] for quiet in self.play.told.quiet)
        if not bound and not any(request.of == job["id"] for request in self.asking):
            self.play.told.quiet.append(Quiet(job["id"], EVER, until, "early"))

    def _may_ask_from(self, who: str, at: datetime) -> None:
        """Bind nobody any more who may be asked for at this time: the request may take effect, answered or not."""
        now, kept = self.play.lab.now(), []
        for quiet in self.play.told.quiet:
            if quiet.who != who:
                kept.append(quiet)
            else:
                kept.append(replace(quiet, until=min(quiet.until, now)))
                kept.append(replace(quiet, since=max(quiet.since, now), until=min(quiet.until, at)))
        self.play.told.quiet[:] = kept

    def _held(self, why: str, until: datetime = NEVER) -> Callable[[Answer, Request], None]:
        """Return what to do with the answer: note that nothing of whom it concerns may begin before a time."""

        def told(_: Answer, request: Request) -> None:
            if request.alone:
                self.play.told.quiet.append(Quiet(request.of, self.play.lab.now(), until, why))

        return told

    def _ask(
        self,
        method: str,
        path: str,
        body: Any,
        of: str,
        told: Callable[[Answer, Request], None],
        unanswered: Callable[[], None] = lambda: None,
        **query: str,
    ) -> None:
        """Ask, and note what the answer binds to; `of` is whom it concerns."""
        request, answers = Request(of, self.play.lab.now()), list[Answer]()
        for other in self.asking:
            if other.of == of:
                other.alone = request.alone = False
        self.asking.append(request)

        def does() -> None:
            answers.append(self.play.lab.call(method, path, body, **query))

        def afterwards() -> None:
            self.asking.remove(request)
            if not answers or answers[0].status >= 500:
                unanswered()
            elif answers[0].status < 300:
                told(answers[0], request)

        self.play.begin(Kind.CLIENT, does, afterwards)


def _name(which: int) -> str:
    return f"s{which % 4}"


def _written(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
