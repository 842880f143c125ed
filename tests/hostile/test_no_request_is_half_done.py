"""Whatever is asked, the answer is one of the contract; a refusal tells every fault and has changed nothing."""

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.hostile.asking import Ask
from tests.hostile.judging import Judge
from tests.hostile.sensible import calls
from tests.hostile.stage import Stage
from tests.hostile.strategies import asks
from tests.support.proving import IN_FULL, count

from onthedot.http.route import Route
from onthedot.http.routes import ROUTES
from onthedot.http.shapes import fields_of

HISTORIES = 3_400 if IN_FULL else 40
LONGEST = 5


@pytest.mark.filterwarnings("ignore:Generating overly large repr")
def test_requests_made_of_the_contract(stage: Stage, request: pytest.FixtureRequest) -> None:
    """Each history begins with a job and a schedule in every state; time passes between some of its requests."""
    statuses = Counter[int]()
    made, minutes = asks(stage), st.sampled_from([1, 2, 6])

    @settings(
        max_examples=HISTORIES,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate, Phase.shrink],
        database=None,
    )
    @given(st.lists(made | calls(stage) | made | calls(stage) | minutes, min_size=2, max_size=LONGEST))
    def live(history: list[Ask | int]) -> None:
        stage.restore()
        judge = Judge(stage)
        for happening in history:
            if isinstance(happening, int):
                stage.lab.advance(minutes=happening)
            else:
                judge.ask(happening)
            assert not judge.violations, judge.violations
        statuses.update(judge.statuses)

    try:
        live()
    finally:
        refused = sum(statuses[each] for each in statuses if each >= 400)
        count(request.node, requests=statuses.total(), requests_refused=refused)


RIGHT: dict[str, dict[str, Any]] = {
    "JobRequest": {"handler": "example.echo", "delay": 60},
    "RescheduleRequest": {"delay": 60},
    "ScheduleRequest": {"handler": "example.echo", "cron": "* * * * *"},
    "BackfillRequest": {"from": "2027-01-04T08:00:30Z", "to": "2027-01-04T08:20:00Z"},
    "PreviewRequest": {"cron": "* * * * *", "from": "2027-01-04T08:00:30Z", "count": 1},
}
NOTHING_LIKE_IT = {"no": ["such"]}
ANYTHING = {"payload", "jobs"}
"""A payload may be all there is; and each job of a batch is judged by itself."""
WITH_BODY = [route for route in ROUTES if route.body is not None]


@pytest.mark.parametrize("route", WITH_BODY, ids=[f"{route.method} {route.path}" for route in WITH_BODY])
def test_a_request_with_faults(stage: Stage, route: Route) -> None:
    """Each field is wrong alone, with the rest as it should be, and then all are wrong at once."""
    stage.restore()
    judge, path = Judge(stage), route.path.replace("{id}", "far").replace("{name}", "busy")
    assert route.body is not None
    right, known = RIGHT.get(route.body.__name__, {}), {*fields_of(route.body), "moon"} - ANYTHING
    for names in ([*known], *([each] for each in known)):
        body = {**right, **dict.fromkeys(names, NOTHING_LIKE_IT)}
        answer = judge.ask(Ask(route.method, path, body=json.dumps(body).encode(), route=route.path))
        assert answer.status == 400, answer
    assert not judge.violations, judge.violations
