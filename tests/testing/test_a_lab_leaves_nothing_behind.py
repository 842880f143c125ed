"""Whatever a lab changes is put back when it ends, and says what is missing when it cannot begin."""

import os
import sys
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path

import boto3
import pytest
from botocore.client import BaseClient
from moto import mock_aws
from moto.core.botocore_stubber import BotocoreStubber
from moto.dynamodb.models import DynamoDBBackend

import worker
from onthedot import wiring
from onthedot.testing import Lab, NoTemplate

ROOT = Path(__file__).parents[2]


def outside() -> list[object]:
    """Return what a lab changes in its process."""
    ours = vars(wiring)["HANDLERS"], vars(worker)["end_process"]
    stubbed = BotocoreStubber.__call__, vars(BaseClient)["_make_api_call"]
    return [*stubbed, DynamoDBBackend.transact_write_items, boto3.client, *ours]


def test_all_is_as_it_was_also_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "of-the-caller")
    before, variables, began = outside(), dict(os.environ), datetime.now(UTC)
    with suppress(ZeroDivisionError), Lab(environment={"REPORTS": "here"}):
        assert ("AWS_PROFILE" in os.environ, os.environ["REPORTS"]) == (False, "here")
        assert datetime.now(UTC).year == 2027
        assert not any(now is then for now, then in zip(outside(), before, strict=True))
        raise ZeroDivisionError
    assert all(now is then for now, then in zip(outside(), before, strict=True))
    assert dict(os.environ) == variables
    assert datetime.now(UTC) - began < timedelta(minutes=10), "the clock goes on from where it was"


def test_a_second_lab_knows_nothing_of_the_first() -> None:
    for _ in range(2):
        with Lab() as lab:
            assert lab.call("GET", "/jobs/a").status == 404
            lab.create("test.record", id="a")
            lab.advance()
            assert len(lab.ran()) == 1


def test_a_lab_inside_a_lab_is_another_deployment() -> None:
    with Lab() as outer:
        outer.create("test.record", id="a", delay=60)
        counted = len(outer.calls)
        with Lab(start=datetime(2028, 1, 1, tzinfo=UTC), Shards=1) as inner:
            inner.create("test.record", id="b")
            inner.advance()
            assert [call.id for call in inner.ran()] == ["b"]
            assert inner.call("GET", "/jobs/a").status == 404
        assert (outer.ran(), len(outer.calls)) == ([], counted)
        outer.advance(seconds=61)
        assert [call.id for call in outer.ran()] == ["a"]
        assert outer.now().year == 2027


def test_labs_come_and_go_where_moto_runs_already() -> None:
    with mock_aws():
        boto3.client("sqs", region_name="eu-central-1").create_queue(QueueName="mine")
        for _ in range(2):
            with Lab() as lab:
                assert lab.sqs.get_queue_url(QueueName="mine")["QueueUrl"]
        queues = boto3.client("sqs", region_name="eu-central-1").list_queues()["QueueUrls"]
        assert [url.rpartition("/")[2] for url in queues] == ["mine"]


def test_a_template_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(NoTemplate, match=f"no template at {tmp_path}/template.yaml"):
        Lab(template=tmp_path / "template.yaml")


def test_the_template_is_followed_and_not_repeated(tmp_path: Path) -> None:
    """A variable, a queue and a visibility that a user writes into the template are there."""
    text = (ROOT / "template.yaml").read_text()
    text = text.replace(
        "        ONTHEDOT_SHARDS:", "        REPORTS_QUEUE: !Ref ReportsQueue\n        ONTHEDOT_SHARDS:"
    )
    text = text.replace("  StrayQueue:\n", "  ReportsQueue:\n    Type: AWS::SQS::Queue\n  StrayQueue:\n", 1)
    text = text.replace("CodeUri: functions/", f"CodeUri: {ROOT}/functions/")
    text = text.replace("VisibilityTimeout: 90 ", "VisibilityTimeout: 91 ")
    (tmp_path / "template.yaml").write_text(text)
    with Lab(template=tmp_path / "template.yaml", WorkerTimeoutSeconds=300) as lab:
        assert os.environ["REPORTS_QUEUE"] == lab.urls["ReportsQueue"]
        assert os.environ["ONTHEDOT_WORKER_TIMEOUT_SECONDS"] == "300"
        assert visibility(lab, "JobDeadLetterQueue") == "91"
        assert visibility(lab, "JobQueue") == "360"
        assert {function.name: function.timeout for function in lab.functions}["worker"] == 300


def visibility(lab: Lab, queue: str) -> str:
    attributes = lab.sqs.get_queue_attributes(QueueUrl=lab.urls[queue], AttributeNames=["VisibilityTimeout"])
    return str(attributes["Attributes"]["VisibilityTimeout"])


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("onthedot.testing")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "time_machine", None)
    with pytest.raises(ImportError, match=r"onthedot\.testing needs time-machine: make setup installs it"):
        import_module("onthedot.testing")
