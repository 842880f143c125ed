"""A large payload is stored before the schedule that names it; when that is refused, the payload expires.

Twenty edits that lost their race had left twenty payloads that nothing would ever delete.
"""

from tests.support import schedules
from tests.support.lab import Lab
from tests.support.worlds import Interrupted, client_of, with_client

from onthedot import wiring

LARGE = f'"{"x" * 5000}"'


def test_what_nobody_names_expires(lab: Lab) -> None:
    schedules.put("s", cron="0 9 * * *")
    world = wiring.world()

    def edited_by_another() -> None:
        schedules.put("s", cron="0 10 * * *")

    client = Interrupted(client_of(world, "schedules"), "transact_write_items", [edited_by_another])
    edited = schedules.put("s", LARGE, world=with_client(world, "schedules", client), cron="0 11 * * *")
    payloads = {item["slot"]["S"]: item for item in lab.items() if item["slot"]["S"].startswith("payload#")}
    kept = payloads.pop(edited.payload.stored_as)
    assert "expires_at" not in kept
    assert len(payloads) == 1
    assert all("expires_at" in item for item in payloads.values())
