"""The points are all there: every operation is met, each kind befalls some call in short, and every call in full."""

import pytest
from tests.crashes.every_flow import FLOWS, ONCE_MORE
from tests.crashes.faults import Kind, befalls
from tests.crashes.points import every_point, play_alone, some_points
from tests.support.lab import Lab
from tests.unit.test_a_step_makes_exactly_these_calls import ROWS


def test_the_flows_meet_every_operation_of_the_steps(lab: Lab) -> None:
    few = {"create near", "run", "bulk retry", "drain", "edit"}
    met = {operation for flow in FLOWS if flow.name in few for operation in play_alone(lab, flow).made}
    assert {operation for row in ROWS.values() for operation in row.calls} <= met


def test_what_is_left_out_in_short_is_there_in_full() -> None:
    assert {flow.name for flow in FLOWS} > ONCE_MORE


def test_in_short_each_kind_befalls_some_call() -> None:
    """The short form plays few points of each flow, and begins with another kind at each."""
    made = ["UpdateItem", "SendMessageBatch", "GetItem", "UpdateItem"]
    assert {kind for flow in FLOWS for _, kind in some_points(flow.name, made)} == set(Kind)


@pytest.mark.parametrize("made", [["PutItem"], ["GetItem", "SendMessageBatch"] * 9])
def test_in_full_every_kind_befalls_every_call(made: list[str]) -> None:
    every = {(number, kind) for number, operation in enumerate(made) for kind in Kind if befalls(kind, operation)}
    assert set(every_point(made)) == every
    assert {number for number, _ in every} == set(range(len(made)))
