"""The stage: one lab for many histories, made new between them, with all that is random drawn from the weather."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest
from botocore.client import BaseClient
from moto.dynamodb.models import dynamodb_backends
from moto.sqs.models import sqs_backends
from tests.prover.fates import Weather
from tests.prover.lagging import Indexes
from tests.prover.play import Play
from tests.support.databases import old_database
from tests.support.journal import JOURNAL
from tests.support.lab import ACCOUNT, REGION, START, Lab, forget
from tests.support.promises import Told

from onthedot import wiring
from onthedot.clock import SystemClock
from onthedot.rules.instants import cut
from onthedot.rules.timing import Timing
from onthedot.settings import from_environment

SHARDS = 1


@contextmanager
def staged(lab: Lab, weather: Weather) -> Iterator[Play]:
    """Return a play on an empty deployment."""
    chance = Random(weather.seed)
    told, indexes = Told(skew=timedelta(seconds=weather.skew)), Indexes(weather.lag, chance)
    _empty(lab)
    aws = BaseClient._make_api_call  # type: ignore[attr-defined]
    play = Play(lab, weather, chance, told, indexes, START.replace(second=0) + timedelta(minutes=1), aws)
    with pytest.MonkeyPatch.context() as patch, ExitStack() as database:
        database.enter_context(old_database())
        patch.setenv("ONTHEDOT_SHARDS", str(SHARDS))
        patch.setattr(BaseClient, "_make_api_call", lambda *call: play.call(*call))  # noqa: PLW0108 - a method would not be bound to the client
        patch.setattr(wiring, "from_environment", lambda environment: _timed(environment, weather))
        patch.setattr(wiring.Threads, "__call__", lambda _, function, items: [function(item) for item in items])
        patch.setattr(SystemClock, "now", lambda _: cut(datetime.now(UTC) + play.ahead()))
        patch.setattr(SystemClock, "token", lambda _: f"{chance.getrandbits(96):024x}")
        patch.setattr(SystemClock, "chance", lambda _: chance.random())
        patch.setattr(SystemClock, "pause", lambda _: None)
        patch.setattr(SystemClock, "wait", lambda _, span: play.wait(span))
        forget()
        JOURNAL.clear()
        JOURNAL.asked, JOURNAL.meanwhile = play.asked, play.inside
        try:
            yield play
        finally:
            JOURNAL.clear()
            forget()


def _timed(environment: Any, weather: Weather) -> Any:
    """Return the settings of a deployment whose clocks may be so far apart; in half of all lives its workers wait."""
    settings, skew = from_environment(environment), timedelta(seconds=weather.skew)
    timing: Timing = settings.timing
    least = timing.least_recheck + 2 * (skew - timing.max_skew)
    recheck, worker_wait = max(timing.recheck, least), timedelta(seconds=weather.seed % 2)
    return replace(settings, timing=replace(timing, max_skew=skew, recheck=recheck, worker_wait=worker_wait))


def _empty(lab: Lab) -> None:
    """Make the deployment as it was at first: cheaper than another."""
    lab.time.move_to(START)
    lab.next_tick = START.replace(second=0) + timedelta(minutes=1)
    lab.off.clear()
    lab.calls.clear()
    for table in dynamodb_backends[ACCOUNT][REGION].tables.values():
        table.items.clear()
    for queue in sqs_backends[ACCOUNT][REGION].queues.values():
        queue._messages.clear()
