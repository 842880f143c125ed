"""A user's test may look at a week of all that they have scheduled, and end while they wait."""

from time import process_time

from tests.support.proving import IN_FULL

from onthedot.testing import Lab

SCHEDULES = 50 if IN_FULL else 5
SECONDS = 40
"""On a machine that is busy with other things; a quiet one takes a quarter of it."""


def test_a_week_of_many_schedules_takes_seconds() -> None:
    begun = process_time()
    with Lab() as lab:
        for number in range(SCHEDULES):
            lab.schedule(f"s{number}", cron="0 9 * * MON-FRI", zone="Europe/Berlin", handler="test.record")
        lab.advance(days=7)
        days = {call.slot.date() for call in lab.ran("test.record") if call.slot}
        assert (len(lab.ran()), len(days)) == (5 * SCHEDULES, 5)
    assert process_time() - begun < SECONDS
