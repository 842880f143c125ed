"""Interleavings: something happens right before or right after a call that AWS gets, at each call of a story in turn.

A story is played once alone, to count its calls, and then once for each moment between them. What happens in between is
not counted, and happens once.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from botocore.client import BaseClient

Meets = Callable[[Callable[[], Any], Callable[[], Any]], list[str]]
"""Does the first thing, and the second in the midst of it; returns the calls that the first had made by then."""
Story = Callable[[str, Meets], None]


@dataclass(slots=True)
class Moment:
    """When something happens: before or after the call of this number. `before` are the calls made until then."""

    number: int
    after: bool
    happening: Callable[[], Any]
    made: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    reached: bool = False

    def meet(self, after: bool) -> None:
        """Let it happen, if this is when."""
        if not self.reached and after == self.after and len(self.made) - after == self.number:
            self.reached, self.before = True, list(self.made)
            self.happening()


@contextmanager
def at_call(number: int, happening: Callable[[], Any], *, after: bool = False) -> Iterator[Moment]:
    """Have something happen at a call, counted from 0, that is made from now on."""
    moment, busy, original = Moment(number, after, happening), list[bool](), BaseClient._make_api_call  # type: ignore[attr-defined]

    def meet(is_after: bool) -> None:
        busy.append(True)
        try:
            moment.meet(is_after)
        finally:
            busy.pop()

    def call(client: BaseClient, operation: str, arguments: dict[str, Any]) -> Any:
        if busy:
            return original(client, operation, arguments)
        meet(False)
        moment.made.append(operation)
        try:
            return original(client, operation, arguments)
        finally:
            meet(True)  # after a refusal, too, or the story would seem to end there

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BaseClient, "_make_api_call", call)
        yield moment


def play_all(story: Story) -> int:
    """Play a story at every moment of what it does; return how many there were.

    It is called with a name of its own, and with `meets(doing, happening)`, which does the first, and the second at the
    moment that is tried; at the end of all, when the first has no such call any more.
    """
    played, number, after = 0, 0, False
    while True:
        last = _play(story, number, after)
        played += 1
        if not last.reached:
            return played
        number, after = (number + 1, False) if after else (number, True)


def _play(story: Story, number: int, after: bool) -> Moment:
    moments: list[Moment] = []

    def meets(doing: Callable[[], Any], happening: Callable[[], Any]) -> list[str]:
        with at_call(number, happening, after=after) as moment:
            moments.append(moment)
            doing()
        if moment.reached:
            return moment.before
        happening()
        return moment.made

    story(f"s{number}-{'after' if after else 'before'}", meets)
    return moments[-1]
