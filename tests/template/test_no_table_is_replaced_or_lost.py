"""No deploy loses stored data: not by a new key, a new name, a dropped stack or two indexes at once."""

from copy import deepcopy

import pytest
from tests.template import snapshot
from tests.template.expansion import Template, expand

INDEXES = {"JobsTable": ["agenda", "groups", "dead"], "SchedulesTable": ["due", "timed"], "ShardsTable": []}


def test_layout_is_the_committed_one(template: Template) -> None:
    """Traps 16 and 18. After a wanted change: `python -m tests.template.snapshot`."""
    assert snapshot.taken(template) == snapshot.committed()


def test_one_release_can_make_the_change(template: Template) -> None:
    assert snapshot.faults(snapshot.committed(), snapshot.taken(template)) == []


def test_one_index_a_release_is_the_limit() -> None:
    old = snapshot.committed()
    one, two = deepcopy(old), deepcopy(old)
    one["JobsTable"]["GlobalSecondaryIndexes"].pop("dead")
    two["JobsTable"]["GlobalSecondaryIndexes"]["dead"]["Projection"] = {"ProjectionType": "ALL"}
    assert snapshot.faults(old, one) == []
    assert snapshot.faults(old, two) == ["DynamoDB makes or drops one index in an update, not 2: -dead, +dead"]


def test_a_renamed_or_rekeyed_table_is_a_fault() -> None:
    old = snapshot.committed()
    renamed, rekeyed = deepcopy(old), deepcopy(old)
    renamed["Jobs"] = renamed.pop("JobsTable")
    rekeyed["JobsTable"]["KeySchema"].pop()
    assert snapshot.faults(old, renamed) == ["JobsTable is gone or of another type: it would be replaced, empty"]
    assert snapshot.faults(old, rekeyed) == ["JobsTable has another key: it would be replaced, empty"]


@pytest.mark.parametrize("name", INDEXES)
def test_every_index_is_there_from_the_first_release(template: Template, name: str) -> None:
    """Trap 16: a later one needs a release of its own."""
    indexes = template.properties(name).get("GlobalSecondaryIndexes", [])
    assert [it["IndexName"] for it in indexes] == INDEXES[name]


@pytest.mark.parametrize("name", INDEXES)
def test_a_table_outlives_its_stack(template: Template, name: str) -> None:
    """Trap 17."""
    table = template.resources[name]
    assert (table["DeletionPolicy"], table["UpdateReplacePolicy"]) == ("Retain", "Retain")
    assert table["Properties"]["DeletionProtectionEnabled"]
    assert table["Properties"]["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert table["Properties"]["BillingMode"] == "PAY_PER_REQUEST"


@pytest.mark.parametrize("name", ["JobsTable", "SchedulesTable"])
def test_what_has_ended_expires(template: Template, name: str) -> None:
    expected = {"AttributeName": "expires_at", "Enabled": True}
    assert template.properties(name)["TimeToLiveSpecification"] == expected


def test_no_index_carries_payloads(template: Template) -> None:
    """Each write to an index costs a unit for each KB it carries."""
    for table in template.of_type("AWS::DynamoDB::Table").values():
        for index in table.get("GlobalSecondaryIndexes", []):
            assert index["Projection"] in (
                {"ProjectionType": "KEYS_ONLY"},
                {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["handler"]},
            )


def test_a_first_peak_can_be_prepared() -> None:
    """Trap 44: on demand starts at 4,000 writes a second, for the table and for each index."""
    jobs = expand(WarmWriteUnits=8000).properties("JobsTable")
    warm = {"ReadUnitsPerSecond": 12000, "WriteUnitsPerSecond": 8000}
    assert all(it["WarmThroughput"] == warm for it in (jobs, *jobs["GlobalSecondaryIndexes"]))
    assert "WarmThroughput" not in expand().properties("JobsTable")
    schedules = expand(WarmScheduleWriteUnits=6000).properties("SchedulesTable")
    for it in (schedules, *schedules["GlobalSecondaryIndexes"]):
        assert it["WarmThroughput"] == {"ReadUnitsPerSecond": 12000, "WriteUnitsPerSecond": 6000}
    assert "WarmThroughput" not in expand().properties("SchedulesTable")


def test_an_own_key_encrypts_every_table() -> None:
    """Trap 48: the default is a key owned by AWS, at no cost."""
    key = "arn:aws:kms:eu-central-1:111122223333:key/k"
    sse = {"SSEEnabled": True, "SSEType": "KMS", "KMSMasterKeyId": key}
    assert all(it["SSESpecification"] == sse for it in expand(KmsKeyArn=key).of_type("AWS::DynamoDB::Table").values())
    assert not any("SSESpecification" in it for it in expand().of_type("AWS::DynamoDB::Table").values())
