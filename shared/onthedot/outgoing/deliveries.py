"""The `http` handler: a request signed anew at every hop, its redirects followed, its answer judged."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from onthedot.handler import Discard, Job
from onthedot.outgoing import answers, requests, signing
from onthedot.outgoing.connections import Left
from onthedot.outgoing.errors import NotDelivered, Refused
from onthedot.outgoing.https import Answer, Wire
from onthedot.outgoing.requests import IDEMPOTENCY_KEY, Request

MOST_REDIRECTS: Final = 5
RESERVE_SECONDS: Final = 0.5
"""Left of an attempt's time to say how it ended, before it is stopped."""
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True)
class Deliveries:
    """Delivers what jobs ask for; `key` returns what a secret's name stands for."""

    wire: Wire
    key: Callable[[str], bytes]
    now: Callable[[], datetime]

    def deliver(self, job: Job) -> dict[str, Any]:
        """Send the request that the payload describes, and return the answer's status and body.

        Raises: Discard, RetryAfter, NotDelivered.
        """
        request = requests.read(job.payload)
        try:
            answer = self._sent(request, job)
        except Refused as refused:
            raise Discard(f"url: {refused}") from None
        return answers.result(self._followed(request, answer, job), self.now())

    def _followed(self, request: Request, answer: Answer, job: Job) -> Answer:
        """Follow the redirects; where they lead is another's word, who may mend it, so a refusal is a failure only."""
        for _ in range(MOST_REDIRECTS):
            if answer.status not in REDIRECTS or "location" not in answer.headers:
                return answer
            try:
                request = requests.redirected(request, answer.status, answer.headers["location"])
                answer = self._sent(request, job)
            except Refused as refused:
                raise NotDelivered(f"a redirect of {answer.host} was refused: {refused}") from None
        if answer.status in REDIRECTS:
            raise NotDelivered(f"more than {MOST_REDIRECTS} redirects")
        return answer

    def _sent(self, request: Request, job: Job) -> Answer:
        return self.wire.exchange(request, self._headers(request, job.idempotency_key), _left(job))

    def _headers(self, request: Request, idempotency_key: str) -> Mapping[str, str]:
        """Return every header, ours last: what the payload says never replaces one of them."""
        body = request.body or b""
        headers = {"user-agent": "Onthedot", **request.headers}
        if request.body is not None or request.method in ("POST", "PUT", "PATCH"):
            headers["content-length"] = str(len(body))
        if request.secret_name is not None:
            headers |= signing.signed(self.key(request.secret_name), idempotency_key, self.now(), body)
        return headers | {"host": request.place.authority, "connection": "close", IDEMPOTENCY_KEY: idempotency_key}


def _left(job: Job) -> Left:
    return lambda: job.remaining() - RESERVE_SECONDS
