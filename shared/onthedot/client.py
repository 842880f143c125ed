"""The client of the API: signs a request (SigV4, service `execute-api`) and sends exactly what it signed.

API Gateway's canonical path is the sent path encoded once more (`%40` is signed as `%2540`), so a client that tidies a
path after signing it gets a 403. Build paths with `path_to`, which encodes every id the one way; nothing changes it
after that.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import quote, urlencode

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.httpsession import URLLib3Session
from botocore.session import get_session

REGION = "us-east-1"
TIMEOUT_SECONDS = 30  # API Gateway gives up after 29


@dataclass(frozen=True, slots=True)
class Answer:
    """What the API said; the names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def body(self) -> Any:
        """Return the JSON of the answer; None when it is empty.

        Raises: ValueError when it is not JSON.
        """
        return json.loads(self.text) if self.text else None


@dataclass(frozen=True, slots=True)
class Client:
    """Calls one deployment, at its stage URL, as one caller; without credentials it signs nothing."""

    url: str
    credentials: Credentials | None
    region: str = REGION

    @classmethod
    def from_environment(cls) -> Self:
        """Return the client of the deployment that ONTHEDOT_URL names, with the credentials every AWS tool finds.

        Raises: KeyError without ONTHEDOT_URL.
        """
        session = get_session()
        region = session.get_config_variable("region") or REGION
        return cls(os.environ["ONTHEDOT_URL"], session.get_credentials(), region)

    def call(self, method: str, path: str, body: object = None, query: Mapping[str, str] | None = None) -> Answer:
        """Send one request and return the answer, whatever its status.

        Shape: `path` as `path_to` makes it; `body` is sent as JSON, bytes as they are, None as no body.
        """
        request = AWSRequest(method, self._address(path, query or {}), data=_encoded(body))
        if body is not None:
            request.headers["Content-Type"] = "application/json"
        if self.credentials:
            SigV4Auth(self.credentials, "execute-api", self.region).add_auth(request)
        response = URLLib3Session(timeout=TIMEOUT_SECONDS).send(request.prepare())
        headers = {name.lower(): value for name, value in response.headers.items()}
        return Answer(response.status_code, headers, response.content.decode())

    def _address(self, path: str, query: Mapping[str, str]) -> str:
        asked = f"?{urlencode(query, quote_via=quote, safe='')}" if query else ""
        return f"{self.url.rstrip('/')}{path}{asked}"


def path_to(*segments: str) -> str:
    """Return the path of these segments, every character of an id encoded that could mean something in a path."""
    return "".join(f"/{quote(segment, safe='')}" for segment in segments)


def _encoded(body: object) -> bytes | None:
    if body is None or isinstance(body, bytes):
        return body
    return json.dumps(body, ensure_ascii=False).encode()
