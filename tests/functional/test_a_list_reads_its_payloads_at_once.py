"""A page of schedules reads the payloads that lie apart in one call, not one by one."""

from tests.support.lab import Lab
from tests.support.schedules import put


def test_a_page_of_large_payloads(lab: Lab) -> None:
    """Thirty schedules were thirty GetItems; a page of a hundred took longer than its caller waited."""
    for number in range(12):
        put(f"s{number}", f'"{"x" * 3000}{number}"', cron="0 9 * * *")
    put("small", '"y"', cron="0 9 * * *")
    lab.calls.clear()
    items = lab.call("GET", "/schedules", limit="100").body["items"]
    expected = {f"s{number}": f"{'x' * 3000}{number}" for number in range(12)} | {"small": "y"}
    assert {item["name"]: item["payload"] for item in items} == expected
    assert [call.operation for call in lab.calls] == ["Scan", "BatchGetItem"]


def test_one_whose_payload_is_gone_is_shown_without(lab: Lab) -> None:
    """It hid the whole page."""
    put("s", f'"{"x" * 3000}"', cron="0 9 * * *")
    [item] = [item for item in lab.items() if item["slot"]["S"].startswith("payload#")]
    key = {name: item[name] for name in ("schedule", "slot")}
    lab.dynamodb.delete_item(TableName=lab.tables["JobsTable"], Key=key)
    for shown in (lab.call("GET", "/schedules").body["items"][0], lab.call("GET", "/schedules/s").body):
        assert (shown["name"], "payload" in shown) == ("s", False)
