"""A figure is worth nothing when the work was not done: each benchmark looks at the calls that were made."""

import json
from pathlib import Path

import pytest
from benchmarks import create, hand_over, rows, worker
from benchmarks.canned import accepted, always, canned, client, count
from benchmarks.rows import Row, compared, slope


def test_each_job_is_sent_created_and_worked_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """They assert it themselves; few jobs are enough to see that they can be run."""
    monkeypatch.setattr(worker, "MESSAGES", 2)
    monkeypatch.setattr(create, "JOBS", 2)
    assert hand_over._ours(500) > 0
    assert worker._rate() > 0
    assert create._rate(1) > 0


def test_what_is_called_is_answered_and_counted() -> None:
    with canned({"SendMessageBatch": accepted, "GetItem": always({})}) as (_, calls):
        entries = [{"Id": str(number), "MessageBody": "x"} for number in range(3)]
        answer = client("sqs").send_message_batch(QueueUrl="http://127.0.0.1:1/q", Entries=entries)
        client("dynamodb").get_item(TableName="t", Key={"k": {"S": "a"}})
    assert [each["Id"] for each in answer["Successful"]] == ["0", "1", "2"]
    assert count(calls, "SendMessageBatch") == count(calls, "GetItem") == 1
    assert json.loads(calls[1].body) == {"TableName": "t", "Key": {"k": {"S": "a"}}}


def test_a_ratio_is_that_of_each_round() -> None:
    """A machine that is slow for a while is slow for both."""
    ours, theirs = iter([10.0, 1.0, 20.0]), iter([5.0, 0.5, 10.0])
    (row,) = compared("a, b", "x/s", 3, lambda: next(ours), some_other=lambda: next(theirs))
    assert row == Row("a, b", 10.0, "x/s", "some-other", 2.0)
    assert slope([row, Row("a, c", 5.0, "x/s", "d", 1.0)]) == Row("a, c", 5.0, "x/s", "a, b", 0.5)


def test_kinds_that_were_not_measured_keep_their_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "RESULTS", tmp_path / "results.jsonl")
    one, two, three = (Row(name, 1.0, "x", "y", 1.0) for name in ("a, one", "a, two", "b, three"))
    rows.save([one, three])
    rows.save([two])
    assert rows.read() == [two, three]
