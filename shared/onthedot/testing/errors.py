"""What can go wrong with a lab itself; each says what to do."""

import json
from typing import Any


class LabError(Exception):
    """A lab cannot do what it was asked for."""


class NoTemplate(LabError):
    """There is no template to deploy."""


class ParameterRefused(LabError):
    """The template has no such parameter, or the parameter cannot have this value."""


class Refused(LabError):
    """The API refused a request; `problem` is what it answered."""

    def __init__(self, asked: str, status: int, problem: Any) -> None:
        super().__init__(f"{asked}: {status}\n{json.dumps(problem, indent=2, ensure_ascii=False)}")
        self.status = status
        self.problem = problem
