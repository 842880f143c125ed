"""The spans of the protocol, all of them shorter: what takes minutes on AWS happens in seconds, in the same order.

A worker's death, a lost dispatcher, a drain of what is far away and a sweep of what was lost are then seen within a run
that lasts less than a minute. The inequalities of `rules/timing.py` hold as they do in a deployment.
"""

import sys
from dataclasses import replace
from datetime import timedelta
from importlib import import_module
from typing import Any

from onthedot import wiring
from onthedot.rules.timing import Timing
from onthedot.settings import from_environment

SHORTER: dict[str, tuple[str, Any]] = {
    "TICK": ("onthedot.rules.timing", timedelta(seconds=2)),
    "HOPS": ("onthedot.rules.timing", timedelta(seconds=1)),
    "WRITE": ("onthedot.rules.timing", timedelta(seconds=2)),
    "INDEX_LAG": ("onthedot.rules.timing", timedelta(seconds=0.5)),
    "MAX_DELAY": ("onthedot.rules.timing", timedelta(seconds=12)),
    "OVERDUE": ("onthedot.rules.timing", timedelta(seconds=20)),
    "SWEEP_EVERY": ("onthedot.rules.timing", timedelta(seconds=8)),
    "PLAN_AHEAD": ("onthedot.rules.planning", timedelta(seconds=11)),
    "TURN": ("onthedot.rules.starting", timedelta(seconds=3)),
    "LEASE": ("onthedot.steps.dispatch", timedelta(seconds=5)),
    "WAIT": ("onthedot.steps.rescue", timedelta(seconds=2)),
    "LEAST": ("onthedot.rules.every", 2_000),
}
"""By name: the module that defines it, and its value here."""
LOOK_AHEAD, RECHECK = timedelta(seconds=7), timedelta(seconds=10)
MARGIN, MAX_SKEW = timedelta(seconds=2), timedelta(seconds=0.1)
VISIBILITY_SECONDS = {"job": 8, "job_dead_letter": 6, "shard": 8}
RECEIVES = {"job": 6, "shard": 1}
"""How often a message is received before it is a dead letter. So few for jobs, that some really are."""


def shorten() -> None:
    """Shorten the spans in this process, wherever they were imported to."""
    for name, (home, value) in SHORTER.items():
        was = getattr(import_module(home), name)
        for module in [module for module in sys.modules.values() if module.__name__.startswith("onthedot.")]:
            if getattr(module, name, None) is was:
                setattr(module, name, value)
    timing = Timing(look_ahead=LOOK_AHEAD, recheck=RECHECK, margin=MARGIN, max_skew=MAX_SKEW)
    vars(wiring)["from_environment"] = lambda environment: replace(from_environment(environment), timing=timing)
