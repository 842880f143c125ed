"""Whatever is asked, the answer is one of the contract; a refusal tells every fault and has changed nothing."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.hostile.asking import Ask
from tests.hostile.judging import Judge
from tests.hostile.sensible import calls
from tests.hostile.stage import Stage
from tests.hostile.strategies import asks
from tests.support.proving import IN_FULL

HISTORIES = 3_400 if IN_FULL else 40
LONGEST = 5


@pytest.mark.filterwarnings("ignore:Generating overly large repr")
def test_requests_made_of_the_contract(stage: Stage) -> None:
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

    live()
    print(f"requests: {statuses.total()}, of them refused: {sum(statuses[each] for each in statuses if each >= 400)}")
