"""Random life: whatever clients ask for and whatever befalls the deployment, each promise is kept.

What was drawn prints when it breaks one, and `SEED` draws the same again.
"""

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from tests.prover.histories import LONG, SHORT, History
from tests.prover.proving import Counts, prove
from tests.support.lab import Lab
from tests.support.proving import IN_FULL, SEED, count

PARTS, LIVES, EACH = (40, LONG, 50) if IN_FULL else (4, SHORT, 50)


@pytest.mark.parametrize("part", range(PARTS))
def test_random_lives(lab: Lab, request: pytest.FixtureRequest, part: int) -> None:
    counts = Counts()

    @seed(SEED + part)
    @settings(
        max_examples=EACH,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink] if IN_FULL else [Phase.generate],
    )
    @given(LIVES)
    def life(history: History) -> None:
        assert prove(lab, history, counts) == []

    try:
        life()
    finally:
        count(
            request.node,
            histories=counts.histories,
            faults_injected=counts.faults,
            jobs=counts.jobs,
            attempts=counts.attempts,
            violations=counts.violations,
        )
    assert counts.histories >= EACH
    assert counts.faults > EACH / 2
