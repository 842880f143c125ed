"""One stack for all end-to-end tests: the real template on an emulator of its own, which enforces IAM policies."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from local import account
from local import stack as local
from tests.e2e.deployed import Deployed
from tests.e2e.meter import Meter, Nowhere

from onthedot.steps.ports import World

OURS = f"{account.REGION}:{account.ID}"
TARGETS = (
    f"arn:aws:sqs:{OURS}:e2e-*",
    f"arn:aws:lambda:{OURS}:function:e2e-*",
    f"arn:aws:events:{OURS}:event-bus/e2e-*",
)
PARAMETERS = {
    "Shards": "2",
    "AllowedTargetArns": ",".join(TARGETS),
    "AllowedSecretArns": f"arn:aws:secretsmanager:{OURS}:secret:e2e-*",
}


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    home = tmp_path_factory.mktemp("stack")
    try:
        with account.isolated():
            running = local.up(home, auth=True, port=0, parameters=PARAMETERS)
            deployed = Deployed.on(running)
        yield deployed
    finally:
        local.down(home)


@pytest.fixture(scope="module")
def no_schedule_stays(stack: Deployed) -> Iterator[None]:
    """Delete the schedules that a module's tests have left, since they would run on and on."""
    yield
    for schedule in stack.ask("GET", "schedules", query={"limit": "100"})["items"]:
        stack.ask("DELETE", "schedules", schedule["name"])


@pytest.fixture
def world(stack: Deployed) -> Iterator[World]:
    """Return the steps' world on the deployed tables, with a queue that leads nowhere: no worker meddles."""
    with stack.world() as world:
        yield replace(world, queue=Nowhere())


@pytest.fixture
def meter(world: World) -> Meter:
    """Return what counts the writes of the world."""
    return Meter.under(world)
