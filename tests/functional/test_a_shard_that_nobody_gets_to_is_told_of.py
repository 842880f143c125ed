"""Silence is the fault that nobody sees: a shard whose dispatcher hangs tells nothing, and the others look well."""

import json
from datetime import timedelta

import pytest
from tests.support.lab import Lab

from onthedot.rules.instants import to_text


def watermark_age(printed: str) -> float:
    """Return the last WatermarkAge that was written. Units: seconds."""
    lines = [json.loads(line) for line in printed.splitlines() if '"WatermarkAge"' in line]
    return float(lines[-1]["WatermarkAge"][0])


def hold(lab: Lab, shard: str) -> None:
    """Take the shard's lease for a minute, as a dispatcher that hangs."""
    lab.dynamodb.update_item(
        TableName="ShardsTable",
        Key={"shard": {"S": shard}},
        UpdateExpression="SET lease = :lease, lease_until = :later",
        ExpressionAttributeValues={
            ":lease": {"S": "hangs"},
            ":later": {"S": to_text(lab.now() + timedelta(seconds=60))},
        },
    )


def test_the_tick_tells_of_the_hindmost_shard(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    """One hanging shard hid behind the others: they reported a watermark of this minute, and it reported nothing."""
    lab.tick()
    for _ in range(5):
        lab.time.shift(timedelta(minutes=1))
        hold(lab, "1")
        lab.tick()
    assert watermark_age(capsys.readouterr().out) == 300
    assert lab.call("GET", "/health").status == 503


def test_a_shard_that_was_never_drained_is_told_of(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    """It had no watermark, and what has no watermark was taken for new."""
    lab.dynamodb.put_item(TableName="ShardsTable", Item={"shard": {"S": "1"}})
    hold(lab, "1")
    lab.tick()
    assert watermark_age(capsys.readouterr().out) > 200
