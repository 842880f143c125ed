"""Whatever befalls any call of any flow, every promise holds when life has gone on."""

from collections import Counter

import pytest
from tests.crashes.every_flow import PLAYED
from tests.crashes.flows import Flow
from tests.crashes.points import Point, play_points
from tests.support.lab import Lab
from tests.support.proving import count
from tests.unit.test_a_step_makes_exactly_these_calls import ROWS

POINTS: list[Point] = []


@pytest.mark.parametrize("flow", PLAYED, ids=lambda flow: flow.name)
def test_every_point(lab: Lab, request: pytest.FixtureRequest, flow: Flow) -> None:
    """In short some points of each flow are played, in full all. A call that went past them would be none of them."""
    played = play_points(lab, flow)
    POINTS.extend(played.points)
    print(
        f"\ncrash points of {flow.name!r}: {len(played.made)} calls, {len(played.points)} played, {len(POINTS)} by now"
    )
    points, wrong = len(played.points), len(played.wrong)
    count(
        request.node,
        histories=points,
        faults_injected=points,
        jobs=played.jobs,
        attempts=played.attempts,
        violations=wrong,
    )
    assert "\n".join(played.wrong) == ""
    assert Counter(played.made) == Counter(played.got)
    assert flow.row is None or Counter(played.made) == ROWS[flow.row].calls
