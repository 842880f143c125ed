"""Jobs created in bulk: each is stored, or the answer names it; to ask again adds what was missing and nothing else."""

from typing import Any

import pytest
from tests.faults.failing import Answer, Faults, refused, throttled
from tests.support.handlers import ran
from tests.support.lab import Lab

BULK, MISSED = 60, {7, 25, 26, 59}
NAMES = [f"j{number:02}" for number in range(BULK)]
REQUEST = {"jobs": [{"id": name, "handler": "test.record", "run_at": "2027-01-04T08:30:00Z"} for name in NAMES]}


def refusing(error: Exception) -> Answer:
    """Refuse to write some of the jobs, whenever one tries."""
    names = {NAMES[number] for number in MISSED}

    def refuse(arguments: dict[str, Any]) -> None:
        if arguments["Item"]["schedule"]["S"].removeprefix("job#") in names:
            raise error

    return refuse


def statuses(lab: Lab) -> list[int]:
    answer = lab.call("POST", "/jobs/batch", REQUEST)
    assert answer.status == 200
    return [result["status"] for result in answer.body["results"]]


@pytest.mark.parametrize(
    ("error", "status"), [(throttled(), 429), (refused("InternalServerError", 500), 503)], ids=["throttled", "failed"]
)
def test_some_of_sixty_are_refused_again_and_again(lab: Lab, faults: Faults, error: Exception, status: int) -> None:
    """L03: refused writes came back inside a success, and 7 of 10 were stored."""
    for _ in range(2):
        faults.on("PutItem", *[refusing(error)] * 2 * BULK)
        answered = statuses(lab)
        assert {number for number, one in enumerate(answered) if one == status} == MISSED
        assert len({item["schedule"]["S"] for item in lab.items()}) == BULK - len(MISSED)
    assert set(answered) == {200, status}, "what is stored is met again"
    faults.on("PutItem")
    assert [number for number, one in enumerate(statuses(lab)) if one == 201] == sorted(MISSED)
    assert statuses(lab) == [200] * BULK
    lab.advance(minutes=40)
    assert sorted(ran()) == NAMES, "each once"
