"""A write of a schedule that took effect, and whose answer never came, is done: its jobs are handed over at once.

Left to drain they would be five minutes late, and a caller would be told that nothing had happened.
"""

from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError
from tests.faults.failing import Faults
from tests.support import schedules
from tests.support.lab import Lab

from onthedot import wiring
from onthedot.rules.errors import Unavailable


def lose_answers(lab: Lab, faults: Faults, *, done: bool) -> None:
    """Let the next transaction take effect, or not, and answer it only with a timeout, as its repetitions."""

    def lost(arguments: dict[str, Any]) -> dict[str, Any]:
        if done:
            faults.answers["TransactWriteItems"] = []
            lab.dynamodb.transact_write_items(**arguments)
            faults.on("TransactWriteItems", *[ReadTimeoutError(endpoint_url="here")] * 20)
        raise ReadTimeoutError(endpoint_url="here")

    faults.on("TransactWriteItems", lost)


@pytest.mark.parametrize("done", [True, False])
def test_a_plan_whose_answer_was_lost_hands_its_jobs_over(lab: Lab, faults: Faults, done: bool) -> None:
    schedules.put("s", cron="0 9 * * *")
    lab.off = {"tick"}
    lab.advance(minutes=55)
    lose_answers(lab, faults, done=done)
    lab.tick()
    assert len(lab.messages()) == len([item for item in lab.items() if "agenda" in item]) == int(done)


def test_an_edit_and_a_deletion_whose_answers_were_lost_are_done(lab: Lab, faults: Faults) -> None:
    schedules.put("s", cron="0 9 * * *")
    lose_answers(lab, faults, done=True)
    assert schedules.put("s", cron="0 10 * * *").version == 2
    lose_answers(lab, faults, done=True)
    schedules.delete("s")
    assert wiring.world().schedules.get("s") is None


def test_a_change_that_did_not_happen_is_not_called_done(lab: Lab, faults: Faults) -> None:
    schedules.put("s", cron="0 9 * * *")
    lose_answers(lab, faults, done=False)
    with pytest.raises(Unavailable):
        schedules.put("s", cron="0 10 * * *")
    lose_answers(lab, faults, done=False)
    with pytest.raises(Unavailable):
        schedules.delete("s")
    assert schedules.row("s").version == 1
