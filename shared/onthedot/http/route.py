"""What is said of one call: the table is in `routes.py`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pydantic import BaseModel

from onthedot.http.problems import Answer
from onthedot.http.requests import Request
from onthedot.http.shapes import fields_of
from onthedot.steps.ports import World

Call = Callable[[World, Request], Answer]


@dataclass(frozen=True, slots=True)
class Route:
    """One call. `answers` names the shape of each good status, `problems` the statuses of what may go wrong.

    `dry_answer` is the shape of what a dry run answers, where it is another.
    """

    method: str
    path: str
    call: Call
    answers: Mapping[int, type[BaseModel] | None]
    problems: tuple[int, ...] = ()
    body: type[BaseModel] | None = None
    query: type[BaseModel] | None = None
    needs_body: bool = True
    dry_answer: type[BaseModel] | None = None

    @property
    def known_query(self) -> list[str]:
        """The query parameters that it takes."""
        return list(fields_of(self.query)) if self.query else []

    @property
    def judges(self) -> bool:
        """Whether the call itself looks for faults, to name them all at once."""
        return self.body is not None or self.query is not None

    def serves(self, path: str) -> bool:
        """Tell whether a path is this one's, whatever the method."""
        mine, asked = self.path.strip("/").split("/"), path.strip("/").split("/")
        return len(mine) == len(asked) and all(
            part.startswith("{") or part == given for part, given in zip(mine, asked, strict=True)
        )
