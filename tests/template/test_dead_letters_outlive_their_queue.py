"""What a queue gives up on is kept, long enough for a person to look at it."""

import pytest
from tests.template.expansion import Template, expand, referenced

from onthedot.rules.policies import MOST_ATTEMPTS

DAY = 86_400
WORKED_OFF = {"JobQueue": "JobDeadLetterQueue", "ShardQueue": "ShardDeadLetterQueue"}
KEPT = {"JobDeadLetterQueue", "ShardDeadLetterQueue", "StrayQueue", "TimerDeadLetterQueue"}


def test_every_queue_has_dead_letters_or_holds_them(template: Template) -> None:
    redrives = {name: queue.get("RedrivePolicy") for name, queue in template.of_type("AWS::SQS::Queue").items()}
    targets = {name: referenced(it["deadLetterTargetArn"]) for name, it in redrives.items() if it}
    assert targets == WORKED_OFF
    assert redrives.keys() == WORKED_OFF.keys() | KEPT


@pytest.mark.parametrize("name", sorted(KEPT))
def test_dead_letters_are_kept_for_14_days(template: Template, name: str) -> None:
    assert template.properties(name)["MessageRetentionPeriod"] == 14 * DAY


@pytest.mark.parametrize(("source", "dead"), WORKED_OFF.items())
def test_a_message_keeps_its_first_clock_so_its_dead_letters_live_longer(
    template: Template, source: str, dead: str
) -> None:
    """Trap 37: with equal retention, a message moved on its last day lives one day more."""
    source_keeps = template.properties(source)["MessageRetentionPeriod"]
    assert source_keeps <= 4 * DAY < template.properties(dead)["MessageRetentionPeriod"]


def test_no_queue_delays_all_it_holds(template: Template) -> None:
    assert not any("DelaySeconds" in queue for queue in template.of_type("AWS::SQS::Queue").values())


def test_crashed_attempts_do_not_use_up_a_jobs_receives(template: Template) -> None:
    """Trap 9: takeovers, early messages and held leases receive the same message again."""
    receives = template.properties("JobQueue")["RedrivePolicy"]["maxReceiveCount"]
    assert MOST_ATTEMPTS + 10 <= receives <= 1000


def test_a_failing_shard_message_reaches_its_dead_letters_before_it_expires(template: Template) -> None:
    """Trap 38: it is moved at the receive after the last one allowed; past its retention there is none."""
    queue = template.properties("ShardQueue")
    moved_after = queue["RedrivePolicy"]["maxReceiveCount"] * queue["VisibilityTimeout"]
    assert moved_after < queue["MessageRetentionPeriod"]


def test_the_timer_has_dead_letters(template: Template) -> None:
    (schedule,) = template.of_type("AWS::Scheduler::Schedule").values()
    assert referenced(schedule["Target"]["DeadLetterConfig"]["Arn"]) == "TimerDeadLetterQueue"


def test_an_own_key_encrypts_every_queue() -> None:
    """Trap 48: without a key, SQS's own encryption is on, and costs nothing."""
    key = "arn:aws:kms:eu-central-1:111122223333:key/k"
    assert all(it["KmsMasterKeyId"] == key for it in expand(KmsKeyArn=key).of_type("AWS::SQS::Queue").values())
    plain = expand().of_type("AWS::SQS::Queue").values()
    assert all(it["SqsManagedSseEnabled"] and "KmsMasterKeyId" not in it for it in plain)
