"""The recipe of `docs/attempts.md`, as it stands there: what an attempt has done, no later one does again."""

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import boto3
import pytest
from tests.support.jobs import create, entry, job
from tests.support.lab import Lab
from tests.support.worlds import Died

from onthedot import wiring
from onthedot.handler import HANDLERS
from onthedot.rules.jobs import Job, State
from onthedot.steps.start import Attempt, start

PAGE = Path(__file__).parents[2] / "docs/attempts.md"


class Charges:
    """What was charged, and what the next charge dies or fails of."""

    def __init__(self) -> None:
        self.made: list[int] = []
        self.breaks: list[BaseException] = []

    def charge(self, key: str, cents: int) -> dict[str, Any]:
        """Charge."""
        assert len(key) == 32
        if self.breaks:
            raise self.breaks.pop()
        self.made.append(cents)
        return {"charged": cents}


@pytest.fixture
def charges(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Charges:
    """Run the page's program, and count what it charges."""
    lab.dynamodb.create_table(
        TableName="Done",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    [program] = re.findall(r"```python\n(from typing.*?)```", PAGE.read_text(), re.DOTALL)
    module, charges = ModuleType("invoices"), Charges()
    monkeypatch.setitem(sys.modules, "invoices", module)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    exec(compile(program, "docs/attempts.md", "exec"), module.__dict__)

    def charge(key: str, cents: int) -> dict[str, Any]:
        return charges.charge(key, cents)

    monkeypatch.setattr(module, "charge", charge)
    assert HANDLERS["invoice.charge"].max_attempts == 8
    return charges


def invoice(name: str) -> Job:
    return create(name, handler="invoice.charge", payload='{"cents":700}')


def begun(name: str) -> Attempt:
    attempt = start(wiring.world(), entry(job(name)), wiring.policies())
    assert isinstance(attempt, Attempt)
    return attempt


def test_an_attempt_that_did_its_work_and_died_is_not_repeated(lab: Lab, charges: Charges) -> None:
    """The worker died between its work and its finish; the customer was charged twice."""
    made = invoice("j1")
    first = begun("j1")
    run = wiring.attempts(wiring.settings().timing.worker_timeout).run
    run(first, made.payload.text or "", lambda _: pytest.fail("no heartbeat"))  # type: ignore[arg-type]
    lab.advance(minutes=10)
    assert charges.made == [700]
    assert (job("j1").state, job("j1").attempt, job("j1").result) == (State.SUCCEEDED, 2, '{"charged":700}')


def test_each_job_is_charged(lab: Lab, charges: Charges) -> None:
    for name in ("j1", "j2"):
        invoice(name)
    lab.settle()
    assert charges.made == [700, 700]


def test_an_attempt_that_failed_is_made_again(lab: Lab, charges: Charges) -> None:
    charges.breaks.append(RuntimeError("the bank is down"))
    invoice("j1")
    lab.advance(minutes=5)
    assert charges.made == [700]
    assert job("j1").attempt == 2


def test_an_attempt_that_died_half_way_keeps_nobody_out(lab: Lab, charges: Charges) -> None:
    """Its record stayed in progress, and every later attempt failed until the record had expired."""
    charges.breaks.append(Died())
    invoice("j1")
    lab.advance(minutes=10)
    assert charges.made == [700]
    assert "in progress" in job("j1").past[1].error, "it might still have been at work"
