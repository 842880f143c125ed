"""Random life: whatever clients ask for and whatever befalls the deployment, each promise is kept."""

from hypothesis import HealthCheck, Phase, given, settings
from tests.prover.histories import LONG, SHORT, History
from tests.prover.proving import Counts, prove
from tests.support.lab import Lab
from tests.support.proving import IN_FULL

EXAMPLES, LIVES = (2_000, LONG) if IN_FULL else (200, SHORT)


def test_random_lives(lab: Lab) -> None:
    counts = Counts()

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink] if IN_FULL else [Phase.generate],
    )
    @given(LIVES)
    def life(history: History) -> None:
        assert prove(lab, history, counts) == []

    life()
    print(
        f"histories: {counts.histories}, faults injected: {counts.faults}, jobs: {counts.jobs},"
        f" attempts: {counts.attempts}, violations: {counts.violations}"
    )
    assert counts.histories >= EXAMPLES
    assert counts.faults > EXAMPLES / 2
